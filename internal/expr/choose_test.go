package expr

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Times of two units have the finer one in common, as timestamps do.
func TestTimesOfTwoUnits(t *testing.T) {
	t.Parallel()
	milli := column.Type{Kind: column.Time, Unit: column.Milli}
	micro := column.Type{Kind: column.Time, Unit: column.Micro}
	noon := column.Vector{Type: milli, Len: 2, Int: []int64{43_200_001, 0}, Null: []bool{false, true}}
	lookup := func(string) (int, column.Type, error) { return 0, milli, nil }
	for _, text := range []string{"coalesce(c, time '00:00:00.000002')", "case when c is null then time '00:00:00.000002' else c end"} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Bind(n, text, lookup)
		if err != nil {
			t.Fatal(err)
		}
		var out column.Vector
		if err := e.NewEval().Eval(&column.Batch{Rows: 2, Cols: []column.Vector{noon}}, &out); err != nil {
			t.Fatal(err)
		}
		if a, b := out.At(0), out.At(1); a.Type != micro || a.Int != 43_200_001_000 || b.Int != 2 {
			t.Errorf("%s gives %v and %v of type %s", text, a.Int, b.Int, a.Type)
		}
	}
}

// Binaries of two lengths have one of any length in common.
func TestBinariesOfTwoLengths(t *testing.T) {
	t.Parallel()
	types := map[string]column.Type{"a": {Kind: column.Binary}, "b": {Kind: column.FixedBinary, Width: 1}, "c": {Kind: column.FixedBinary, Width: 2}}
	lookup := func(name string) (int, column.Type, error) { return 0, types[name], nil }
	for _, text := range []string{"greatest(a, b)", "coalesce(b, c)", "case when a is null then c else a end"} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := Bind(n, text, lookup); err != nil || e.Type() != types["a"] {
			t.Errorf("%s: %v", text, err)
		}
	}
}
