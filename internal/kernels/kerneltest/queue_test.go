package kerneltest_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// A queue of pages as the tests make it.
const (
	queueNone     = uint32(1<<32 - 1)
	queueCounters = 96 // words, queue.cuh
)

// queueRig is a device with the kernels that the tests of the queue use.
type queueRig struct {
	*gputest.Rig
	bench  *kerneltest.QueueBench
	stress *kerneltest.QueueStress
}

func newQueueRig(tb testing.TB) *queueRig {
	tb.Helper()
	r := &queueRig{Rig: gputest.NewRig(tb, gputest.Open(tb))}
	r.bench = gputest.Load(tb, r.Thread, kerneltest.LoadQueueBench)
	r.stress = gputest.Load(tb, r.Thread, kerneltest.LoadQueueStress)
	return r
}

// queue is a ring of slots, with pages in it: as many as slots at most (QUEUE-FULL).
func (r *queueRig) queue(slots, pages int) kerneltest.PageQueue {
	r.TB.Helper()
	q := kerneltest.PageQueue{Slots: r.Words(slots, 0).Ptr, Counters: r.Words(queueCounters, 0).Ptr, Mask: uint32(slots - 1)}
	r.Do(r.bench.Fill(r.Stream, warps(slots), q, uint32(pages)))
	return q
}

// warps is a grid of whole warps with a thread for each of n, and at least one.
func warps(n int) cuda.Grid {
	const block = 128
	return cuda.Grid{Blocks: uint32(max(n+block-1, block) / block), Threads: block}
}

// get takes n pages by one of the kernels.
func (r *queueRig) get(q kerneltest.PageQueue, n int, warp bool) []uint32 {
	r.TB.Helper()
	out, launch := r.Words(n, 0), r.bench.Get
	if warp {
		launch = r.bench.GetWarp
	}
	r.Do(launch(r.Stream, warps(n), q, out.Ptr, uint32(n)))
	return r.Read(out)
}

// give gives pages back, in device memory as get left them.
func (r *queueRig) give(q kerneltest.PageQueue, pages []uint32, warp bool) {
	r.TB.Helper()
	in, launch := r.Words(len(pages), 0), r.bench.Free
	if warp {
		launch = r.bench.FreeWarp
	}
	raw := make([]byte, 0, 4*len(pages))
	for _, p := range pages {
		raw = binary.LittleEndian.AppendUint32(raw, p)
	}
	r.Do(r.Stream.Synchronize())
	r.Do(r.Thread.Write(in, raw))
	r.Do(launch(r.Stream, warps(len(pages)), q, in.Ptr, uint32(len(pages))))
	r.Do(r.Stream.Synchronize())
}

// pagesOf wants different pages below limit, and returns how many there are.
func pagesOf(tb testing.TB, got []uint32, limit int) int {
	tb.Helper()
	pages := slices.DeleteFunc(slices.Clone(got), func(p uint32) bool { return p == queueNone })
	slices.Sort(pages)
	if len(pages) > 0 && int(pages[len(pages)-1]) >= limit {
		tb.Fatalf("page %d of %d", pages[len(pages)-1], limit)
	}
	if distinct := len(slices.Compact(slices.Clone(pages))); distinct != len(pages) {
		tb.Fatalf("%d pages were handed out, %d different ones", len(pages), distinct)
	}
	return len(pages)
}

// No page is handed out twice (QUEUE-ONCE) and none is lost, with fewer requests than pages,
// as many, and more, and the ring going round.
func TestQueueOnce(t *testing.T) {
	for _, c := range []struct{ slots, pages int }{{1, 1}, {64, 33}, {1024, 1000}, {4096, 4096}} {
		for _, warp := range []bool{false, true} {
			t.Run(fmt.Sprintf("slots=%d/pages=%d/warp=%v", c.slots, c.pages, warp), func(t *testing.T) {
				r := newQueueRig(t)
				q := r.queue(c.slots, c.pages)
				for _, n := range []int{1, 31, 32, 33, c.pages, c.pages + 77} {
					got := r.get(q, n, warp)
					if want := min(n, c.pages); pagesOf(t, got, c.pages) != want {
						t.Fatalf("n=%d: %d pages, want %d", n, pagesOf(t, got, c.pages), want)
					}
					r.give(q, got, warp)
				}
			})
		}
	}
}

// Threads get and give back at random, with pages for all of them and for some, and none waits for
// ever (QUEUE-ENDS).
func TestQueueChurn(t *testing.T) {
	n, rounds := 512, 60
	if !gputest.Emulated() && !testing.Short() {
		n, rounds = 1<<20, 100
	}
	for _, pages := range []int{n, n / 4, 7} {
		for _, warp := range []uint32{0, 1} {
			t.Run(fmt.Sprintf("threads=%d/pages=%d/warp=%d", n, pages, warp), func(t *testing.T) {
				r := newQueueRig(t)
				q := r.queue(n, pages)
				owners, held := r.Words(n, 0), r.Words(n, 0)
				faults := r.Words(int(unsafe.Sizeof(kerneltest.OwnerFaults{})/4), 0)
				r.Do(r.stress.Churn(r.Stream, warps(n), q, uint32(rounds), warp, 3, owners.Ptr, held.Ptr, faults.Ptr))
				f := r.Read(faults)
				if f[0] != 0 || f[1] != 0 || f[2] != 0 || (f[3] != 0) != (pages < n) {
					t.Errorf("twice %d, strange %d, spoiled %d, refused %d", f[0], f[1], f[2], f[3])
				}
				kept := r.Read(held)
				pagesOf(t, kept, pages)
				r.give(q, kept, warp == 1)
				if back := pagesOf(t, r.get(q, pages+1, warp == 1), pages); back != pages {
					t.Errorf("%d pages came back, want %d", back, pages)
				}
			})
		}
	}
}

// Every thread makes a step at least, and of a warp the slowest lane counts.
func TestQueueSteps(t *testing.T) {
	r := newQueueRig(t)
	const n = 333
	q, out := r.queue(512, 512), r.Words(n, 0)
	counts := r.Words(int(unsafe.Sizeof(kerneltest.QueueSteps{})/4), 0)
	r.Do(r.bench.GetSteps(r.Stream, warps(n), q, out.Ptr, n, counts.Ptr))
	if got := pagesOf(t, r.Read(out), 512); got != n {
		t.Errorf("%d pages, want %d", got, n)
	}
	c := r.Read(counts)
	threads, steps, warps, most := c[0], c[2], c[4], c[6]
	if threads != n || warps != (n+31)/32 || steps < threads || most < warps || most > steps {
		t.Errorf("threads %d, steps %d, warps %d, steps of the slowest %d", threads, steps, warps, most)
	}
}
