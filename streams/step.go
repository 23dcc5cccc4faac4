package streams

import (
	"errors"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// The steps of a job on the device.
const (
	stepIn = iota
	stepCompute
	stepOut
	steps
)

// step is a part of a job: queued in a stream between two events, or done by the
// lane itself while it waits (pageable memory).
type step struct {
	begin  *cuda.Event // nil unless timed
	end    *cuda.Event
	waited bool // the lane did it itself

	from, length time.Duration // then: since the pipeline began
}

func (s *step) open(l *lane) (err error) {
	if s.end, err = l.thread.NewEvent(); err != nil || !l.pipeline.config.Timed {
		return err
	}
	s.begin, err = l.thread.NewEvent()
	return err
}

func (s *step) close() error {
	var err error
	for _, e := range []*cuda.Event{s.begin, s.end} {
		if e != nil {
			err = errors.Join(err, e.Close())
		}
	}
	return err
}

// queue lets do put work into the stream.
func (s *step) queue(stream *cuda.Stream, do func() error) error {
	s.waited = false
	if s.begin != nil {
		if err := stream.Record(s.begin); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	return stream.Record(s.end)
}

// wait lets do work until it is done.
func (s *step) wait(l *lane, do func() error) error {
	s.waited = true
	s.from = l.pipeline.now()
	err := do()
	s.length = l.pipeline.now() - s.from
	return err
}

// done reports whether the work has ended.
func (s *step) done() (bool, error) {
	if s.waited {
		return true, nil
	}
	return s.end.Done()
}

// took is how long the step took, which is done, and timed.
func (s *step) took() (time.Duration, error) {
	if s.waited {
		return s.length, nil
	}
	return s.end.Since(s.begin)
}

// began is when it began, since the pipeline did, if that is traced.
func (s *step) began(l *lane) (time.Duration, error) {
	if s.waited {
		return s.from, nil
	}
	from, err := s.begin.Since(l.zero)
	return l.zeroAt + from, err
}
