package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// deviceGenerators are the columns of the device's tests.
var deviceGenerators = []generator{
	ints(column.Int32), ints(column.Int64), ints(column.Uint64), ints(column.Uint32), ints(column.Bool),
	decimals(9, 2), decimals(18, 4), decimals(30, 4), decimals(60, 4),
	floatsOf(column.Float64, func(rng *rand.Rand) float64 { return 1e3 + rng.NormFloat64() }),
	oddFloats(column.Float32), ints(column.Timestamp),
	stringsOf(column.Type{Kind: column.String}),
	floatsOf(column.Float64, func(*rand.Rand) float64 { return 1e9 / 3 }), // has no variance
}

// deviceNames are the aggregates that the device may combine, for some types.
var deviceNames = []string{
	"count", "sum", "mean", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor",
	"var_samp", "stddev_pop", "covar_samp", "corr", "skewness", "kurtosis", "first", "last", "arg_min", "arg_max",
}

// randomCalls are calls on random columns, such as resolve.
func randomCalls(rng *rand.Rand, d *testData, n int) []Call {
	calls := []Call{}
	for len(calls) < n {
		name := deviceNames[rng.IntN(len(deviceNames))]
		c := Call{Args: []int{rng.IntN(len(d.args))}}
		switch name {
		case "arg_min", "arg_max":
			c.Args = append(c.Args, rng.IntN(len(d.args)))
		case "corr", "covar_samp":
			// not the last, of which only rounding remains
			c.Args = []int{rng.IntN(len(d.args) - 1), rng.IntN(len(d.args) - 1)}
		}
		for _, a := range c.Args {
			c.Types = append(c.Types, d.args[a][0].Type)
		}
		if (name == "min" || name == "max") && rng.IntN(2) == 0 {
			c.Params = theBest(1 + rng.IntN(4))
		}
		if f, _, err := Resolve(name, c.Types, c.Params); err == nil {
			c.Func = f
			calls = append(calls, c)
		}
	}
	return calls
}

// theBest is the parameter of min(x, n) and max(x, n).
func theBest(n int) []column.Value {
	return []column.Value{{Type: column.Type{Kind: column.Int64}, Int: int64(n)}}
}

// deviceLayout is the rows of testBase words before the states as the device
// takes them.
func deviceLayout(ops []combine.Op, mates []int) ega.Layout {
	return ega.Layout{Hash: true, KeyWords: testBase - 1, Ops: ops, Mates: mates}
}

// deviceRows makes the rows of d as they go to the device: each has the states of
// one input row or, for some, of the rows of a batch. The number of the group
// is the key.
func deviceRows(l *Layout, d *testData, rng *rand.Rand) (rows []uint64) {
	for _, part := range split(seq(len(d.gids)), rng) {
		single := &testData{groups: len(d.gids), args: d.args, gids: d.gids}
		if rng.IntN(2) == 0 {
			single.gids = make([]uint32, len(d.gids))
			for i := range single.gids {
				single.gids[i] = uint32(i)
			}
		}
		w := newWorker(l, &arena.Arenas{})
		w.update(single, part)
		done := map[uint32]bool{}
		for _, r := range part {
			id, _ := w.group(single.gids[r])
			if done[id] {
				continue
			}
			done[id] = true
			row := w.row(id)
			row[1], row[2] = uint64(d.gids[r]), uint64(d.gids[r])>>1
			row[0] = reference.HashOf(row[1:3])
			rows = append(rows, row...)
		}
	}
	return rows
}

// combinedRows is a worker with the groups that deviceRows and the device made.
func combinedRows(t *testing.T, l *Layout, rows []uint64) *worker {
	t.Helper()
	w := newWorker(l, &arena.Arenas{})
	for i := 0; i < len(rows); i += w.t.Stride {
		id, isNew := w.group(uint32(rows[i+1]))
		if !isNew {
			t.Fatalf("group %d comes twice", rows[i+1])
		}
		copy(w.row(id), rows[i:i+w.t.Stride])
	}
	return w
}

// agree compares the results of a worker with those of Update and Combine.
func agree(t *testing.T, l *Layout, d *testData, got *worker) {
	t.Helper()
	want, wantErr := ways["one batch"](l, d, testRand()).results(t, d.groups)
	have, err := got.results(t, d.groups)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("error %v, want %v", err, wantErr)
	}
	for c := range want {
		for g := range want[c] {
			if !same(have[c][g], want[c][g], deviceTolerance(l.calls[c].fn)) {
				t.Fatalf("%s of group %d: %s, want %s", l.calls[c].name(), g, show(have[c][g]), show(want[c][g]))
			}
		}
	}
}

// deviceTolerance is how far results of floats may be apart, relative to them.
func deviceTolerance(fn funcID) float64 {
	switch fn {
	case fnVarSamp, fnStddevPop, fnCovarSamp, fnCorr, fnSkewness, fnKurtosis:
		return 1e-9
	}
	return 1e-12
}

