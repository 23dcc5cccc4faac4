package expr

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Texts of times, and numbers that are keys, are those of each time alone, however many buckets a
// batch has: few, as many as rows, far from one another, or so many that a dictionary is begun
// anew; and those of a batch before stay what they were.
func TestBuckets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		coded bool // by buckets
	}{
		{"strftime(ms, '%Y-%m-%d')", true},
		{"strftime(ms, '%d.%m.%y %H Uhr')", true},
		{"strftime(ns, '%I %p, %A')", true},
		{"strftime(ms, '%Y %H:%M')", true},
		{"strftime(ms, '%S')", true},
		{"strftime(ns, '%H:%M:%S.%f')", false},
		{"strftime(day, '%a %d %b %Y week %V of %G, %j')", true},
		{"dayname(ms)", true},
		{"monthname(day)", true},
		{"strftime(ns, '%Y-%m')", true},
		{"date_trunc('day', ms)", true},
		{"date_trunc('month', ns)", true},
		{"date_trunc('hour', ms)", true},
		{"date_trunc('second', ms)", false},
		{"year(ms)", true},
		{"week(day)", true},
		{"minute(ns)", true},
		{"second(ns)", false},
	} {
		e := bindText(t, c.text)
		col := e.root.columns()[0]
		typ := testColumns[col].Type
		second := stepsPerDay(typ) / secondsPerDay
		if second == 0 {
			second = 1
		}
		r := rand.New(rand.NewPCG(3, 4))
		group := NewGroup()
		v, coded := group.NewKey(e), false
		for batch := range 60 {
			// from some seconds to centuries, before and after 1970
			width := int64(1) << (batch % 34)
			times := column.Vector{Type: typ}
			for range 300 {
				time := r.Int64N(2*width) - width + int64(batch-30)*1000
				if typ.Kind == column.Date {
					time /= 100
				}
				times.Append(column.Value{Type: typ, Int: time*second + r.Int64N(second), Null: batch%4 == 3 && r.IntN(3) == 0 || batch == 7})
			}
			cols := make([]column.Vector, col+1)
			cols[col] = times
			var out column.Vector
			b := &column.Batch{Rows: 300, Cols: cols}
			group.Begin(b)
			if err := v.Eval(b, &out); err != nil {
				t.Fatal(err)
			}
			coded = coded || out.Dict != nil
			if !out.Valid() {
				t.Fatalf("%s: VECTOR-VALID", c.text)
			}
			if dict := out.Dict; dict != nil {
				entries := map[column.Value]bool{}
				for i := range dict.Len() {
					entries[dict.Values.At(i)] = true
				}
				if len(entries) < dict.Len() {
					t.Fatalf("%s: %d entries, %d of them different", c.text, dict.Len(), len(entries))
				}
			}
			for i := range 300 {
				var one column.Vector
				cols[col] = times.Slice(i, i+1)
				if err := e.NewEval().Eval(&column.Batch{Rows: 1, Cols: cols}, &one); err != nil {
					t.Fatal(err)
				}
				if got, want := out.At(i), one.At(0); got != want {
					t.Fatalf("%s, batch %d, row %d: %v, want %v", c.text, batch, i, got, want)
				}
			}
		}
		if coded != c.coded {
			t.Errorf("%s: coded %v", c.text, coded)
		}
	}
}

// Buckets that are as many as rows are given up, and times at the ends of int64 are not numbered.
func TestBucketsInVain(t *testing.T) {
	t.Parallel()
	e := bindText(t, "strftime(ms, '%Y-%m-%d')")
	col := e.root.columns()[0]
	v := e.NewEval()
	for batch := range 3 * vainBuckets {
		times := column.Vector{Type: testColumns[col].Type}
		for i := range int64(100) {
			times.Append(column.Value{Type: times.Type, Int: (i + 100*int64(batch)) * 86_400_000})
		}
		if batch == 2*vainBuckets {
			times.Int[5], times.Int[6] = math.MaxInt64, math.MinInt64
		}
		cols := make([]column.Vector, col+1)
		cols[col] = times
		var out column.Vector
		if err := v.Eval(&column.Batch{Rows: 100, Cols: cols}, &out); err != nil {
			t.Fatal(err)
		}
		if (out.Dict != nil) != (batch < vainBuckets) {
			t.Errorf("batch %d: coded %v", batch, out.Dict != nil)
		}
	}
}

// Numbers whose dictionary grows with the rows are given up, and those that have few are not.
func TestNumberedBuckets(t *testing.T) {
	t.Parallel()
	const rows = 4096
	for text, every := range map[string]int64{"date_trunc('minute', ms)": 1_000, "date_trunc('day', ms)": 1_000, "month(ms)": 60_000} {
		e := bindText(t, text)
		col, group := e.root.columns()[0], NewGroup()
		v := group.NewKey(e)
		times := column.Vector{Type: testColumns[col].Type, Len: rows, Int: make([]int64, rows)}
		cols := make([]column.Vector, col+1)
		for batch := range 2 * numberedRows / rows {
			for i := range times.Int {
				times.Int[i] = int64(batch*rows+i) * every
			}
			cols[col] = times
			b := &column.Batch{Rows: rows, Cols: cols}
			group.Begin(b)
			var out column.Vector
			if err := v.Eval(b, &out); err != nil {
				t.Fatal(err)
			}
			want := text != "date_trunc('minute', ms)" || batch*rows <= numberedRows
			if coded := out.Dict != nil; coded != want {
				t.Fatalf("%s, batch %d: coded %v", text, batch, coded)
			}
		}
	}
}

// A case of constant texts is coded by a dictionary that stays the same.
func TestCaseOfConstants(t *testing.T) {
	t.Parallel()
	e := bindText(t, "case when i > 10 then 'many' when i > 5 then null when i > 2 then 'few' else '' end")
	var dict *column.Dict
	for range 2 {
		v := e.NewEval()
		for batch := range 3 {
			ints := column.Vector{Type: int64Type}
			for i := range int64(20) {
				ints.Append(column.Value{Type: int64Type, Int: (i + int64(batch)) % 15, Null: i == 7})
			}
			var out column.Vector
			if err := v.Eval(&column.Batch{Rows: 20, Cols: []column.Vector{ints}}, &out); err != nil {
				t.Fatal(err)
			}
			if dict == nil {
				dict = out.Dict
			}
			if out.Dict == nil || out.Dict != dict || !out.Valid() {
				t.Fatalf("dictionary %p, not %p", out.Dict, dict)
			}
			for i, n := range ints.Int {
				want := column.Value{Type: stringType}
				switch {
				case i == 7: // no condition is true of NULL
				case n > 10:
					want.Bytes = "many"
				case n > 5:
					want.Null = true
				case n > 2:
					want.Bytes = "few"
				}
				if got := out.At(i); got.Bytes != want.Bytes || got.Null != want.Null {
					t.Errorf("%d: %v, want %v", n, got, want)
				}
			}
		}
	}
}
