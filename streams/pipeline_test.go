package streams_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/streams"
)

// Every job is delivered, in pipelines of any shape, and in order on its lane.
func TestAllDelivered(t *testing.T) {
	for _, c := range []struct{ lanes, depth, slots, producers, jobs int }{
		{1, 1, 1, 1, 5},
		{1, 1, 1, 4, 20},
		{1, 3, 5, 1, 40},
		{2, 3, 8, 8, 100},
		{3, 2, 2, 3, 60},
		{8, 3, 26, 8, 200},
		{8, 1, 4, 2, 3},
		{2, 2, 4, 1, 0},
	} {
		name := fmt.Sprintf("lanes=%d/depth=%d/slots=%d/producers=%d/jobs=%d", c.lanes, c.depth, c.slots, c.producers, c.jobs)
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			slow(t)
			config := small()
			config.Streams, config.Depth, config.Slots = c.lanes, c.depth, c.slots
			order := newOrder(c.lanes)
			jobs := r.jobs(c.jobs, 7, order.hook)
			must(t, r.run(context.Background(), t, config, jobs, c.producers))
			for _, j := range jobs {
				if j.delivered.Load() != 1 {
					t.Errorf("job %d is delivered %d times", j.number, j.delivered.Load())
				}
			}
			order.check(t)
		})
	}
}

// order notes in which order the lanes take and deliver jobs.
type order struct {
	mu               sync.Mutex
	taken, delivered map[int][]int // by lane
	lanes            int
}

func newOrder(lanes int) *order {
	return &order{taken: map[int][]int{}, delivered: map[int][]int{}, lanes: lanes}
}

func (o *order) hook(method string, j *job) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch method {
	case "Launch":
		o.taken[j.lane] = append(o.taken[j.lane], j.number)
	case "Deliver":
		o.delivered[j.lane] = append(o.delivered[j.lane], j.number)
	}
	return nil
}

func (o *order) check(t *testing.T) {
	t.Helper()
	for lane, taken := range o.taken {
		if lane < 0 || lane >= o.lanes || !slices.Equal(taken, o.delivered[lane]) {
			t.Errorf("lane %d takes %v and delivers %v", lane, taken, o.delivered[lane])
		}
	}
}

// An input that is pinned already is copied from where it lies, in one piece or
// many.
func TestPinnedInput(t *testing.T) {
	r := newRig(t)
	slow(t)
	pinned := r.pinned(t, 8*maxWords)
	for seed, cuts := range [][]cuda.Size{{0, 800}, {0, 80, 80, 800}, {800, 1600}, {0, 0}} {
		p, err := streams.Start(within(t, "the end of a pipeline"), r.context, small())
		must(t, err)
		var input []cuda.PinnedSpan
		for i := range len(cuts) - 1 {
			input = append(input, pinned.Span(cuts[i], cuts[i+1]))
		}
		words := int(cuts[len(cuts)-1]-cuts[0]) / 8
		jobs := make([]*job, 20) // more than may be under way
		for i := range jobs {
			jobs[i] = &job{rig: r, seed: uint64(seed), words: words, sums: words / 10}
		}
		jobs[0].fill(pinned.Bytes()[cuts[0]:])
		for _, j := range jobs {
			must(t, p.SubmitPinned(j, input...))
		}
		must(t, p.Finish())
		must(t, p.Close())
		for _, j := range jobs {
			if n := j.delivered.Load(); n != 1 {
				t.Errorf("cuts %v: delivered %d times", cuts, n)
			}
		}
	}
}

// pinned is pinned memory until the test ends.
func (r *rig) pinned(t *testing.T, n cuda.Size) *cuda.Pinned {
	t.Helper()
	thread, err := r.context.Lock()
	must(t, err)
	defer thread.Unlock()
	m, err := thread.AllocPinned(n)
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// A lent input comes back without bytes, and a longer one than a stage takes is
// refused.
func TestPinnedInputReturned(t *testing.T) {
	r := newRig(t)
	pinned := r.pinned(t, 8*maxWords+8)
	p, err := streams.Start(within(t, "the end of a pipeline"), r.context, small())
	must(t, err)
	fault := errors.New("no")
	failing := func() *job {
		return &job{rig: r, words: 10, sums: 1, hook: func(string, *job) error { return fault }}
	}
	if err := p.SubmitPinned(failing(), pinned.Span(0, 8*maxWords+8)); err == nil || errors.Is(err, streams.ErrStopped) {
		t.Errorf("a long input: %v", err)
	}
	for err == nil { // until producers are told
		err = p.SubmitPinned(failing(), pinned.Span(0, 80))
	}
	if !errors.Is(err, streams.ErrStopped) || !errors.Is(err, fault) {
		t.Errorf("producers are told %v", err)
	}
	if err := p.Finish(); !errors.Is(err, fault) {
		t.Errorf("Finish: %v", err)
	}
	if s := p.Stats(); s.Submitted == 0 || len(p.Returned()) != s.Submitted || p.Returned()[0].Input != nil {
		t.Errorf("%d of %d jobs are returned", len(p.Returned()), s.Submitted)
	}
	must(t, p.Close())
}

// A slot that is given back unused is used by the next.
func TestRelease(t *testing.T) {
	r := newRig(t)
	config := small()
	config.Slots = 1
	p, err := streams.Start(within(t, "the end of a pipeline"), r.context, config)
	must(t, err)
	for range 5 {
		slot, err := p.Slot()
		must(t, err)
		p.Release(slot)
	}
	jobs := r.jobs(3, 1, nil)
	must(t, produce(p, jobs, 1))
	must(t, p.Finish())
	must(t, p.Finish())
	checkOnce(t, p, jobs)
	must(t, p.Close())
	must(t, p.Close())
}

// Close without Finish drops jobs under way; they are still accounted for.
func TestCloseEarly(t *testing.T) {
	r := newRig(t)
	slow(t)
	p, err := streams.Start(within(t, "the end of a pipeline"), r.context, small())
	must(t, err)
	jobs := r.jobs(5, 1, nil)
	must(t, produce(p, jobs, 1))
	must(t, p.Close())
	delivered := 0
	for _, j := range jobs {
		delivered += int(j.delivered.Load())
	}
	if got := delivered + len(p.Returned()); got != len(jobs) {
		t.Errorf("%d of %d jobs are accounted for", got, len(jobs))
	}
	if _, err := p.Slot(); !errors.Is(err, streams.ErrStopped) {
		t.Errorf("a slot after Close: %v", err)
	}
}

// What a caller does wrong is said where it happens.
func TestMisuse(t *testing.T) {
	r := newRig(t)
	if _, err := streams.Start(within(t, "the end of a pipeline"), r.context, streams.Config{Streams: -1, OutBytes: -2}); !holds(err, "Streams") || !holds(err, "OutBytes") {
		t.Errorf("a configuration without sense: %v", err)
	}
	p, err := streams.Start(within(t, "the end of a pipeline"), r.context, small())
	must(t, err)
	slot, err := p.Slot()
	must(t, err)
	j := r.jobs(1, 1, nil)[0]
	panics(t, "a job beyond its slot", func() { p.Submit(slot, len(slot.Bytes())+1, j) })
	must(t, p.Finish())
	panics(t, "a job after Finish", func() { p.Submit(slot, j.fill(slot.Bytes()), j) })
	must(t, p.Close())
}

func panics(t *testing.T, what string, do func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s does not panic", what)
		}
	}()
	do()
}
