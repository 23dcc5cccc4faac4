package kerneltest_test

import (
	"math/bits"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// The bit intrinsics of 32 bits, at their ends too: nothing set, one bit, all.
func TestBitsOfWords(t *testing.T) {
	d := newDevice(t)
	a := []uint32{0, 1, 1 << 31, 1<<32 - 1, 0x80000001, 0x00010000}
	a = append(a, fill(500, func() uint32 { return d.draws.Uint32() >> d.draws.IntN(32) })...)
	b := fill(len(a), d.draws.Uint32)
	out := upload(d, make([]uint32, 5*len(a)))
	d.must(family(d, kerneltest.LoadBits).Words(d.stream, cuda.Grid{Blocks: 2, Threads: 64}, upload(d, a), upload(d, b), out, uint32(len(a))))
	var want []uint32
	for i, v := range a {
		high, _ := bits.Mul32(v, b[i])
		want = append(want, uint32(bits.OnesCount32(v)), first(bits.TrailingZeros32(v), v == 0),
			uint32(bits.LeadingZeros32(v)), bits.Reverse32(v), high)
	}
	expect(t, "words", download[uint32](d, out, len(want)), want)
}

// The bit intrinsics of 64 bits.
func TestBitsOfLongs(t *testing.T) {
	d := newDevice(t)
	a := []uint64{0, 1, 1 << 63, 1<<64 - 1, 1 << 32, 1<<32 - 1}
	a = append(a, fill(500, func() uint64 { return d.draws.Uint64() >> d.draws.IntN(64) })...)
	b := fill(len(a), d.draws.Uint64)
	out := upload(d, make([]uint64, 5*len(a)))
	d.must(family(d, kerneltest.LoadBits).Longs(d.stream, cuda.Grid{Blocks: 2, Threads: 64}, upload(d, a), upload(d, b), out, uint32(len(a))))
	var want []uint64
	for i, v := range a {
		high, _ := bits.Mul64(v, b[i])
		want = append(want, uint64(bits.OnesCount64(v)), uint64(first(bits.TrailingZeros64(v), v == 0)),
			uint64(bits.LeadingZeros64(v)), bits.Reverse64(v), high)
	}
	expect(t, "longs", download[uint64](d, out, len(want)), want)
}

// first is what __ffs gives: the lowest bit that is set, counted from 1, or 0.
func first(trailing int, none bool) uint32 {
	if none {
		return 0
	}
	return uint32(trailing + 1)
}
