package egatest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Rig is a device. What it makes is closed at the end of the test.
type Rig struct{ *gputest.Rig }

// NewRig opens a device.
func NewRig(tb testing.TB) *Rig {
	tb.Helper()
	return &Rig{gputest.NewRig(tb, gputest.Open(tb))}
}

// Within is a context that ends when what is waited for has not come in time.
func (r *Rig) Within(what string) context.Context {
	ctx, cancel := bounded.Context(what)
	r.TB.Cleanup(cancel)
	return ctx
}

// Load loads the kernels of a layout.
func (r *Rig) Load(l ega.Layout) *ega.Kernels {
	r.TB.Helper()
	return gputest.Make(r.TB, func() (*ega.Kernels, error) { return ega.Load(r.Thread, l) })
}

// Table is an empty table.
func (r *Rig) Table(k *ega.Kernels, c ega.TableConfig) *ega.Table {
	r.TB.Helper()
	t := gputest.Keep(r.TB, func() (*ega.Table, error) { return ega.NewTable(k, c) })
	r.Do(t.Clear(r.Stream))
	return t
}

// Space is device memory of n words.
func (r *Rig) Space(n int) cuda.Span {
	r.TB.Helper()
	return gputest.Keep(r.TB, func() (*cuda.Memory, error) { return r.Thread.Alloc(cuda.Size(8 * max(n, 1))) }).Span()
}

// Put writes words to device memory.
func (r *Rig) Put(to cuda.Span, words []uint64) {
	r.TB.Helper()
	r.Write64(to, words)
}

// Send is words in device memory of their own.
func (r *Rig) Send(words []uint64) cuda.Span {
	r.TB.Helper()
	span := r.Space(len(words))
	r.Put(span, words)
	return span
}

// Read waits for the stream and reads n words.
func (r *Rig) Read(from cuda.Span, n int) []uint64 {
	r.TB.Helper()
	return r.Read64(from, n)
}

// Collect is the groups of a table, and the rows without a slot.
func (r *Rig) Collect(t *ega.Table, l *ega.Layout, slots int) (groups, rest []uint64) {
	r.TB.Helper()
	out := r.Space((slots + 1) * l.Stride())
	r.Do(t.Collect(r.Stream, out))
	r.Do(r.Stream.Synchronize())
	counts, err := t.Count()
	r.Do(err)
	return r.Read(out, int(counts.Groups)*l.Stride()), r.Read(t.RestRows(), int(counts.Rest)*l.Stride())
}

// Same compares groups with those of the twin, in any order.
func (r *Rig) Same(l *ega.Layout, got, want []uint64) {
	r.TB.Helper()
	if err := Difference(l, got, want); err != nil {
		r.TB.Fatal(err)
	}
}

// Difference says where groups differ from those of the twin, in any order.
func Difference(l *ega.Layout, got, want []uint64) error {
	g, w := sorted(l, got), sorted(l, want)
	if len(g) != len(w) {
		return fmt.Errorf("%d groups, want %d", len(g), len(w))
	}
	for i := range g {
		for j := range g[i] {
			if !sameWord(l, g[i], w[i], j) {
				return fmt.Errorf("group %d, word %d: row %#x, want %#x", i, j, g[i], w[i])
			}
		}
	}
	return nil
}

// sameWord compares word j of two rows: exactly, but for a compensated sum,
// which with its error has to agree to 1e-12.
func sameWord(l *ega.Layout, a, b []uint64, j int) bool {
	before := l.Stride() - len(l.Ops)
	if j < before {
		return a[j] == b[j]
	}
	switch i := j - before; l.Ops[i] {
	case combine.Sum, combine.SumFine:
		x, y := Total(a[before:], i, l.Mates[i]), Total(b[before:], i, l.Mates[i])
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-12*math.Abs(y)
	case combine.SumError:
		return true
	}
	return a[j] == b[j]
}

// Total is a compensated sum as one number.
func Total(states []uint64, i, mate int) float64 {
	s := math.Float64frombits(states[i])
	if math.IsInf(s, 0) {
		return s
	}
	return s + math.Float64frombits(states[mate])
}

// sorted is rows in the order of their keys.
func sorted(l *ega.Layout, rows []uint64) [][]uint64 {
	list := slices.Collect(slices.Chunk(rows, l.Stride()))
	before := l.Stride() - len(l.Ops)
	slices.SortFunc(list, func(a, b []uint64) int {
		return cmp.Or(slices.Compare(a[before-l.KeyWords:before], b[before-l.KeyWords:before]), slices.Compare(a, b))
	})
	return list
}
