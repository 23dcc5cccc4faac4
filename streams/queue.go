package streams

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Job is one piece of work, made by the caller. Its methods are called by the
// lane that takes it, one after the other; an error or panic of any of them stops
// the pipeline, and the job is returned.
type Job interface {
	// Launch queues the job's kernels on s.Stream, after the copy in; it must not wait
	// for them. The facts are 0 before.
	Launch(s *Stage) error

	// Output is called once the kernels are done, with the facts that they left, and
	// says what of the stage's device memory goes to Deliver: at most OutBytes.
	Output(s *Stage, facts []uint64) (cuda.Span, error)

	// Deliver takes the output, which is valid until it returns, as is the input that
	// the job was submitted with. Having returned nil, it has taken it, and else
	// nothing of it. The lane launches nothing meanwhile.
	Deliver(out []byte) error
}

// Returned is a job that was submitted and not delivered.
type Returned struct {
	Job Job
	// what its slot was filled with, valid until Pipeline.Close; nil if the input was lent
	Input []byte
}

// entry is a job in the pipeline.
type entry struct {
	job     Job
	number  int // in the order of submission, from 0
	slot    *Slot
	lent    []cuda.PinnedSpan // input that is the caller's; slot is nil then
	size    int               // of the input, in bytes
	settled bool              // delivered or returned (invariant ONCE)
}

func (e *entry) settle() {
	if invariant.Enabled {
		invariant.Check(!e.settled, "ONCE: a job is delivered or returned a second time")
	}
	e.settled = true
}

// Slot waits for a free slot. Its error is ErrStopped, with the cause.
func (p *Pipeline) Slot() (*Slot, error) {
	from := p.now()
	if p.isStopped() { // first of all: where both are ready, select takes either
		return nil, p.stoppedError()
	}
	select {
	case s := <-p.idle: // BACK-PRESSURE
		s.taken, s.lent = p.now(), true
		p.waited(s.index, from, s.taken)
		return s, nil
	case <-p.stopped:
		return nil, p.stoppedError()
	}
}

// Queued is how many jobs wait for a stage of a lane. It returns at once.
func (p *Pipeline) Queued() int { return len(p.queue) }

// Release gives a slot back unused.
func (p *Pipeline) Release(s *Slot) {
	s.giveUp()
	p.idle <- s // has room for all slots
}

// Submit hands in a job whose input is the first n bytes of the slot. It never
// waits. On a pipeline that has stopped the job is among those returned.
func (p *Pipeline) Submit(s *Slot, n int, job Job) {
	if n < 0 || n > len(s.bytes) {
		panic(fmt.Sprintf("streams: an input of %d bytes in a slot of %d", n, len(s.bytes)))
	}
	s.giveUp()
	p.filled(s, n)
	p.enter(&entry{job: job, slot: s, size: n})
}

func (s *Slot) giveUp() {
	if invariant.Enabled {
		invariant.Check(s.lent, "a slot is submitted or released by a producer that does not have it")
	}
	s.lent = false
}

// SubmitPinned hands in a job whose input is pinned already: the spans, one after the
// other, which must stay as they are until the job is delivered or returned. It
// waits while as many such jobs are under way as there are stages, and two more. An
// error is ErrStopped, or that the input is longer than SlotBytes; the job is not
// handed in then.
func (p *Pipeline) SubmitPinned(job Job, input ...cuda.PinnedSpan) error {
	size := 0
	for _, span := range input {
		size += int(span.Size())
	}
	if size > p.config.SlotBytes {
		return fmt.Errorf("streams: an input of %d bytes, a stage takes %d", size, p.config.SlotBytes)
	}
	select {
	case p.loans <- struct{}{}: // BACK-PRESSURE
	case <-p.stopped:
		return p.stoppedError()
	}
	p.enter(&entry{job: job, lent: input, size: size})
	return nil
}

// enter puts an entry into the queue, which has room for every slot and loan, or
// returns it if the pipeline has stopped. Under the lock, so that none is put
// there after the queue was emptied.
func (p *Pipeline) enter(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.number = p.stats.Submitted
	p.stats.Submitted++
	switch p.phase {
	case phaseOpen:
		p.queue <- e
	case phaseStopped:
		p.giveBack(e)
	default:
		panic("streams: a job is submitted after Finish")
	}
}

// giveBack notes that e was not delivered; p.mu is held. Its slot stays taken.
func (p *Pipeline) giveBack(e *entry) {
	e.settle()
	r := Returned{Job: e.job}
	if e.slot != nil {
		r.Input = e.slot.bytes[:e.size:e.size]
	}
	p.returned = append(p.returned, r)
}

// leave frees what a delivered job had.
func (p *Pipeline) leave(e *entry) {
	e.settle()
	if e.slot == nil {
		<-p.loans
		return
	}
	p.idle <- e.slot
}
