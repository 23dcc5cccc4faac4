package ega_test

import (
	"math"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/internal/key"
)

var hashed = []int64{0, 1, -1, 42, math.MaxInt64, math.MinInt64, 0x0123456789abcdef}

// Golden vectors: a change of the hash changes the order of all results.
var golden = []uint64{
	0x1ff5c2923a788d2c, 0x38f94c439ac36242, 0xdff5c05abb606d30, 0x386afcf6dde9d8b4, 0xc07b01e244de76de, 0x1272020b0ade6099,
	0x7a159a859035c454,
}

// The CPU's hash, ours and the device's are one.
func TestHash(t *testing.T) {
	l := key.NewLayout([]key.Column{{Type: column.Type{Kind: column.Int64}}})
	e := key.NewEncoder(l, nil)
	e.Encode([]column.Vector{{Type: column.Type{Kind: column.Int64}, Len: len(hashed), Int: hashed}}, len(hashed))
	r := newRig(t)
	probe := gputest.Make(t, func() (*kerneltest.EgaProbe, error) { return kerneltest.LoadEgaProbe(r.Thread) })
	device := r.Space(len(hashed))
	words := make([]uint64, len(hashed))
	for i, v := range hashed {
		words[i] = uint64(v)
	}
	grid := cuda.Grid{Blocks: 1, Threads: 32}
	r.Do(probe.Hash(r.Stream, grid, kernels.EgaLayout{KeyWords: 1}, r.Send(words).Ptr, uint64(len(words)), device.Ptr))
	got := r.Read(device, len(words))
	for i, w := range words {
		if ours := reference.HashOf([]uint64{w}); ours != golden[i] || e.Hash[i] != golden[i] || got[i] != golden[i] {
			t.Errorf("hash of %#x: %#x here, %#x in the CPU engine, %#x on the device, want %#x", w, ours, e.Hash[i], got[i], golden[i])
		}
	}
}

// So they are for several words.
func TestHashOfWords(t *testing.T) {
	r := newRig(t)
	probe := gputest.Make(t, func() (*kerneltest.EgaProbe, error) { return kerneltest.LoadEgaProbe(r.Thread) })
	for keys := 1; keys <= ega.MaxKeyWords; keys++ {
		words := make([]uint64, 2*keys)
		for i := range words {
			words[i] = uint64(i*i) * 0x9e3779b97f4a7c15
		}
		out := r.Space(2)
		r.Do(probe.Hash(r.Stream, cuda.Grid{Blocks: 1, Threads: 32}, kernels.EgaLayout{KeyWords: uint32(keys)}, r.Send(words).Ptr, 2, out.Ptr))
		for i, got := range r.Read(out, 2) {
			if want := reference.HashOf(words[i*keys : (i+1)*keys]); got != want {
				t.Errorf("%d words: the device says %#x, want %#x", keys, got, want)
			}
		}
	}
}
