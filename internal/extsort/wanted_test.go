package extsort

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// A sorter that is given only the rows that it wants finds the same best ones, whatever they are
// sorted by, and from some point on it wants few.
func TestWanted(t *testing.T) {
	const keep, batches = 15, 15
	var lists [][]column.Type
	for _, typ := range allTypes() {
		lists = append(lists, []column.Type{typ})
	}
	for i := range 20 {
		types := scalarTypes
		lists = append(lists, []column.Type{types[i%3+1], types[(7*i+3)%len(types)], types[(5*i)%len(types)]})
	}
	for i, types := range lists {
		t.Run(fmt.Sprint(types), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			tb := randomTable(rng, types, batches)
			for range batches { // so that there is a bound before the last of them
				tb.add(rng, 150)
			}
			want := tb.sorted(t)[:keep]
			less := &table{terms: tb.terms, cols: tb.cols}
			s := New(newHarness(t, tb, keep, 0, 1, nil).cfg)
			place, given, after := uint64(0), 0, 0
			for b := range tb.out {
				bounded := s.bound != nil
				sel := s.Wanted(tb.order[b], tb.rows(b), nil)
				order, out := picked(tb.order[b], sel), picked(tb.out[b], sel)
				less.order, less.out = append(less.order, order), append(less.out, out)
				if err := s.Add(t.Context(), place, order, out, len(sel)); err != nil {
					t.Fatal(err)
				}
				place += uint64(tb.rows(b))
				if bounded {
					given, after = given+tb.rows(b), after+len(sel)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := less.sorted(t)[:keep]; !slices.Equal(got, want) {
				t.Errorf("%+v%s", tb.terms, difference(got, want))
			}
			if given == 0 || after > given/10 {
				t.Errorf("%+v: with a bound %d of %d rows were wanted", tb.terms, after, given)
			}
		})
	}
}

// picked is the rows sel of columns.
func picked(cols []column.Vector, sel []int32) (out []column.Vector) {
	for i := range cols {
		out = append(out, column.Gather(&cols[i], sel, &column.Buffer{}))
	}
	return out
}
