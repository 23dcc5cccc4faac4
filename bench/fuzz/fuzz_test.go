package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// Every difference that the fuzzer allows for is one that docs/semantics.md admits.
func TestDifferencesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## What differs from DuckDB\n")
	if !found {
		t.Fatal("docs/semantics.md has no section on DuckDB")
	}
	var rows []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| `).FindAllStringSubmatch(section, -1) {
		rows = append(rows, m[1])
	}
	if len(rows) < 20 {
		t.Fatalf("only %d rows found", len(rows))
	}
	for _, d := range differences {
		if !slices.ContainsFunc(rows, func(row string) bool { return row == d.row || strings.HasPrefix(row, d.row+",") }) {
			t.Errorf("the fuzzer allows for %q (%s), which docs/semantics.md does not name", d.row, d.reason)
		}
		if d.reason == "" || d.does == "" {
			t.Errorf("%q has no reason, or does nothing", d.row)
		}
	}
}

// What an operator or aggregate cites is among the differences.
func TestDifferencesAreListed(t *testing.T) {
	for _, o := range operators {
		if o.duck != "" && o.why == (difference{}) && o.name != "date_trunc" {
			t.Errorf("operator %s is another text in DuckDB, for no reason that is given", o.gagg)
		}
		if o.why != (difference{}) && !slices.Contains(differences, o.why) {
			t.Errorf("operator %s cites a difference that is not listed", o.gagg)
		}
	}
	for _, a := range aggregates {
		if a.why != (difference{}) && !slices.Contains(differences, a.why) {
			t.Errorf("%s cites a difference that is not listed", a.name)
		}
	}
}

// All aggregates are asked for.
func TestAggregatesAreAsked(t *testing.T) {
	for _, known := range gagg.Aggregates() {
		if known.Name == "grouping" { // stands for no aggregate of rows
			continue
		}
		if !slices.ContainsFunc(aggregates, func(a aggregate) bool { return a.name == known.Signature || a.name+"(x)" == known.Signature }) {
			t.Errorf("%s is never asked for", known.Signature)
		}
	}
}

// Values that differ are told apart, and those that may are not.
func TestMatches(t *testing.T) {
	number := func(f float64) cell { return cell{Kind: oracle.Float, Float: f, Magnitude: math.Abs(f)} }
	whole := func(n int64, d int64) cell { return cell{Kind: oracle.Exact, Exact: big.NewRat(n, d)} }
	inf := number(1)
	inf.Magnitude = math.Inf(1)
	small := number(1.0000001e-6)
	small.Magnitude = 1e-12
	for _, c := range []struct {
		rule             rule
		got, want, other cell
		matches          bool
	}{
		{exactly, number(1), number(1 + 1e-12), cell{}, true},
		{exactly, number(1), number(1 + 1e-6), cell{}, false},
		{exactly, number(5), inf, cell{}, true},
		{exactly, whole(1, 1), inf, cell{}, false},
		{exactly, whole(1, 2), whole(1, 2), cell{}, true},
		{exactly, whole(1, 2), whole(1, 3), cell{}, false},
		{squared, number(1e-6), small, cell{}, false},
		{scaled, whole(1, 100), whole(1, 1), cell{}, true},
		{scaled, whole(1, 100), whole(2, 1), cell{}, false},
		{counted, whole(1040, 1), whole(1000, 1), cell{}, true},
		{counted, whole(1060, 1), whole(1000, 1), cell{}, false},
		{between256, number(1.5), number(1), number(2), true},
		{between256, number(2.1), number(1), number(2), false},
		{between256, number(0.9), number(1), number(2), false},
	} {
		it := item{agg: &output{of: &aggregate{rule: c.rule}, scale: 2}}
		if it.matches(c.got, c.want, c.other) != c.matches {
			t.Errorf("rule %d: %s for %s: want %t", c.rule, c.got, c.want, c.matches)
		}
	}
}

// Queries of a seed are the same on every machine, and both their forms have every part filled in.
func TestQueriesAreComplete(t *testing.T) {
	tab := &table{files: []string{"f"}, rows: 100}
	for i, sqlType := range []string{
		"BOOLEAN", "TINYINT", "BIGINT", "UBIGINT", "DECIMAL(9,2)", "FLOAT", "DOUBLE", "VARCHAR", "BLOB", "UUID", "DATE", "TIME", "TIME_NS",
		"TIME WITH TIME ZONE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE",
	} {
		tab.cols = append(tab.cols, knownOf("c"+string(rune('a'+i)), sqlType)...)
	}
	asked := map[string]bool{}
	for seed := range uint64(1500) {
		q := newQuery(rand.New(rand.NewPCG(seed, 0)), tab, seed%5 == 0)
		again := newQuery(rand.New(rand.NewPCG(seed, 0)), tab, seed%5 == 0)
		if !slices.Equal(q.args(), again.args()) || q.sql() != again.sql() {
			t.Fatalf("seed %d makes two queries", seed)
		}
		texts := append(q.args(), q.sql())
		for _, text := range texts {
			if m := regexp.MustCompile(`\$[A-Z0-9]|ROUNDED|WHOLE|NAME`).FindString(text); m != "" {
				t.Fatalf("seed %d leaves %s in %s", seed, m, text)
			}
		}
		for _, it := range q.items {
			if it.agg != nil {
				asked[it.agg.of.gagg] = true
			}
		}
		for _, smaller := range q.smaller() {
			if smaller.sql() == q.sql() && slices.Equal(smaller.args(), q.args()) {
				t.Errorf("seed %d: a query made smaller is the same: %q", seed, q.args())
			}
		}
	}
	for _, a := range aggregates {
		if !asked[a.gagg] {
			t.Errorf("%s is not asked for in 1500 queries", a.gagg)
		}
	}
}

// DuckDB is of the version that bench/peers compares with.
func TestDuckDBVersion(t *testing.T) {
	text, err := os.ReadFile("../peers/package.json")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`"@duckdb/node-api": "(\d+)\.(\d+)\.(\d+)-`).FindSubmatch(text)
	if m == nil {
		t.Fatal("bench/peers/package.json has no DuckDB")
	}
	if want := fmt.Sprintf("v0.%s%02s%02s.0", m[1], m[2], m[3]); want != duckTag {
		t.Errorf("bench/peers has DuckDB %s.%s.%s, that is %s; duck.go has %s", m[1], m[2], m[3], want, duckTag)
	}
}
