package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Table is a result in text: a header and rows of fields.
type Table struct {
	Header []string
	Rows   [][]Field
}

// Field is one value in text. A NULL is not a text.
type Field struct {
	Text string
	Null bool
}

// ReadCSV reads RFC 4180 text with a header line. A field without quotes that
// equals null is NULL; encoding/csv does not tell quoted fields from others.
func ReadCSV(r io.Reader, null string) (Table, error) { return ReadSeparated(r, ',', null) }

// ReadSeparated is ReadCSV for another separator, such as a tab.
func ReadSeparated(r io.Reader, separator byte, null string) (Table, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Table{}, err
	}
	p := csvReader{rest: string(text), separator: string(separator), null: null}
	header, err := p.record()
	if err != nil {
		return Table{}, fmt.Errorf("header: %w", err)
	}
	var t Table
	for _, f := range header {
		t.Header = append(t.Header, f.Text)
	}
	for p.rest != "" {
		record, err := p.record()
		if err != nil {
			return t, fmt.Errorf("record %d: %w", len(t.Rows)+1, err)
		}
		if len(record) != len(header) {
			return t, fmt.Errorf("record %d has %d fields, the header %d", len(t.Rows)+1, len(record), len(header))
		}
		t.Rows = append(t.Rows, record)
	}
	return t, nil
}

type csvReader struct {
	rest      string
	separator string
	null      string
}

// record takes one record off the rest.
func (p *csvReader) record() ([]Field, error) {
	if p.rest == "" {
		return nil, io.ErrUnexpectedEOF
	}
	var record []Field
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		record = append(record, f)
		switch {
		case strings.HasPrefix(p.rest, p.separator):
			p.rest = p.rest[1:]
			continue
		case strings.HasPrefix(p.rest, "\r\n"):
			p.rest = p.rest[2:]
		case strings.HasPrefix(p.rest, "\n"):
			p.rest = p.rest[1:]
		case p.rest != "":
			return nil, fmt.Errorf("%.10q after a field", p.rest)
		}
		return record, nil
	}
}

// field takes one field off the rest, up to what ends it.
func (p *csvReader) field() (Field, error) {
	if strings.HasPrefix(p.rest, `"`) {
		text, err := p.quoted()
		return Field{Text: text}, err
	}
	end := strings.IndexAny(p.rest, p.separator+"\n")
	if end < 0 {
		end = len(p.rest)
	}
	if end > 0 && end < len(p.rest) && p.rest[end] == '\n' && p.rest[end-1] == '\r' {
		end--
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	return Field{Text: text, Null: text == p.null}, nil
}

// quoted takes a quoted field off the rest.
func (p *csvReader) quoted() (string, error) {
	var b strings.Builder
	for {
		// behind the opening quote, or the second of a pair
		end := strings.IndexByte(p.rest[1:], '"')
		if end < 0 {
			return "", errors.New("a quote is not closed")
		}
		part := p.rest[1 : 1+end]
		p.rest = p.rest[2+end:]
		if !strings.HasPrefix(p.rest, `"`) {
			if b.Len() == 0 {
				return part, nil
			}
			b.WriteString(part)
			return b.String(), nil
		}
		b.WriteString(part)
		b.WriteByte('"')
	}
}

// ReadNDJSON reads one JSON object a line; header gives the names of the
// fields in order. Numbers keep their text; arrays and objects get the text
// form of lists and maps.
func ReadNDJSON(r io.Reader, header []string) (Table, error) {
	t := Table{Header: header}
	d := json.NewDecoder(r)
	for {
		var object map[string]json.RawMessage
		err := d.Decode(&object)
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		row := make([]Field, len(header))
		for i, name := range header {
			value, ok := object[name]
			if !ok {
				return t, fmt.Errorf("line %d has no %q", len(t.Rows)+1, name)
			}
			if row[i], err = jsonField(value); err != nil {
				return t, fmt.Errorf("line %d, %q: %w", len(t.Rows)+1, name, err)
			}
		}
		t.Rows = append(t.Rows, row)
	}
}
