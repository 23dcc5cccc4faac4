package expr

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// The rows that are true are those that one after the other tells, for every form of dictionary,
// flat, with NULLs and without, of any length, behind rows that are there.
func TestSelect(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	var forms [formNone + 1]int
	var s selector
	for range 3000 {
		v := someTruths(rng)
		before := []int32{7, 8, 9}[:rng.IntN(4)]
		want := slices.Clone(before)
		for i := range v.Len {
			if trueAt(v, i) != 0 {
				want = append(want, int32(i))
			}
		}
		if got := s.appendTrue(slices.Clone(before), v); !slices.Equal(got, want) {
			t.Fatalf("%d rows, form %d, NULLs %t: %d rows %v, want %d %v", v.Len, s.form, v.Null != nil, len(got), got, len(want), want)
		}
		if v.Dict != nil {
			forms[s.form]++
		}
	}
	for form, n := range forms {
		if n < 100 {
			t.Errorf("form %d was tried %d times", form, n)
		}
	}
}

// someTruths is a batch of booleans, whose flags of NULL and codes end where its rows do.
func someTruths(rng *rand.Rand) *column.Vector {
	v := &column.Vector{Type: boolType, Len: rng.IntN(1 + rng.IntN(600))}
	share := rng.Float64() * rng.Float64()
	if rng.IntN(2) == 0 {
		v.Null = make([]bool, v.Len)
		for i := range v.Null {
			v.Null[i] = rng.IntN(3) == 0
		}
	}
	if rng.IntN(4) == 0 {
		for range v.Len {
			v.Int = append(v.Int, truth(rng.Float64() < share))
		}
		return v
	}
	d := &column.Dict{Values: column.Vector{Type: boolType, Len: 1 + rng.IntN(1+rng.IntN(80))}}
	odd := rng.IntN(d.Values.Len)
	kind := rng.IntN(4)
	for i := range d.Values.Len {
		is := []bool{i == odd, i != odd, rng.Float64() < share, false}[kind]
		d.Values.Int = append(d.Values.Int, truth(is))
	}
	v.Dict = d
	for range v.Len {
		v.Codes = append(v.Codes, int32(rng.IntN(d.Values.Len)))
	}
	return v
}

func BenchmarkSelect(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 8192
	for _, c := range []struct {
		name    string
		entries int
		is      func(code int) bool
	}{
		{"OneFalse", 20, func(code int) bool { return code != 0 }},
		{"Few", 20, func(code int) bool { return code%5 == 0 }},
		{"Many", 2000, func(code int) bool { return code%5 == 0 }},
		{"Flat", 0, nil},
	} {
		v := &column.Vector{Type: boolType, Len: rows}
		if c.entries > 0 {
			v.Dict = &column.Dict{Values: column.Vector{Type: boolType, Len: c.entries}}
			for code := range c.entries {
				v.Dict.Values.Int = append(v.Dict.Values.Int, truth(c.is(code)))
			}
		}
		for range rows {
			if c.entries == 0 {
				v.Int = append(v.Int, truth(rng.IntN(20) == 0))
			} else {
				v.Codes = append(v.Codes, int32(max(0, rng.IntN(20*c.entries)-19*c.entries)))
			}
		}
		b.Run(c.name, func(b *testing.B) {
			var s selector
			var sel []int32
			b.SetBytes(rows)
			for b.Loop() {
				sel = s.appendTrue(sel[:0], v)
			}
		})
	}
}
