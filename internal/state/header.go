package state

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/query"
)

// Version is the newest format that is read, and the one that is written. Version 2 has exact sums
// of floats, version 3 checksums.
const Version = checkVersion

// Header is what a table of states says of itself.
type Header struct {
	Version    int      `json:"version"`
	Query      Query    `json:"query"`
	Input      []Field  `json:"input"`      // columns of the input that the query names
	Aggregates []string `json:"aggregates"` // that may be computed of the states
	Columns    []Column `json:"columns"`    // of the table, in order
	Sources    []Source `json:"sources"`    // whose rows are in the states
}

// Query is the canonical form of the part of a query that states depend on (query.Canonical).
type Query struct {
	By     []string     `json:"by,omitempty"`
	Sets   string       `json:"sets,omitempty"`
	Totals bool         `json:"totals,omitempty"`
	Aggs   []string     `json:"aggs,omitempty"`
	Where  string       `json:"where,omitempty"`
	Sample query.Sample `json:"sample,omitzero"`

	Deterministic bool `json:"deterministic,omitempty"` // sums of floats are exact
}

// Field is a column of the input.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Column is a column of the table.
type Column struct {
	Name     string `json:"name"`
	Role     string `json:"role"` // key, state, value, check
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
}

// NewHeader is the header of the states of a query, of which q is the canonical form.
func NewHeader(q query.Query, fields []column.Field, c *query.Compiled, sources []Source) *Header {
	h := &Header{
		Version: Version, Query: Query{By: q.By, Sets: q.Sets, Totals: q.Totals, Where: q.Where, Sample: q.Sample, Deterministic: q.Deterministic},
		Input: []Field{}, Aggregates: append([]string{}, c.CallTexts...), Sources: sources,
	}
	for _, a := range q.Aggs {
		h.Query.Aggs = append(h.Query.Aggs, a.Text)
	}
	for _, f := range fields {
		h.Input = append(h.Input, Field{f.Name, f.Type.String()})
	}
	for _, col := range c.StateColumns() {
		h.Columns = append(h.Columns, Column{col.Name, col.Role, col.Type.String(), col.Encoding})
	}
	h.Columns = append(h.Columns, Column{CheckColumn, "check", CheckType.String(), "crc-32c"})
	return h
}

// Encode is the text of h.
func (h *Header) Encode() (string, error) {
	text, err := json.Marshal(h)
	return string(text), err
}

// Parse reads a header. checked says that the states have checksums.
func Parse(text string, checked bool) (*Header, error) {
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("damaged: what the states say of themselves is no JSON: %w", err)
	}
	switch {
	case v.Version > Version:
		return nil, fmt.Errorf("the states have format %d, and this gagg reads up to %d: take a newer one", v.Version, Version)
	case v.Version < 1:
		return nil, fmt.Errorf("damaged: there are no states of format %d", v.Version)
	case v.Version >= checkVersion && !checked:
		return nil, errors.New("damaged: the states have lost their checksums")
	}
	h := &Header{}
	if err := json.Unmarshal([]byte(text), h); err != nil {
		return nil, fmt.Errorf("damaged: what the states say of themselves: %w", err)
	}
	if err := checkSources(h.Sources); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return h, nil
}

// Text is the query of the states.
func (h *Header) Text() query.Query {
	q := query.Query{By: h.Query.By, Sets: h.Query.Sets, Totals: h.Query.Totals, Where: h.Query.Where, Sample: h.Query.Sample, Deterministic: h.Query.Deterministic}
	for _, a := range h.Query.Aggs {
		q.Aggs = append(q.Aggs, query.Agg{Text: a})
	}
	return q
}

// Fields is the columns of the input.
func (h *Header) Fields() (fields query.Fields, err error) {
	for _, f := range h.Input {
		t, err := column.ParseType(f.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		fields = append(fields, column.Field{Name: f.Name, Type: t})
	}
	return fields, nil
}

// plain is a type, as text, without what its texts are meant as: they are compared as texts.
func plain(typ string) string {
	if t, err := column.ParseType(typ); err == nil {
		return t.Plain().String()
	}
	return typ
}

// Same compares what two states were made of. The error says in what they differ: h is of this, was
// of that.
func (h *Header) Same(was *Header) error {
	if err := h.Text().Same(was.Text()); err != nil {
		return err
	}
	types := map[string]string{}
	for _, f := range was.Input {
		types[f.Name] = f.Type
	}
	for _, f := range h.Input {
		t, ok := types[f.Name]
		switch {
		case !ok:
			return fmt.Errorf("the input has a column %q", f.Name)
		case t != f.Type && plain(t) != plain(f.Type):
			return fmt.Errorf("the input's column %q is %s, not %s", f.Name, f.Type, t)
		}
	}
	if len(h.Input) != len(was.Input) {
		return errors.New("the inputs have other columns")
	}
	return nil
}
