package main

import (
	"errors"
	"math/bits"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// queue is a ring of free pages with ticket counters: the plain queue of the
// paper, one ticket a thread, or one ticket for the lanes of a warp.
type queue struct {
	*bench
	kernels *kerneltest.QueueBench
	warp    bool
	ring    kerneltest.PageQueue
	slots   *cuda.Memory
	pages   int // of the pool
	free    int
}

// queueCounters is the words of a queue's counters (queue.cuh, QUEUE_COUNTERS).
const queueCounters = 96

// serialMost is the largest burst of the serial queue. Its threads take turns: four
// times as many take sixteen times as many tries. Those are counted up to serialSteps.
const (
	serialMost  = 1 << 14
	serialSteps = 1 << 13
)

func newQueue(b *bench, pages int, warp bool) (*queue, error) {
	q := &queue{bench: b, warp: warp, pages: pages}
	size := 1 << bits.Len(uint(pages-1))
	var err error
	if q.slots, err = b.thread.Alloc(cuda.Size(4*size + 4*queueCounters)); err != nil {
		return nil, err
	}
	q.ring = kerneltest.PageQueue{
		Counters: q.slots.Span().Ptr, Slots: q.slots.Span().Ptr + 4*queueCounters, Mask: uint32(size - 1),
	}
	if q.kernels, err = kerneltest.LoadQueueBench(b.thread); err != nil {
		return nil, errors.Join(err, q.slots.Close())
	}
	return q, nil
}

func (q *queue) close() error { return q.slots.Close() }

func (q *queue) name() string {
	if q.warp {
		return "queue, warps"
	}
	return "queue"
}

func (q *queue) fill(_ *cuda.Stream, share float64) (int, error) {
	q.free = int(share * float64(q.pages))
	return q.free, nil
}

func (q *queue) reset(s *cuda.Stream) error {
	return q.kernels.Fill(s, grid(int(q.ring.Mask)+1), q.ring, uint32(q.free))
}

func (q *queue) get(s *cuda.Stream, n int) error {
	launch := q.kernels.Get
	if q.warp {
		launch = q.kernels.GetWarp
	}
	return launch(s, grid(n), q.ring, q.held.Span().Ptr, uint32(n))
}

func (q *queue) give(s *cuda.Stream, n int) error {
	launch := q.kernels.Free
	if q.warp {
		launch = q.kernels.FreeWarp
	}
	return launch(s, grid(n), q.ring, q.held.Span().Ptr, uint32(n))
}

func (q *queue) check(n int) error { return q.checkHeld(n, 4, uint64(noPage)) }

// serialQueue is the queue as the paper's analysis sees it, where a step is a
// thread's wait for another one: tickets are taken by compare-and-swap. Its ring is
// another one's.
type serialQueue struct{ *queue }

func (q serialQueue) name() string { return nameSerial }

func (q serialQueue) close() error { return nil }

func (q serialQueue) most() int { return serialMost }

func (q serialQueue) get(s *cuda.Stream, n int) error {
	return q.kernels.GetSerial(s, grid(n), q.ring, q.held.Span().Ptr, uint32(n))
}

func (q serialQueue) count(s *cuda.Stream, n int) (steps, error) {
	if n > serialSteps {
		return steps{}, nil
	}
	c, err := q.counted(s, 4, func(counts cuda.Ptr) error {
		return q.kernels.GetSteps(s, grid(n), q.ring, q.held.Span().Ptr, uint32(n), counts)
	})
	if err != nil {
		return steps{}, err
	}
	return steps{Thread: ratio(c[1], c[0]), Warp: ratio(c[3], c[2])}, nil
}

func (serialQueue) formulas(b reference.Steps) formulas {
	return formulas{Thread: b.Queue(), Warp: b.QueueWarp(), Bound: true}
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
