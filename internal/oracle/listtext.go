package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// mapKeyType is VARCHAR of MAP(VARCHAR, BIGINT), whatever integers count.
func mapKeyType(sqlType string) (string, bool) {
	inner, ok := strings.CutPrefix(sqlType, "MAP(")
	comma := strings.LastIndex(inner, ",")
	if !ok || comma < 0 {
		return "", false
	}
	return inner[:comma], true
}

// parseList reads [1, 2], whose elements are of an SQL type.
func parseList(text, elem string) (Cell, error) {
	c := Cell{Kind: List}
	p := listReader{rest: text}
	err := p.each('[', ']', func() error {
		e, err := p.element(elem, ",]")
		c.Elems = append(c.Elems, e)
		return err
	})
	return c, err
}

// parseMap reads {a=1, b=2}.
func parseMap(text, key string) (Cell, error) {
	c := Cell{Kind: Map}
	p := listReader{rest: text}
	err := p.each('{', '}', func() error {
		k, err := p.element(key, "=")
		if err != nil {
			return err
		}
		if !strings.HasPrefix(p.rest, "=") {
			return fmt.Errorf("%.10q where = was expected", p.rest)
		}
		p.rest = p.rest[1:]
		end := strings.IndexAny(p.rest, ",}")
		n, err := strconv.ParseInt(p.rest[:max(end, 0)], 10, 64)
		c.Elems, c.Counts, p.rest = append(c.Elems, k), append(c.Counts, n), p.rest[max(end, 0):]
		return err
	})
	return c, err
}

// listReader takes the text of a list or map apart. An element in single
// quotes has a backslash before quotes and backslashes; another has no mark
// of the form in it.
type listReader struct{ rest string }

// each calls one at the start of each element; one takes it off the rest.
func (p *listReader) each(opening, closing byte, one func() error) error {
	whole := p.rest
	if len(whole) < 2 || whole[0] != opening || whole[len(whole)-1] != closing {
		return fmt.Errorf("%.50q is not within %c%c", whole, opening, closing)
	}
	for p.rest = whole[1:]; p.rest != string(closing); {
		if err := one(); err != nil {
			return fmt.Errorf("%.50q: %w", whole, err)
		}
		more := strings.HasPrefix(p.rest, ", ")
		if !more && p.rest != string(closing) {
			return fmt.Errorf("%.50q: %.10q after an element", whole, p.rest)
		}
		if more {
			p.rest = p.rest[2:]
		}
	}
	return nil
}

// element takes an element of an SQL type off the rest, up to one of ends.
func (p *listReader) element(sqlType, ends string) (Cell, error) {
	if strings.HasPrefix(p.rest, "'") {
		text, err := p.quoted()
		if err != nil {
			return Cell{}, err
		}
		return ReadCell(Field{Text: text}, sqlType)
	}
	end := strings.IndexAny(p.rest, ends)
	if end < 0 {
		return Cell{}, fmt.Errorf("%.10q does not end", p.rest)
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	return ReadCell(Field{Text: text, Null: text == "NULL"}, sqlType)
}

func (p *listReader) quoted() (string, error) {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\'':
			p.rest = p.rest[i+1:]
			return b.String(), nil
		case c == '\\' && i+1 < len(p.rest):
			i++
			b.WriteByte(p.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("%.10q: a quote is not closed", p.rest)
}

// jsonField is a member of a JSON object as a field. Arrays and objects, one
// level deep, become the text of lists and maps, each element in quotes.
func jsonField(raw json.RawMessage) (Field, error) {
	switch raw[0] {
	case '[', '{':
		text, err := jsonListText(raw)
		return Field{Text: text}, err
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return Field{Text: s}, err
	}
	return Field{Text: string(raw), Null: string(raw) == "null"}, nil
}

func jsonListText(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	text := []byte{raw[0]}
	if _, err := d.Token(); err != nil { // the bracket
		return "", err
	}
	for i := 0; d.More(); i++ {
		value, err := d.Token()
		if err != nil {
			return "", err
		}
		if _, deeper := value.(json.Delim); deeper {
			return "", fmt.Errorf("%.50q has more than one level", raw)
		}
		switch {
		case i == 0:
		case raw[0] == '{' && i%2 == 1:
			text = append(text, '=')
		default:
			text = append(text, ", "...)
		}
		text = append(text, elementText(value, raw[0] == '{' && i%2 == 1)...)
	}
	return string(append(text, raw[0]+2)), nil // in ASCII, ] and } are 2 after [ and {
}

// elementText is a JSON value as an element, or the count of a map's key.
func elementText(value json.Token, count bool) string {
	switch {
	case value == nil:
		return "NULL"
	case count:
		return fmt.Sprint(value)
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(fmt.Sprint(value)) + "'"
}
