package streams

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// stagePhase is how far the job of a stage is.
type stagePhase int

const (
	stageIdle      stagePhase = iota // no job; until the lane takes one
	stageComputing                   // copy in and kernels are queued; until the facts are here
	stageLeaving                     // the copy out is queued; until it is done and delivered
)

// Stage is a lane's place for one job, lent to the job's methods while they are
// called.
type Stage struct {
	// the lane's, until the pipeline has ended: for what jobs allocate and keep
	Thread  *cuda.Thread
	Stream  *cuda.Stream // for the job's kernels
	In      cuda.Span    // the input, as long as it is
	Scratch cuda.Span    // ScratchBytes for the kernels, with undefined content at first
	Facts   cuda.Span    // 8 words of 64 bits, 0 before Launch: what Output is given
	Lane    int          // number of the lane, from 0

	phase       stagePhase
	entry       *entry
	input       cuda.Span // room for In
	factsKernel *kernels.Facts
	hostFacts   staging // the facts on the host
	output      staging // room for the output
	result      []byte  // the part of output that this job has
	steps       [steps]step
}

// newStage makes the i-th stage, whole or not at all.
func (l *lane) newStage(i int) (*Stage, error) {
	device := &l.memory.stages[i]
	s := &Stage{
		Thread: l.thread, Stream: l.work, Lane: l.number,
		factsKernel: l.pipeline.facts, input: device.input, Facts: device.facts, Scratch: device.scratch,
	}
	if err := s.open(l); err != nil {
		return nil, errors.Join(err, s.close(l.pipeline))
	}
	return s, nil
}

func (s *Stage) open(l *lane) (err error) {
	if s.hostFacts, err = l.pinOrMake(int(factBytes)); err != nil {
		return err
	}
	if s.output, err = l.pinOrMake(l.pipeline.config.outBytes()); err != nil {
		return err
	}
	for i := range s.steps {
		if i == stepOut && l.pipeline.config.OutBytes == NoOutput {
			continue
		}
		if err := s.steps[i].open(l); err != nil {
			return err
		}
	}
	return nil
}

// pinOrMake makes staging that is pageable if it cannot be pinned.
func (l *lane) pinOrMake(n int) (staging, error) {
	m, err := l.pipeline.pin(l.thread, n)
	if errors.Is(err, cuda.ErrOutOfMemory) {
		l.pipeline.refuse(err)
		return l.pipeline.pageable(n)
	}
	return m, err
}

// close frees what the stage has; its streams have been waited for.
func (s *Stage) close(p *Pipeline) error {
	var err error
	for i := range s.steps {
		err = errors.Join(err, s.steps[i].close())
	}
	return errors.Join(err, p.free(s.output), p.free(s.hostFacts))
}

// launch queues copy in, kernels and the facts' way back.
func (s *Stage) launch(l *lane) error {
	s.In = s.input.Slice(0, cuda.Size(s.entry.size))
	if err := s.copyIn(l); err != nil {
		return fmt.Errorf("copy in: %w", err)
	}
	if err := s.compute(l); err != nil {
		return fmt.Errorf("kernels: %w", err)
	}
	return nil
}

func (s *Stage) copyIn(l *lane) error {
	step := &s.steps[stepIn]
	slot := s.entry.slot
	if slot != nil && slot.pinned == nil {
		return step.wait(l, func() error { return l.thread.Write(s.In, slot.bytes[:s.entry.size]) })
	}
	lent := s.entry.lent
	if slot != nil {
		lent = []cuda.PinnedSpan{slot.pinned.Span(0, cuda.Size(s.entry.size))}
	}
	return step.queue(l.in, func() error {
		to := cuda.Size(0)
		for _, span := range lent {
			if err := l.in.CopyIn(s.In.Slice(to, to+span.Size()), span); err != nil {
				return err
			}
			to += span.Size()
		}
		return nil
	})
}

func (s *Stage) compute(l *lane) error {
	if arrived := &s.steps[stepIn]; !arrived.waited {
		if err := l.work.Wait(arrived.end); err != nil {
			return err
		}
	}
	return s.steps[stepCompute].queue(l.work, func() error {
		if err := l.work.Fill(s.Facts, 0); err != nil {
			return err
		}
		if err := s.entry.job.Launch(s); err != nil {
			return err
		}
		return s.sendFacts()
	})
}

// sendFacts queues the facts' way to the host, if kernels can write there.
func (s *Stage) sendFacts() error {
	if s.hostFacts.pinned == nil {
		return nil // readFacts reads them
	}
	return s.factsKernel.Tell(s.Stream, kernels.Sweep(factWords), s.Facts.Ptr, s.hostFacts.pinned.Device().Ptr, factWords)
}

// readFacts returns the facts that the kernels have left. The kernels have ended.
func (s *Stage) readFacts() ([]uint64, error) {
	if s.hostFacts.pinned == nil {
		if err := s.Thread.Read(s.hostFacts.bytes, s.Facts); err != nil {
			return nil, fmt.Errorf("facts: %w", err)
		}
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s.hostFacts.bytes))), factWords), nil
}

// Ask waits for the kernels that are queued in Stream, and returns the facts as they leave them,
// which are valid until Ask is called again or the facts of the job are read: for a Launch or an
// Output that depends on them.
func (s *Stage) Ask() ([]uint64, error) {
	if err := s.sendFacts(); err != nil {
		return nil, err
	}
	if err := s.Stream.Synchronize(); err != nil {
		return nil, err
	}
	return s.readFacts()
}

// fetch queues the copy out. The kernels are done.
func (s *Stage) fetch(l *lane) error {
	facts, err := s.readFacts()
	if err != nil {
		return err
	}
	out, err := s.entry.job.Output(s, facts)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	n := int(out.Size)
	if n > len(s.output.bytes) {
		return fmt.Errorf("%w: %d bytes, and OutBytes is %d", ErrOutput, n, len(s.output.bytes))
	}
	s.result = s.output.bytes[:n:n]
	if err := s.copyOut(l, out); err != nil {
		return fmt.Errorf("copy out: %w", err)
	}
	return nil
}

func (s *Stage) copyOut(l *lane, out cuda.Span) error {
	step := &s.steps[stepOut]
	if out.Size == 0 {
		// most jobs put nothing out: the driver is not asked
		return step.wait(l, func() error { return nil })
	}
	if s.output.pinned == nil {
		return step.wait(l, func() error { return l.thread.Read(s.result, out) })
	}
	return step.queue(l.out, func() error { return l.out.CopyOut(s.output.pinned.Span(0, out.Size), out) })
}
