package ondevice_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// deviceRig is a device with memory for words of 64 bits.
type deviceRig struct{ *gputest.Rig }

func newDeviceRig(tb testing.TB) *deviceRig {
	tb.Helper()
	return &deviceRig{gputest.NewRig(tb, gputest.Open(tb))}
}

func load[T any](r *deviceRig, open func(*cuda.Thread) (T, error)) T {
	r.TB.Helper()
	return gputest.Load(r.TB, r.Thread, open)
}

// span is device memory for words of 64 bits, each of which begins as ~0.
func (r *deviceRig) span(words int) cuda.Span {
	r.TB.Helper()
	span := gputest.Keep(r.TB, func() (*cuda.Memory, error) { return r.Thread.Alloc(cuda.Size(8 * max(words, 1))) }).Span()
	r.Do(r.Stream.Fill(span, 0xff))
	r.Do(r.Stream.Synchronize())
	return span
}

func (r *deviceRig) write(words []uint64) cuda.Span {
	r.TB.Helper()
	span := r.span(len(words))
	r.Write64(span, words)
	return span
}

// wordOf is the first word of row i.
type wordOf = func(rng *rand.Rand, i int) uint64

// skews are how the first words of rows are made: of what comes out of hashing,
// and of what does not.
var skews = []struct {
	name string
	word wordOf
}{
	{"uniform", func(rng *rand.Rand, _ int) uint64 { return rng.Uint64() }},
	{"one", func(*rand.Rand, int) uint64 { return 0x123456789abcdef0 }},
	{"ones", func(*rand.Rand, int) uint64 { return ^uint64(0) }},
	{"two", func(rng *rand.Rand, _ int) uint64 { return -(rng.Uint64() & 1) }},
	{"most-one", func(rng *rand.Rand, _ int) uint64 {
		if rng.IntN(10) > 0 {
			return 5 << 40
		}
		return rng.Uint64()
	}},
	{"sorted", func(_ *rand.Rand, i int) uint64 { return uint64(i) << 46 }},
}

// rows makes n rows of which each has its number in its last word and other words that
// follow from it.
func rows(n, stride int, word wordOf) []uint64 {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(stride)))
	words := make([]uint64, 0, n*stride)
	for i := range n {
		words = append(words, word(rng, i))
		for k := 1; k < stride; k++ {
			words = append(words, uint64(i)<<8|uint64(k))
		}
	}
	return words
}

// sameRows wants two sets of rows to have the same rows, each as often, in any order.
func sameRows(tb testing.TB, got, want []uint64, stride int) {
	tb.Helper()
	if len(got) != len(want) {
		tb.Fatalf("%d rows, want %d", len(got)/stride, len(want)/stride)
	}
	sorted := func(words []uint64) [][]uint64 {
		return slices.SortedFunc(slices.Chunk(words, stride), slices.Compare)
	}
	g, w := sorted(got), sorted(want)
	for i := range w {
		if !slices.Equal(g[i], w[i]) {
			tb.Fatalf("row %d in order is %x, want %x", i, g[i], w[i])
		}
	}
}

// checkPartition wants all rows to be of partition p.
func checkPartition(tb testing.TB, d ondevice.Rows, words []uint64, p int) {
	tb.Helper()
	for row := range slices.Chunk(words, d.Stride) {
		if got := d.Partition(row); got != p {
			tb.Fatalf("row %x is in partition %d, want %d", row, p, got)
		}
	}
}