// forDevice calls f with random layouts that the device can combine, and with
// data of every shape.
func forDevice(t *testing.T, f func(t *testing.T, l *Layout, d *testData, layout ega.Layout)) {
	t.Helper()
	rng := testRand()
	tables(t, deviceGenerators, func(t *testing.T, d *testData) {
		for range 12 {
			calls := randomCalls(rng, d, rng.IntN(4))
			for _, maxRows := range []int64{-1, int64(len(d.gids))} {
				l := Compile(calls, testBase, Options{MaxRows: maxRows})
				ops, mates, why := l.DeviceOps()
				if why != "" || l.HasTexts() { // the twin has no memory for texts
					continue
				}
				layout := deviceLayout(ops, mates)
				if err := layout.Validate(); err != nil {
					t.Fatalf("%v of %v: %v", ops, l.calls, err)
				}
				f(t, l, d, layout)
			}
		}
	})
}

// The operations of the device, as its CPU twin does them, mean what Combine means.
func TestDeviceOps(t *testing.T) {
	t.Parallel()
	used := map[combine.Op]bool{}
	forDevice(t, func(t *testing.T, l *Layout, d *testData, layout ega.Layout) {
		for _, op := range layout.Ops {
			used[op] = true
		}
		rows := deviceRows(l, d, testRand())
		agree(t, l, d, combinedRows(t, l, reference.Combine(&layout, rows)))
		agree(t, l, d, combinedRows(t, l, combineAll(l, rows)))
	})
	for _, op := range []combine.Op{combine.Add, combine.AddLow, combine.AddLowInt, combine.AddMid, combine.Sum, combine.SumFine, combine.Least, combine.LeastMid, combine.LeastLast, combine.First, combine.Last, combine.Best, combine.MinInt, combine.MaxInt, combine.MinFloat, combine.MaxFloat, combine.And, combine.Or, combine.Xor} {
		if !used[op] {
			t.Errorf("no layout had operation %d", op)
		}
	}
}

// combineAll is reference.Combine by way of Layout.Combine.
func combineAll(l *Layout, rows []uint64) (out []uint64) {
	stride := testBase + l.Words()
	places := map[uint64]int{}
	for i := 0; i < len(rows); i += stride {
		row := rows[i : i+stride]
		if at, known := places[row[1]]; known {
			l.Combine(out[at:at+stride], row, nil, nil)
			continue
		}
		places[row[1]] = len(out)
		out = append(out, row...)
	}
	return out
}

const lacksList = "of lists, the device keeps those of all values alone, and of at most 64 bits"

// An aggregate that the device cannot combine is refused by name and reason.
func TestDeviceLacks(t *testing.T) {
	t.Parallel()
	d := randomData(testRand(), 10, 3, "none", deviceGenerators)
	const i32, wide, text = 0, 7, 12
	for _, c := range []struct {
		call Call
		want string
	}{
		{callOf(t, d, "median", text), "median(string): " + lacksList},
		{callOf(t, d, "mode", i32), "mode(int32): " + lacksList},
		{callOf(t, d, "list", i32), "list(int32): " + lacksList},
		{callOf(t, d, "max", wide), "max(decimal(30,4)): the device compares numbers of at most 64 bits"},
		{callOf(t, d, "product", i32), "product(int32): the device has no product with an exponent of its own"},
		{callOf(t, d, "first", wide), "first(decimal(30,4)): the device keeps values of at most 64 bits, and texts, by such keys"},
		{callOf(t, d, "arg_max", text, wide), "arg_max(string, decimal(30,4)): the device keeps values of at most 64 bits, and texts, by such keys"},
	} {
		sum := callOf(t, d, "sum", i32) // that one alone would do
		ops, _, why := Compile([]Call{sum, c.call}, testBase, Options{MaxRows: -1}).DeviceOps()
		if ops != nil || why != c.want {
			t.Errorf("%v and %q, want %q", ops, why, c.want)
		}
	}
	var many []Call
	for range combine.MaxWords + 1 {
		many = append(many, Call{Args: []int{len(many)}, Types: []column.Type{{Kind: column.Int32}}, Func: callOf(t, d, "max", i32).Func})
	}
	if ops, _, why := Compile(many, testBase, Options{MaxRows: -1}).DeviceOps(); ops != nil || !strings.Contains(why, fmt.Sprint(combine.MaxWords)) {
		t.Errorf("%d words: %v and %q", len(many), ops, why)
	}
}

// The states of a group without rows change nothing on the device either.
func TestDeviceEmpty(t *testing.T) {
	t.Parallel()
	d := randomData(testRand(), 20, 1, "some", deviceGenerators)
	rng := testRand()
	for range 50 {
		l := Compile(randomCalls(rng, d, 4), testBase, Options{MaxRows: math.MaxInt32})
		ops, mates, why := l.DeviceOps()
		if why != "" || l.HasTexts() {
			continue
		}
		layout := deviceLayout(ops, mates)
		empty := make([]uint64, testBase+l.Words())
		l.InitEmpty(empty)
		copy(empty, []uint64{reference.HashOf([]uint64{0, 0}), 0, 0})
		rows := append(empty, deviceRows(l, d, rng)...)
		agree(t, l, d, combinedRows(t, l, reference.Combine(&layout, rows)))
	}
}
