package oracle

import (
	"bufio"
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
func ReadCSV(r io.Reader, null string) (Table, error) {
	p := csvReader{in: bufio.NewReader(r), null: null}
	header, err := p.record()
	if err != nil {
		return Table{}, fmt.Errorf("header: %w", err)
	}
	var t Table
	for _, f := range header {
		t.Header = append(t.Header, f.Text)
	}
	for {
		record, err := p.record()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, fmt.Errorf("record %d: %w", len(t.Rows)+1, err)
		}
		if len(record) != len(header) {
			return t, fmt.Errorf("record %d has %d fields, the header %d", len(t.Rows)+1, len(record), len(header))
		}
		t.Rows = append(t.Rows, record)
	}
}

type csvReader struct {
	in   *bufio.Reader
	null string
}

// record reads one record. io.EOF is returned between records only.
func (p *csvReader) record() ([]Field, error) {
	if _, err := p.in.Peek(1); err != nil {
		return nil, err
	}
	var record []Field
	for {
		f, end, err := p.field()
		if err != nil {
			return nil, err
		}
		record = append(record, f)
		if end {
			return record, nil
		}
	}
}

// field reads one field and what ends it: a comma, or the end of the record.
func (p *csvReader) field() (f Field, endOfRecord bool, err error) {
	var b strings.Builder
	quoted := false
	if next, _ := p.in.Peek(1); len(next) == 1 && next[0] == '"' {
		quoted = true
		if err := p.quoted(&b); err != nil {
			return f, false, err
		}
	}
	for {
		c, err := p.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF), err == nil && c == '\n':
			text := strings.TrimSuffix(b.String(), "\r")
			return Field{Text: text, Null: !quoted && text == p.null}, true, nil
		case err != nil:
			return f, false, err
		case c == ',':
			return Field{Text: b.String(), Null: !quoted && b.String() == p.null}, false, nil
		case quoted && c != '\r':
			return f, false, fmt.Errorf("%q after a closing quote", c)
		case !quoted:
			b.WriteByte(c)
		}
	}
}

// quoted reads a quoted field up to and with its closing quote.
func (p *csvReader) quoted(b *strings.Builder) error {
	_, _ = p.in.Discard(1)
	for {
		c, err := p.in.ReadByte()
		if err != nil {
			return errors.New("a quote is not closed")
		}
		if c != '"' {
			b.WriteByte(c)
			continue
		}
		if next, _ := p.in.Peek(1); len(next) != 1 || next[0] != '"' {
			return nil
		}
		_, _ = p.in.Discard(1)
		b.WriteByte('"')
	}
}

// ReadNDJSON reads one JSON object a line; header gives the names of the
// fields in order. Numbers keep their text.
func ReadNDJSON(r io.Reader, header []string) (Table, error) {
	t := Table{Header: header}
	d := json.NewDecoder(r)
	d.UseNumber()
	for {
		var object map[string]any
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
			row[i] = Field{Text: fmt.Sprint(value), Null: value == nil}
		}
		t.Rows = append(t.Rows, row)
	}
}
