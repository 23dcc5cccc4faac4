package streams_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/streams"
)

var errStop = errors.New("enough")

// The caller's context ends at any moment: in each call of each job's methods.
func TestCancel(t *testing.T) {
	r := newRig(t)
	slow(t)
	config := small()
	for nth := int64(0); nth < 60; nth += 1 + nth/8 {
		ctx, cancel := context.WithCancelCause(context.Background())
		var calls atomic.Int64
		jobs := r.jobs(30, 9, func(string, *job) error {
			if calls.Add(1) == nth {
				cancel(errStop)
			}
			return nil
		})
		if nth == 0 {
			cancel(errStop)
		}
		if err := r.run(ctx, t, config, jobs, 4); !errors.Is(err, errStop) {
			t.Errorf("cancelled in call %d: %v", nth, err)
		}
		cancel(nil)
	}
}

// The caller's context ends at many different times, in the middle of any call.
func TestCancelAtRandom(t *testing.T) {
	r := newRig(t)
	slow(t)
	config := small()
	config.Streams, config.Slots = 4, 12
	for i := range rounds(60) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*200*time.Microsecond)
		if err := r.run(ctx, t, config, r.jobs(200, 9, nil), 8); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %d·200 µs: %v", i, err)
		}
		cancel()
	}
}

// Producers that wait for a slot are woken at once, while a lane is still busy.
func TestCancelWakesProducers(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	config := small()
	config.Slots, config.Streams, config.Depth = 1, 1, 1
	delivering, goOn := make(chan struct{}), make(chan struct{})
	jobs := r.jobs(2, 1, func(method string, _ *job) error {
		if method == "Deliver" {
			close(delivering)
			<-goOn
		}
		return nil
	})
	p, err := streams.Start(ctx, r.context, config)
	must(t, err)
	told := make(chan error)
	go func() { told <- produce(p, jobs, 1) }()
	bounded.Receive(t, "a delivery", delivering)
	cancel(errStop)
	if err := bounded.Receive(t, "the producer", told); !errors.Is(err, streams.ErrStopped) || !errors.Is(err, errStop) {
		t.Errorf("the producer is told %v", err)
	}
	if _, err := p.Slot(); !errors.Is(err, streams.ErrStopped) {
		t.Errorf("the next one is told %v", err)
	}
	close(goOn)
	if err := p.Finish(); !errors.Is(err, errStop) {
		t.Errorf("Finish: %v", err)
	}
	checkOnce(t, p, jobs)
	if jobs[0].delivered.Load() != 1 {
		t.Error("what Deliver has taken counts as delivered")
	}
	must(t, p.Close())
}

// A slot that is filled when the pipeline has stopped is no trap: its job is
// returned.
func TestSubmitAfterStop(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	p, err := streams.Start(ctx, r.context, small())
	must(t, err)
	slot, err := p.Slot()
	must(t, err)
	cancel(errStop)
	for !errors.Is(p.Finish(), errStop) { // the word may take a moment
		time.Sleep(time.Millisecond)
	}
	jobs := r.jobs(1, 1, nil)
	p.Submit(slot, jobs[0].fill(slot.Bytes()), jobs[0])
	checkOnce(t, p, jobs)
	if len(p.Returned()) != 1 {
		t.Errorf("%d jobs are returned", len(p.Returned()))
	}
	must(t, p.Close())
}

// Each method of a job fails or panics; that job is returned, and the error is the
// pipeline's.
func TestJobFails(t *testing.T) {
	r := newRig(t)
	slow(t)
	for _, method := range []string{"Launch", "Output", "Deliver"} {
		for _, number := range []int{0, 7, 19} {
			r.failing(t, method, number, func() error { return errStop }, func(err error) bool { return errors.Is(err, errStop) })
			r.failing(t, method, number, func() error { panic(errStop) }, func(err error) bool {
				var p *invariant.PanicError
				return errors.As(err, &p) && p.Value == any(errStop) && len(p.Stack) > 0
			})
		}
	}
}

// failing runs a pipeline in which a method of one job does something else.
func (r *rig) failing(t *testing.T, method string, number int, do func() error, want func(error) bool) {
	t.Helper()
	jobs := r.jobs(20, 2, func(m string, j *job) error {
		if m == method && j.number == number {
			return do()
		}
		return nil
	})
	if err := r.run(context.Background(), t, small(), jobs, 3); !want(err) || !holds(err, "lane ") {
		t.Errorf("%s of job %d: %v", method, number, err)
	}
	if jobs[number].delivered.Load() != 0 {
		t.Errorf("%s of job %d fails, and it is delivered", method, number)
	}
}

// An output beyond OutBytes is refused, and told from other errors.
func TestOutputTooLong(t *testing.T) {
	r := newRig(t)
	config := small()
	config.OutBytes = 8
	jobs := []*job{{rig: r, words: 20, sums: 1}, {rig: r, words: 20, sums: 2}}
	if err := r.run(context.Background(), t, config, jobs, 1); !errors.Is(err, streams.ErrOutput) {
		t.Errorf("two words for one: %v", err)
	}
	if jobs[1].delivered.Load() != 0 {
		t.Error("it is delivered")
	}
}

// Goroutines that wait for jobs are told when the pipeline stops, and not when it ends.
func TestStopped(t *testing.T) {
	r := newRig(t)
	for _, stop := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(context.Background())
		p, err := streams.Start(ctx, r.context, small())
		must(t, err)
		if stop {
			cancel(errStop)
			<-p.Stopped()
		}
		if err := p.Finish(); errors.Is(err, errStop) != stop {
			t.Errorf("%v", err)
		}
		select {
		case <-p.Stopped():
			if !stop {
				t.Error("it ended, and says that it stopped")
			}
		default:
		}
		must(t, p.Close())
		cancel(nil)
	}
}
