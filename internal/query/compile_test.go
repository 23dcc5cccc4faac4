package query

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// columns is an input of 64-bit integers with these names.
type columns []string

func (c columns) Schema() (s column.Schema) {
	for _, name := range c {
		s.Fields = append(s.Fields, column.Field{Name: name, Type: column.Type{Kind: column.Int64}})
	}
	return s
}

func (c columns) Find(name string) (int, error) {
	if i := slices.Index(c, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no column %s", name)
}

// Each column, argument and aggregate is there once, in the order of their first use. What
// follows from keys is no key.
func TestCompileOnce(t *testing.T) {
	t.Parallel()
	c, err := Compile(columns{"a", "b", "x", "y"}, Query{
		By:      []string{"b, b + 1, b"},
		Aggs:    []Agg{{Text: "sum(x), sum(x) + count(*)"}, {Text: "SUM(x)", Alias: "s"}, {Text: "max(x) - min(y)"}},
		Where:   "y > 0",
		Having:  "s > 3 and count(*) > 1",
		OrderBy: []string{"-s, b"},
		Limit:   7,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{3, 1, 2}; !slices.Equal(c.Cols, want) { // where comes first
		t.Errorf("columns %v are read, want %v", c.Cols, want)
	}
	if want := []string{"b"}; !slices.Equal(c.KeyTexts, want) || len(c.Follow) != 1 {
		t.Errorf("keys %v and %d that follow, want %v and 1", c.KeyTexts, len(c.Follow), want)
	}
	if want := []string{"count(*)", "max(x)", "min(y)", "sum(x)"}; !slices.Equal(slices.Sorted(slices.Values(c.CallTexts)), want) {
		t.Errorf("aggregates %q, want %q", c.CallTexts, want)
	}
	if want := []string{"x", "y"}; !slices.Equal(c.ArgTexts, want) {
		t.Errorf("arguments %q, want %q", c.ArgTexts, want)
	}
	var names []string
	for _, out := range c.Out {
		names = append(names, out.Name)
	}
	if want := []string{"b", "b + 1", "b", "sum(x)", "sum(x) + count(*)", "s", "max(x) - min(y)"}; !slices.Equal(names, want) {
		t.Errorf("output %q, want %q", names, want)
	}
	if len(c.Order) != 2 || !c.Order[0].Desc || c.Order[1].Desc || c.Limit != 7 {
		t.Errorf("order %+v, limit %d", c.Order, c.Limit)
	}
}

// What a query does wrong is an error of its own text, or of its sense.
func TestCompileWrong(t *testing.T) {
	t.Parallel()
	for _, q := range []Query{
		{},
		{By: []string{"sum(a)"}},
		{By: []string{"a"}, Aggs: []Agg{{Text: "b"}}},
		{Aggs: []Agg{{Text: "sum(sum(a))"}}},
		{Aggs: []Agg{{Text: "sum(a), max(a)", Alias: "two"}}},
		{By: []string{"a"}, Where: "count(*) > 1"},
		{By: []string{"a"}, OrderBy: []string{"2"}},
		{Aggs: []Agg{{Text: "sum"}}},
	} {
		c, err := Compile(columns{"a", "b"}, q)
		if err == nil || !errors.As(err, new(*UsageError)) && !errors.As(err, new(*expr.Error)) {
			t.Errorf("%+v: %+v, %v", q, c, err)
		}
	}
	for _, q := range []Query{{Limit: -2}, {Offset: -1}} {
		if err := q.Validate(); !errors.As(err, new(*UsageError)) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if err := (Query{Limit: NoRows}).Validate(); err != nil {
		t.Error(err)
	}
}
