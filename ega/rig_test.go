package ega_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// rig is a device. What it makes is closed at the end of the test.
type rig struct {
	tb     testing.TB
	thread *cuda.Thread
	stream *cuda.Stream
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	r := &rig{tb: tb, thread: gputest.Open(tb)}
	r.stream = gputest.Keep(tb, r.thread.NewStream)
	return r
}

// within is a context that ends when what is waited for has not come in time.
func (r *rig) within(what string) context.Context {
	ctx, cancel := bounded.Context(what)
	r.tb.Cleanup(cancel)
	return ctx
}

// do ends the test at an error.
func (r *rig) do(err error) {
	r.tb.Helper()
	if err != nil {
		r.tb.Fatal(err)
	}
}

func (r *rig) load(l ega.Layout) *ega.Kernels {
	r.tb.Helper()
	return gputest.Make(r.tb, func() (*ega.Kernels, error) { return ega.Load(r.thread, l) })
}

func (r *rig) table(k *ega.Kernels, c ega.TableConfig) *ega.Table {
	r.tb.Helper()
	t := gputest.Keep(r.tb, func() (*ega.Table, error) { return ega.NewTable(k, c) })
	r.do(t.Clear(r.stream))
	return t
}

// space is device memory of n words.
func (r *rig) space(n int) cuda.Span {
	r.tb.Helper()
	return gputest.Keep(r.tb, func() (*cuda.Memory, error) { return r.thread.Alloc(cuda.Size(8 * max(n, 1))) }).Span()
}

// put writes words to device memory.
func (r *rig) put(to cuda.Span, words []uint64) {
	r.tb.Helper()
	r.do(r.thread.Write(to.Slice(0, cuda.Size(8*len(words))), bytesOf(words)))
}

func bytesOf(words []uint64) []byte {
	raw := make([]byte, 0, 8*len(words))
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint64(raw, w)
	}
	return raw
}

// send is words in device memory of their own.
func (r *rig) send(words []uint64) cuda.Span {
	r.tb.Helper()
	span := r.space(len(words))
	r.put(span, words)
	return span
}

// read waits for the stream and reads n words.
func (r *rig) read(from cuda.Span, n int) []uint64 {
	r.tb.Helper()
	r.do(r.stream.Synchronize())
	raw := make([]byte, 8*n)
	r.do(r.thread.Read(raw, from.Slice(0, cuda.Size(len(raw)))))
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return out
}

// collect is the groups of a table, and the rows without a slot.
func (r *rig) collect(t *ega.Table, l *ega.Layout, slots int) (groups, rest []uint64) {
	r.tb.Helper()
	out := r.space((slots + 1) * l.Stride())
	r.do(t.Collect(r.stream, out))
	r.do(r.stream.Synchronize())
	counts, err := t.Count()
	r.do(err)
	return r.read(out, int(counts.Groups)*l.Stride()), r.read(t.RestRows(), int(counts.Rest)*l.Stride())
}

// same compares groups with those of the twin, in any order.
func (r *rig) same(l *ega.Layout, got, want []uint64) {
	r.tb.Helper()
	if err := difference(l, got, want); err != nil {
		r.tb.Fatal(err)
	}
}

func difference(l *ega.Layout, got, want []uint64) error {
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
	case ega.Sum, ega.SumFine:
		x, y := total(a[before:], i, l.Mates[i]), total(b[before:], i, l.Mates[i])
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-12*math.Abs(y)
	case ega.SumError:
		return true
	}
	return a[j] == b[j]
}

// total is a compensated sum as one number.
func total(states []uint64, i, mate int) float64 {
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
