package ondevice_test

import (
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// The kernels of paper 003, which bench/scatter measures ours against, do the same.
func TestPaperScatter(t *testing.T) {
	const n, tile, threads = 10_000, 1000, 128 // 8 rows a thread
	for _, c := range []struct{ stride, bits, skew int }{{2, 5, 0}, {3, 8, 0}, {2, 3, 1}} {
		t.Run(fmt.Sprintf("stride=%d/bits=%d/%s", c.stride, c.bits, skews[c.skew].name), func(t *testing.T) {
			r := newDeviceRig(t)
			bench := load(r, kerneltest.LoadScatterBench)
			scatter := load(r, kerneltest.LoadEgaScatter)
			d := ondevice.Rows{Stride: c.stride, Bits: uint(c.bits)}
			words := rows(n, c.stride, skews[c.skew].word)
			src, dst := r.write(words), r.span(len(words))
			index, next := r.span(n), r.span(1<<c.bits)
			from, all := r.span(1<<c.bits), r.write([]uint64{n << 32})
			r.Do(r.Stream.Fill(next, 0))

			view := kernels.ScatterRows{Words: src.Ptr, Count: n, Stride: uint32(c.stride), Hashed: 1, Bits: uint32(c.bits), Most: tile}
			level := kernels.ScatterLevel{Rows: view, From: all.Ptr, Next: next.Ptr, Segments: 1}
			grid := cuda.Grid{Blocks: n / tile, Threads: threads, Shared: 4 << c.bits}
			r.Do(bench.Index(r.Stream, grid, view, next.Ptr, index.Ptr))
			r.Do(scatter.Prefix(r.Stream, kerneltest.PrefixGrid(1, uint32(c.bits)), level, from.Ptr))
			r.Do(bench.Final(r.Stream, threadsFor(n), view, from.Ptr, index.Ptr, dst.Ptr))

			got := r.Read64(dst, len(words))
			sameRows(t, got, words, c.stride)
			for i := range n - 1 {
				if a, b := d.Partition(got[i*c.stride:]), d.Partition(got[(i+1)*c.stride:]); a > b {
					t.Fatalf("row %d is of partition %d, the next one of %d", i, a, b)
				}
			}
		})
	}
}

// threadsFor is a grid with fewer threads than n.
func threadsFor(n int) cuda.Grid { return cuda.Grid{Blocks: uint32(n/128/2 + 1), Threads: 128} }

// The rows of the bench are as many different ones as they should be.
func TestBenchRows(t *testing.T) {
	const n, stride = 3000, 3
	for skewed, want := range map[uint32][2]int{0: {n, n}, 1: {1, 1}, 2: {500, n - 500}} {
		r := newDeviceRig(t)
		bench := load(r, kerneltest.LoadScatterBench)
		span := r.span(n * stride)
		r.Do(bench.Fill(r.Stream, threadsFor(n), span.Ptr, n, stride, skewed))
		keys := map[uint64]int{}
		for i, w := range r.Read64(span, n*stride) {
			if i%stride == 0 {
				keys[w]++
			} else if w != uint64(i/stride) {
				t.Fatalf("word %d is %d", i, w)
			}
		}
		if len(keys) < want[0] || len(keys) > want[1] {
			t.Errorf("skew %d: %d keys, want %d to %d", skewed, len(keys), want[0], want[1])
		}
	}
}
