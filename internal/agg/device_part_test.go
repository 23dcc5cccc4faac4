package agg

import (
	"math"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// What a device adds to the states of a row of part 0 for a row of another part is what Update adds
// for it, for every aggregate and type, and beside others; and its results follow from the words as
// those of part 0 do.
func TestDevicePart(t *testing.T) {
	t.Parallel()
	names := append(slices.Clone(rowNames), "count_distinct")
	rng := testRand()
	d := randomData(rng, 60, 1, "some", rowGenerators)
	tried, told, distinct := map[string]bool{}, 0, map[int]bool{}
	for range 4000 {
		arg := rng.IntN(len(d.args))
		var calls []Call
		for range 1 + rng.IntN(3) {
			c := Call{Args: []int{arg}, Types: []column.Type{d.args[arg][0].Type}, Part: 1}
			name := names[rng.IntN(len(names))]
			var err error
			if c.Func, _, err = Resolve(name, c.Types, nil); err == nil && len(c.Types) == signatures[c.Func.id].args {
				calls = append(calls, c)
				tried[name] = true
			}
		}
		if len(calls) == 0 {
			continue
		}
		calls = append(calls, randomCalls(rng, d, rng.IntN(3))...)
		rng.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		l := Compile(calls, testBase, Options{MaxRows: []int64{-1, 60}[rng.IntN(2)], Device: true})
		row, why := l.DeviceRow()
		if why != "" {
			continue
		}
		words, why := l.DevicePart(1)
		if why != "" {
			continue
		}
		distinct[arg] = len(words) > 0
		for r := range d.gids {
			if d.args[arg][r].Null {
				continue
			}
			w := newWorker(l, &arena.Arenas{})
			w.l, w.t.Unseen = l.Part(0), true
			w.update(d, []int{r})
			w.l = l.Part(1)
			w.update(d, []int{r})
			w.l = l
			want, made := w.row(0)[testBase:], withPart(madeRow(row, d, r), words, d, r)
			for i := range made {
				if math.IsNaN(math.Float64frombits(want[i])) { // the error of a sum that is not finite
					made[i] = want[i]
				}
			}
			if !slices.Equal(made, want) {
				t.Fatalf("%v of row %d: words %x, want %x", l.calls, r, made, want)
			}
			for c := range l.calls {
				if _, ok := l.DeviceResult(c); ok && l.calls[c].part == 1 {
					told++
				}
			}
		}
	}
	if len(tried) < len(rowNames)/2 || told < 1000 || len(distinct) < len(d.args)/2 {
		t.Errorf("%v were tried, of %d arguments, %d results told", tried, len(distinct), told)
	}
}

// withPart is state words with what a value of row r adds.
func withPart(made []uint64, words []PartWord, d *testData, r int) []uint64 {
	for _, w := range words {
		if w.From == FromConstant {
			made[w.Word] += w.Constant
			continue
		}
		made[w.Word] = madeRow(OneRow{Words: []RowWord{w.RowWord}}, d, r)[0]
	}
	return made
}
