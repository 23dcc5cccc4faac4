package key

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// Strings come back whichever way they are decoded: in place where none of a
// batch is long, copied where one is, by number from a table of all, or from the
// interner where the budget has no room for the table. A decoder may go from
// one to the other, and what it has given before must not be written to.
func TestDecodeText(t *testing.T) {
	t.Parallel()
	refuse := budgettest.Lender(func(bytes int64) error {
		if bytes > 0 {
			return errors.New("refused")
		}
		return nil
	})
	for _, c := range []struct {
		name   string
		intern bool
		memory budget.Lender
	}{
		{"inline", false, nil},
		{"numbered, by table", true, nil},
		{"numbered, without a table", true, refuse},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			cols := []Column{{Type: stringType, Intern: c.intern}, {Type: column.Type{Kind: column.Int64}}}
			l, in := NewLayout(cols), NewInterner(c.memory)
			var reg arena.Arenas
			defer reg.Close()
			d := Decoder{Layout: l, Intern: in, Arenas: &reg, Base: 1, Stride: 1 + l.Words}
			var out column.Vector
			for round, longest := range []int{15, 40, 15, 3, 0, 40, 15} {
				vals, flat := textRows(rng, l, in, &reg, longest)
				before := slices.Clone(flat)
				d.table = nil // strings were added
				d.Begin(flat)
				if want := !c.intern && longest > MaxInline; d.HasLong() != want {
					t.Fatalf("round %d: HasLong is %t", round, !want)
				}
				d.Decode(0, flat, &out)
				if !out.Valid() {
					t.Fatalf("round %d: the vector is not valid", round)
				}
				for i, v := range vals {
					if got, want := canonical(out.At(i)), canonical(v); got != want {
						t.Fatalf("round %d, row %d: %s, want %s", round, i, got, want)
					}
				}
				if !slices.Equal(before, flat) {
					t.Fatalf("round %d: the rows were written to", round)
				}
			}
			if d.table = nil; c.intern && (in.tabulate().spans == nil) != (c.memory != nil) {
				t.Errorf("there is a table: %t", c.memory == nil)
			}
		})
	}
}

// textRows is rows of random strings and NULLs, one at least of them longest.
func textRows(rng *rand.Rand, l *Layout, in *Interner, reg *arena.Arenas, longest int) (vals []column.Value, flat []uint64) {
	text := func(n int) string { return fmt.Sprintf("%-40d", rng.IntN(1000))[:n] }
	for range 100 {
		v := column.Value{Type: stringType, Bytes: text(rng.IntN(longest + 1)), Null: rng.IntN(9) == 0}
		vals = append(vals, v)
	}
	vals[50] = column.Value{Type: stringType, Bytes: text(longest)}
	e := NewEncoder(l, in)
	n := column.Vector{Type: column.Type{Kind: column.Int64}, Len: len(vals), Int: make([]int64, len(vals))}
	e.Encode([]column.Vector{vector(stringType, vals, true), n}, len(vals))
	return vals, slices.Concat(rows(e, reg.New())...)
}
