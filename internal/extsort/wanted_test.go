package extsort

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/budget"
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
				for _, i := range sel {
					if !inBound(s, &tb.order[b][0], int(i)) {
						t.Fatalf("%+v: a wanted row is beyond the bound", tb.terms)
					}
				}
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

// inBound reports whether row i of the first term is not beyond the bound, as far as Bound tells.
func inBound(s *Sorter, v *column.Vector, i int) bool {
	word, flip, equal, ok := s.Bound()
	x := v.At(i)
	if !ok || x.Null {
		return true
	}
	n := uint64(x.Int)
	if v.Type.Rep() == column.RepWide {
		if n = x.Wide.LowBits(); x.Wide != decimal256.FromI64(int64(n)) {
			return true
		}
	}
	return n^flip < word || n^flip == word && equal
}

// The bound of decimals that fit 64 bits is told, in either order, and that of others is not.
func TestBoundOfDecimals(t *testing.T) {
	typ := column.DecimalType(38, 2)
	for _, x := range []decimal256.Num{decimal256.FromI64(0), decimal256.FromI64(-7), decimal256.FromI64(math.MaxInt64), decimal256.FromI64(math.MinInt64), decimal256.New(0, 0, 1, 0), decimal256.New(0, 0, 0, 1<<63)} {
		for _, desc := range []bool{false, true} {
			s := New(Config{Keep: 1, Budget: budget.Or(nil), Terms: []Term{{Type: typ, Desc: desc}}, Cols: []column.Type{typ}})
			v := column.Vector{Type: typ}
			for range 3000 {
				v.Append(column.Value{Type: typ, Wide: x})
			}
			for at := range uint64(3) {
				if err := s.Add(t.Context(), at*3000, []column.Vector{v}, []column.Vector{v}, v.Len); err != nil {
					t.Fatal(err)
				}
			}
			word, flip, equal, ok := s.Bound()
			if s.bound == nil {
				t.Fatal("there is no bound yet")
			}
			if want := x == decimal256.FromI64(int64(x.LowBits())); ok != want || ok && (word != x.LowBits()^flip || equal) {
				t.Errorf("%v, descending %t: %x, %x, %t, %t", x, desc, word, flip, equal, ok)
			}
			if ok && (flip == 1<<63) == desc {
				t.Errorf("descending %t: flip %x", desc, flip)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
