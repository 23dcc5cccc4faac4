package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Aggregates of one distinct value are a subquery, and so are those that need all values of one
// argument; the others are with the first. A subquery reads its own columns alone, and the joined
// query has the outputs of the query.
func TestSubqueries(t *testing.T) {
	t.Parallel()
	in := columns{"a", "b", "x", "y", "z"}
	for _, c := range []struct {
		aggs, sets string
		want       []string // the aggregates of each subquery
		cols       []string // the columns that it reads
	}{
		{aggs: "count(*), sum(x)"},
		{aggs: "count(*), count(distinct x)", want: []string{"count_distinct(x) count(*)"}, cols: []string{"bzax"}},
		{
			aggs: "count(distinct x), count(*), count(distinct y), sum(distinct x), max(y)",
			want: []string{"count_distinct(x) sum(distinct x) count(*) max(y)", "count_distinct(y)"}, cols: []string{"bzaxy", "bzay"},
		},
		{
			aggs: "median(x) + count(distinct y) / sum(z), quantile(x, 0.9), mode(y)",
			want: []string{"median(x) quantile(x, 0.9) sum(z)", "count_distinct(y) mode(y)"}, cols: []string{"bzax", "bzay"},
		},
		{aggs: "count(distinct x), list(y)"}, // a list does not come back
		{aggs: "count(distinct x), count(distinct y)", sets: "rollup"},
	} {
		q := Query{By: []string{"a % 2 as k, b"}, Aggs: []Agg{{Text: c.aggs}}, Where: "b > 0 and z > 0", OrderBy: []string{"k desc"}, Having: "k > 0", Sets: c.sets, Limit: 3, Offset: 1}
		whole, err := Compile(in, q)
		if err != nil {
			t.Fatal(err)
		}
		var got, cols []string
		for _, calls := range whole.Subqueries() {
			s, err := whole.Subquery(in, calls)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.Join(s.CallTexts, " "))
			read := ""
			for _, c := range s.Cols {
				read += in[c]
			}
			cols = append(cols, read)
			if s.Having != nil || len(s.Order) > 0 || s.Limit != 0 || s.Offset != 0 || s.Where == nil || len(s.Out) != len(s.Keys)+len(s.Calls) {
				t.Errorf("%s: the subquery is %+v", c.aggs, s)
			}
		}
		if !slices.Equal(got, c.want) || !slices.Equal(cols, c.cols) {
			t.Errorf("%s: subqueries of %q read %q, want %q and %q", c.aggs, got, cols, c.want, c.cols)
		}
		joined, err := whole.Joined()
		if err != nil {
			t.Fatal(err)
		}
		if joined.Where != nil || len(joined.Distinct) > 0 || joined.Having == nil || len(joined.Cols) != len(whole.JoinedFields()) || fmt.Sprint(joined.Out) != fmt.Sprint(whole.Out) {
			t.Errorf("%s: joined is %+v", c.aggs, joined)
		}
	}
	for _, typ := range []column.Type{{Kind: column.UUID}, {Kind: column.Time, UTC: true}, column.DecimalType(38, 3), {Kind: column.String, Form: column.JSON}, {Kind: column.Bool}} {
		if !comesBack(typ) {
			t.Errorf("%s does not come back from a record", typ)
		}
	}
}
