package agg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

var int32Type = column.Type{Kind: column.Int32}

// layoutOf compiles aggregates of 32-bit integers, arguments 0, 1 … each.
func layoutOf(t *testing.T, names ...string) *Layout {
	t.Helper()
	return layoutFor(t, int32Type, names...)
}

func layoutFor(t *testing.T, arg column.Type, names ...string) *Layout {
	t.Helper()
	var calls []Call
	for _, name := range names {
		types, args := []column.Type{arg}, []int{0}
		if name == "corr" {
			types, args = []column.Type{arg, arg}, []int{0, 1}
		}
		f, _, err := Resolve(name, types, nil)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, Call{Func: f, Args: args, Types: types})
	}
	return Compile(calls, 0, Options{MaxRows: 1 << 20})
}

// extremes is random values at the ends of int32, whose squares overflow a
// signed word after a few rows.
func extremes(rng *rand.Rand, n int) (out []int64) {
	for range n {
		x := rng.Int64N(1 << 20)
		if rng.IntN(2) == 0 {
			out = append(out, math.MaxInt32-x)
		} else {
			out = append(out, math.MinInt32+x)
		}
	}
	return out
}

// The five moments in one pass give the very words that five passes give,
// high words included.
func TestCorrInOnePass(t *testing.T) {
	t.Parallel()
	l := layoutOf(t, "corr")
	if !slices.ContainsFunc(l.slots, func(s slot) bool { return s.fused }) {
		t.Fatal("corr of 32-bit integers is not updated in one pass")
	}
	rng := testRand()
	const rows, groups = 3000, 7
	in := &Input{Rows: rows, Args: []column.Vector{
		{Type: int32Type, Len: rows, Int: extremes(rng, rows)},
		{Type: int32Type, Len: rows, Int: extremes(rng, rows)},
	}}
	gids := make([]uint32, rows)
	for i := range gids {
		gids[i] = uint32(rng.IntN(groups))
	}
	apart := *l
	apart.slots = slices.Clone(l.slots)
	for i := range apart.slots {
		apart.slots[i].fused = false
	}
	if a, b := updated(l, groups, gids, in), updated(&apart, groups, gids, in); !slices.Equal(a, b) {
		t.Errorf("one pass gives %v, five passes %v", a, b)
	}
}

// Sums of coded arguments are those of the values, and only arguments that
// are summed and nothing else may come coded.
func TestCodedSums(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		aggs []string
		want bool
	}{
		{[]string{"sum"}, true}, {[]string{"mean", "count", "sum"}, true}, {[]string{"sum", "min"}, false}, {[]string{"count"}, false}, {[]string{"corr"}, false},
	} {
		if got := layoutOf(t, x.aggs...).TakesCodes(0); got != x.want {
			t.Errorf("%v: TakesCodes is %t", x.aggs, got)
		}
	}
	rng := testRand()
	const rows, groups = 3000, 7
	dict := &column.Dict{Values: column.Vector{Type: int32Type, Len: 50, Int: extremes(rng, 50)}}
	coded := column.Vector{Type: int32Type, Len: rows, Dict: dict}
	gids := make([]uint32, rows)
	for i := range gids {
		gids[i] = uint32(rng.IntN(groups))
		coded.Codes = append(coded.Codes, int32(rng.IntN(50)))
	}
	l := layoutOf(t, "mean", "sum")
	a := updated(l, groups, gids, &Input{Rows: rows, Args: []column.Vector{coded}})
	b := updated(l, groups, gids, &Input{Rows: rows, Args: []column.Vector{column.Flatten(&coded, &column.Buffer{})}})
	if !slices.Equal(a, b) {
		t.Errorf("coded sums %v, flat ones %v", a, b)
	}
}

// Sums of one group are those that big integers give, of coded arguments and of flat ones, at both
// ends of 64 bits.
func TestCodedSumsOne(t *testing.T) {
	t.Parallel()
	rng := testRand()
	const rows, batches = 3001, 20
	for _, arg := range []column.Type{int32Type, {Kind: column.Int64}} {
		l := layoutFor(t, arg, "mean", "sum")
		if !l.TakesCodesOne(0) || layoutFor(t, arg, "sum", "min").TakesCodesOne(0) {
			t.Fatalf("%s: sums alone may come coded", arg)
		}
		flat, coded := Table{Stride: l.Words(), Rows: make([]uint64, l.Words())}, Table{Stride: l.Words(), Rows: make([]uint64, l.Words())}
		l.Init(flat.Rows)
		l.Init(coded.Rows)
		want := new(big.Int)
		for range batches {
			v := column.Vector{Type: arg, Len: rows, Dict: &column.Dict{Values: column.Vector{Type: arg, Len: 50, Int: extremes(rng, 50)}}}
			for i := range v.Dict.Values.Int {
				if arg.Kind == column.Int64 {
					v.Dict.Values.Int[i] <<= rng.IntN(33)
				}
			}
			for range rows {
				v.Codes = append(v.Codes, int32(rng.IntN(50)))
			}
			l.UpdateOne(&coded, 0, false, &Input{Rows: rows, Args: []column.Vector{v}})
			v = column.Flatten(&v, &column.Buffer{})
			l.UpdateOne(&flat, 0, false, &Input{Rows: rows, Args: []column.Vector{v}})
			for _, x := range v.Int {
				want.Add(want, big.NewInt(x))
			}
		}
		if !slices.Equal(flat.Rows, coded.Rows) {
			t.Errorf("%s: coded sums %v, flat ones %v", arg, coded.Rows, flat.Rows)
		}
		if got := sumInRow(l, flat.Rows); got.Cmp(want) != 0 {
			t.Errorf("%s: the sum is %s, want %s", arg, got, want)
		}
	}
}

// sumInRow is the sum that the first slot of a row holds.
func sumInRow(l *Layout, row []uint64) *big.Int {
	for i := range l.slots {
		switch s := &l.slots[i]; s.op {
		case opAddInt:
			return big.NewInt(int64(row[s.hot]))
		case opAddInt128:
			high := new(big.Int).Lsh(big.NewInt(int64(row[s.cold])), 64)
			return high.Add(high, big.NewInt(int64(row[s.hot])))
		}
	}
	return nil
}

// updated is the rows of a table after one batch.
func updated(l *Layout, groups int, gids []uint32, in *Input) []uint64 {
	t := Table{Stride: l.Words(), Rows: make([]uint64, groups*l.Words())}
	for g := range groups {
		l.Init(t.Rows[g*t.Stride:])
	}
	l.Update(&t, gids, uint32(groups), in)
	return t.Rows
}
