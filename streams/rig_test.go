package streams_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/streams"
)

// rig is a device with the kernel of the tests.
type rig struct {
	context *cuda.Context
	kernels *kerneltest.Stream

	hostLimit, deviceLimit int64         // of the pipeline's budgets; 0: none
	stats                  streams.Stats // of the last run
}

func newRig(t *testing.T) *rig {
	t.Helper()
	thread := gputest.Open(t)
	checkGoroutines(t)
	k, err := kerneltest.LoadStream(thread)
	must(t, err)
	return &rig{context: thread.Context(), kernels: k}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkGoroutines fails the test if one of its goroutines outlives it, or a
// thread that it locked.
func checkGoroutines(t *testing.T) {
	before, locked := runtime.NumGoroutine(), cuda.LockedThreads()
	t.Cleanup(func() {
		for range 2000 { // those that have been told to end may need a moment
			if runtime.NumGoroutine() <= before {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > before {
			stacks := make([]byte, 1<<20)
			t.Errorf("%d goroutines are left:\n%s", n-before, stacks[:runtime.Stack(stacks, true)])
		}
		if n := cuda.LockedThreads(); n > locked {
			t.Errorf("%d threads are still locked", n-locked)
		}
	})
}

// small is a pipeline whose limits jobs of some hundred words meet.
func small() streams.Config {
	return streams.Config{Streams: 2, Depth: 2, Slots: 5, SlotBytes: 8 * maxWords, ScratchBytes: 8 * maxWords}
}

const maxWords = 500

// job is one of the jobs of a test: some words, of which the device makes sums.
type job struct {
	rig    *rig
	number int
	words  int
	sums   int
	seed   uint64

	lane      int
	delivered atomic.Int32
	// hook, if there is one, is called in each method and may fail it.
	hook func(method string, j *job) error
}

// input makes the words of the job.
func (j *job) input() []uint64 {
	r := rand.New(rand.NewPCG(j.seed, uint64(j.number)))
	words := make([]uint64, j.words)
	for i := range words {
		words[i] = r.Uint64()
	}
	return words
}

func (j *job) want() []uint64 {
	sums := make([]uint64, j.sums)
	for i, word := range j.input() {
		sums[i%j.sums] += word
	}
	return sums
}

func (j *job) fill(b []byte) int {
	for i, word := range j.input() {
		binary.NativeEndian.PutUint64(b[8*i:], word)
	}
	return 8 * j.words
}

func (j *job) call(method string) error {
	if j.hook == nil {
		return nil
	}
	return j.hook(method, j)
}

func (j *job) Launch(s *streams.Stage) error {
	j.lane = s.Lane
	if err := j.call("Launch"); err != nil {
		return err
	}
	if s.In.Size != cuda.Size(8*j.words) {
		return fmt.Errorf("an input of %v", s.In.Size)
	}
	return j.rig.kernels.Sums(s.Stream, kernels.Sweep(uint64(j.sums)), s.In.Ptr, uint64(j.words), s.Scratch.Ptr, uint64(j.sums), s.Facts.Ptr)
}

func (j *job) Output(s *streams.Stage, facts []uint64) (cuda.Span, error) {
	if facts[0] != uint64(8*j.sums) || facts[1] != uint64(j.words) {
		return cuda.Span{}, fmt.Errorf("the facts %v of %d words and %d sums", facts, j.words, j.sums)
	}
	return s.Scratch.Slice(0, cuda.Size(facts[0])), j.call("Output")
}

func (j *job) Deliver(out []byte) error {
	if err := j.call("Deliver"); err != nil {
		return err
	}
	for i, want := range j.want() {
		if got := binary.NativeEndian.Uint64(out[8*i:]); got != want {
			return fmt.Errorf("job %d: sum %d is %#x, want %#x", j.number, i, got, want)
		}
	}
	if len(out) != 8*j.sums {
		return fmt.Errorf("job %d: %d bytes, want %d sums", j.number, len(out), j.sums)
	}
	j.delivered.Add(1)
	return nil
}

// jobs makes n jobs of all lengths.
func (r *rig) jobs(n int, seed uint64, hook func(string, *job) error) []*job {
	random := rand.New(rand.NewPCG(seed, 1))
	list := make([]*job, n)
	for i := range list {
		words := random.IntN(maxWords + 1)
		list[i] = &job{rig: r, number: i, words: words, sums: (words + 9) / 10, seed: seed, hook: hook}
	}
	return list
}

// within is a context that ends if the event that the test waits for has not come in time.
func within(t *testing.T, what string) context.Context {
	t.Helper()
	ctx, cancel := bounded.Context(what)
	t.Cleanup(cancel)
	return ctx
}

// produce submits all jobs from `producers` goroutines, until a call returns an error; it returns
// that error.
func produce(p *streams.Pipeline, jobs []*job, producers int) error {
	var next atomic.Int64
	errs := make([]error, producers)
	var all sync.WaitGroup
	for i := range producers {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(jobs) {
					return
				}
				slot, err := p.Slot()
				if err != nil {
					errs[i] = err
					return
				}
				p.Submit(slot, jobs[n].fill(slot.Bytes()), jobs[n])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// checkOnce holds the invariant ONCE: every job that was handed in is delivered or
// returned, and returned with its input.
func checkOnce(t *testing.T, p *streams.Pipeline, jobs []*job) {
	t.Helper()
	returned := map[*job]int{}
	for _, r := range p.Returned() {
		j := r.Job.(*job)
		returned[j]++
		input := make([]byte, 8*j.words)
		j.fill(input)
		if string(r.Input) != string(input) {
			t.Errorf("job %d is returned with another input", j.number)
		}
	}
	delivered := 0
	for _, j := range jobs {
		n := int(j.delivered.Load())
		delivered += n
		if n+returned[j] > 1 {
			t.Errorf("job %d is delivered %d times and returned %d times", j.number, n, returned[j])
		}
	}
	s := p.Stats()
	if s.Submitted != delivered+len(p.Returned()) || s.Returned != len(p.Returned()) {
		t.Errorf("of %d jobs %d are delivered and %d returned (%d in the statistics)", s.Submitted, delivered, len(p.Returned()), s.Returned)
	}
}

// run is the life of a pipeline that is fed by `producers` goroutines. It returns the error of
// Start or, if there is none, that of the run.
func (r *rig) run(ctx context.Context, t *testing.T, c streams.Config, jobs []*job, producers int) error {
	t.Helper()
	r.stats = streams.Stats{}
	b := &ledger{budget.New(budget.Memory, r.hostLimit), budget.New(budget.Device, r.deviceLimit)}
	c.Host, c.Device = b.host, b.device
	p, err := streams.Start(ctx, r.context, c)
	if err == nil {
		var told error
		bounded.Wait(t, "producers", func() { told = produce(p, jobs, producers) })
		bounded.Wait(t, "the end of a pipeline", func() { err = p.Finish() })
		if told != nil && (!errors.Is(told, streams.ErrStopped) || err == nil) {
			t.Errorf("producers are told %v, and Finish says %v", told, err)
		}
		checkOnce(t, p, jobs)
		r.stats = p.Stats()
		if err == nil && len(p.Returned()) > 0 {
			t.Errorf("%d jobs are returned without an error", len(p.Returned()))
		}
		err = errors.Join(err, p.Close())
	}
	b.check(t, r.context.Lost())
	return err
}

// ledger is the budgets of a pipeline.
type ledger struct{ host, device *budget.Budget }

func (l *ledger) check(t *testing.T, lost error) {
	t.Helper()
	if h, d := l.host.Reserved(), l.device.Reserved(); lost == nil && (h != 0 || d != 0) {
		t.Errorf("%d bytes of the host and %d of the device are still counted", h, d)
	}
}

func holds(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }
