package gpumem_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// piece is memory in a pool, from and to by offset.
type piece struct{ from, to uint64 }

// malloc lets n threads ask for memory and returns what they got, in order of its
// place. size says how much thread i asked for.
func (r *poolRig) malloc(p *gpumem.Pool, ask kerneltest.PageMalloc, size func(int) uint64) []piece {
	r.TB.Helper()
	out := r.Words(2*int(ask.N), 0)
	ask.Out = out.Ptr
	r.Do(r.bench.Malloc(r.Stream, gputest.Threads(int(ask.N)), p.View(), ask))
	var got []piece
	raw := r.Bytes(out)
	for i := range int(ask.N) {
		if from := binary.LittleEndian.Uint64(raw[8*i:]); from != 1<<64-1 {
			got = append(got, piece{from, from + size(i)})
		}
	}
	slices.SortFunc(got, func(a, b piece) int { return int(a.from>>4) - int(b.from>>4) })
	if ask.AtOnce == 0 {
		r.Do(r.bench.MallocFree(r.Stream, gputest.Threads(int(ask.N)), p.View(), ask))
	}
	return got
}

// apart wants pieces to lie in the pool and not on one another.
func (r *poolRig) apart(p *gpumem.Pool, got []piece) {
	r.TB.Helper()
	end := uint64(0)
	for _, g := range got {
		if g.from < end || g.from%16 != 0 {
			r.TB.Fatalf("memory from %d to %d, another one's ends at %d", g.from, g.to, end)
		}
		end = g.to
	}
	if size := uint64(p.Capacity()) << p.View().PageShift; end > size {
		r.TB.Fatalf("memory up to %d of a pool of %d bytes", end, size)
	}
}

// The scenarios of the paper (§5.2.3), in a pool that has just been made:
// each request is served, apart from the others.
func TestMalloc(t *testing.T) {
	n := uint32(scale(100, 500, 1<<18))
	for _, c := range []struct{ bytes, atOnce, pages uint32 }{
		{bytes: 16, pages: 1},
		{bytes: 256, pages: 2},
		{bytes: 1024, pages: 8},
		{bytes: 4096, pages: 32},
		{bytes: 8192, pages: 64},
		{bytes: 4096, atOnce: 1, pages: 16},
		{bytes: 100, pages: 1},
		{bytes: 129, pages: 2},
	} {
		t.Run(fmt.Sprintf("bytes=%d/at_once=%d", c.bytes, c.atOnce), func(t *testing.T) {
			r := newPoolRig(t)
			p := r.pool(gpumem.Config{Pages: n * c.pages, PageBytes: 256, Parts: true})
			got := r.malloc(p, kerneltest.PageMalloc{N: n, Bytes: c.bytes, AtOnce: c.atOnce}, func(int) uint64 { return uint64(c.bytes) })
			if len(got) != int(n) && c.atOnce == 0 {
				t.Errorf("%d of %d requests served", len(got), n)
			}
			if c.atOnce == 0 {
				r.apart(p, got)
			}
			if free := r.free(p); free != int(p.Capacity()) {
				t.Errorf("%d of %d pages are free in the end", free, p.Capacity())
			}
		})
	}
}

// 32 requests of 16 bytes share two pages of 256.
func TestMallocPacksSmallRequests(t *testing.T) {
	r := newPoolRig(t)
	p := r.pool(gpumem.Config{Pages: 100, PageBytes: 256, Parts: true})
	got := r.malloc(p, kerneltest.PageMalloc{N: 32, Bytes: 16}, func(int) uint64 { return 16 })
	r.apart(p, got)
	if len(got) != 32 || got[31].to-got[0].from != 512 {
		t.Errorf("%v: not 512 bytes in a row", got)
	}
}

// A run is found wherever it is, over the border of two words too, and only there;
// and nothing longer than the limit.
func TestMallocFindsTheOnlyRun(t *testing.T) {
	const pages = 3000
	for _, run := range []struct{ at, n uint32 }{{0, 1}, {31, 1}, {31, 2}, {64, 32}, {70, 32}, {95, 32}, {2990, 10}, {2999, 1}} {
		t.Run(fmt.Sprintf("page=%d/pages=%d", run.at, run.n), func(t *testing.T) {
			r := newPoolRig(t)
			p := r.pool(gpumem.Config{Pages: pages, PageBytes: 256})
			r.fill(p, 0)
			words := r.Read(cuda.Span{Ptr: p.View().Words, Size: 4 * 128})
			for page := run.at; page < run.at+run.n; page++ {
				words[page/32] &^= 1 << (page % 32)
			}
			r.Do(r.Stream.Copy(cuda.Span{Ptr: p.View().Words, Size: 4 * 128}, r.Write(words)))
			got := r.malloc(p, kerneltest.PageMalloc{N: 7, Bytes: 256 * run.n}, func(int) uint64 { return uint64(256 * run.n) })
			if len(got) != 1 || got[0].from != uint64(run.at)*256 {
				t.Errorf("got %v, want one at %d", got, run.at*256)
			}
			if free := r.free(p); free != int(run.n) {
				t.Errorf("%d pages are free in the end, want %d", free, run.n)
			}
			if more := r.malloc(p, kerneltest.PageMalloc{N: 7, Bytes: 256*run.n + 1}, func(int) uint64 { return 0 }); len(more) != 0 {
				t.Errorf("got a run that is not there: %v", more)
			}
		})
	}
}

// More pages than a run may have are refused, not searched for.
func TestMallocRefusesTooMuch(t *testing.T) {
	r := newPoolRig(t)
	p := r.pool(gpumem.Config{Pages: 1000, PageBytes: 256, Parts: true})
	if got := r.malloc(p, kerneltest.PageMalloc{N: 33, Bytes: 256*gpumem.MaxRun + 1}, func(int) uint64 { return 0 }); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
