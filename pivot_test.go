package gagg_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// pivoted is the names and lines of a pivot.
func pivoted(t *testing.T, q gagg.Query, o gagg.Options) (names, lines []string) {
	t.Helper()
	rows, err := gagg.Run(t.Context(), q, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	for _, f := range rows.Schema().Fields() {
		names = append(names, f.Name)
	}
	for rows.Next() {
		lines = append(lines, linesOf(rows.Record().Columns())...)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return names, lines
}

// A pivot has the values of the groups, in columns: put back into rows they are the groups.
func TestPivot(t *testing.T) {
	t.Parallel()
	from := gagg.Files(randomFile(t, 20_000))
	for _, key := range []string{"i % 7", "s", "s = 'a'", "(i % 5)::double", "(i % 5)::decimal(5,2)", "(i % 3)::decimal(30,2)", "date '2024-01-01' + i % 4", "i % 200 > 3 and x > 0"} {
		q := gagg.Query{From: from, By: []string{"i % 11 as a", key + " as b", "i % 2 as c"}, Aggs: exprs("count(*) as n", "list(i) as l")}
		groups := map[string]string{}
		for _, line := range mustAnswer(t, q, gagg.Options{Threads: 2}) {
			cells := strings.SplitN(line, "|", 5)
			groups[cells[0]+"|"+cells[2]+"|"+cells[1]] = cells[3] + "|" + cells[4]
		}
		texts := map[string]string{} // by name of the column
		order := q
		order.By, order.Aggs, order.OrderBy = []string{key + " as b"}, exprs("max(("+key+")::text) as t"), []string{"b"}
		var want []string
		for _, line := range mustAnswer(t, order, gagg.Options{}) {
			value, name, _ := strings.Cut(line, "|")
			if name == "(null)" {
				name = "NULL"
			}
			texts[name] = value
			want = append(want, name+"_n", name+"_l")
		}
		q.Pivot = "b"
		names, lines := pivoted(t, q, gagg.Options{Threads: 3})
		if !slices.Equal(names, append([]string{"a", "c"}, want...)) {
			t.Fatalf("%s: columns %q, want %q", key, names, want)
		}
		found := 0
		for _, line := range lines {
			cells := strings.Split(line, "|")
			for at := 2; at < len(cells); at += 2 {
				value := texts[strings.TrimSuffix(names[at], "_n")]
				group, ok := groups[cells[0]+"|"+cells[1]+"|"+value]
				if !ok {
					group = "(null)|(null)"
				} else {
					found++
				}
				if got := cells[at] + "|" + cells[at+1]; got != group {
					t.Fatalf("%s: a %s, c %s, %s: %s, want %s", key, cells[0], cells[1], names[at], got, group)
				}
			}
		}
		if found != len(groups) || !slices.IsSortedFunc(lines, byKeys) {
			t.Errorf("%s: %d groups of %d, or not in order", key, found, len(groups))
		}
	}
}

// byKeys orders lines by two numbers in front, NULL last.
func byKeys(a, b string) int {
	number := func(line string) (n [2]int) {
		for i, cell := range strings.SplitN(line, "|", 3)[:2] {
			if _, err := fmt.Sscan(cell, &n[i]); err != nil {
				n[i] = 1 << 30
			}
		}
		return n
	}
	x, y := number(a), number(b)
	return slices.Compare(x[:], y[:])
}

// Order, limit and offset are of the rows of the pivot; groups that having drops leave NULL.
func TestPivotRows(t *testing.T) {
	t.Parallel()
	q := gagg.Query{From: gagg.Files(orders), By: []string{"region", "quantity"}, Aggs: exprs("count(*)"), Pivot: "2"}
	_, all := pivoted(t, q, gagg.Options{})
	q.Limit, q.Offset = 2, 1
	if _, got := pivoted(t, q, gagg.Options{}); len(all) != 5 || !slices.Equal(got, all[1:3]) {
		t.Errorf("%q of %q", got, all)
	}
	q.Offset = 9
	if _, got := pivoted(t, q, gagg.Options{}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	q.Limit, q.Offset = gagg.NoRows, 0
	if names, got := pivoted(t, q, gagg.Options{}); len(got) != 0 || len(names) != 13 {
		t.Errorf("%q, %q", names, got)
	}
	q.Limit, q.OrderBy, q.Having = 0, []string{"-region"}, "count(*) > 300"
	if _, got := pivoted(t, q, gagg.Options{}); len(got) != 5 || got[0] != "Oceania|386|358|314" {
		t.Errorf("%q", got)
	}
}

// What has no pivot.
func TestPivotRefused(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]gagg.Query{
		"none of the keys":        {By: []string{"region"}, Aggs: exprs("count(*) as n"), Pivot: "n"},
		"no aggregates":           {By: []string{"region"}, Pivot: "region"},
		"more than 1000 values":   {By: []string{"ordered_at", "region"}, Aggs: exprs("count(*)"), Pivot: "ordered_at"},
		"rows of 1000 columns":    {By: []string{"ordered_at", "epoch(ordered_at)::bigint % 1000 as e"}, Aggs: exprs("count(*)"), Pivot: "e"},
		"grouping sets and total": {By: []string{"region"}, Aggs: exprs("count(*)"), Pivot: "region", Totals: true},
		"expected":                {By: []string{"region"}, Aggs: exprs("count(*)"), Pivot: "region)"},
	} {
		q.From = gagg.Files(orders)
		if _, err := answer(t, q, gagg.Options{}); !errors.Is(err, gagg.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
