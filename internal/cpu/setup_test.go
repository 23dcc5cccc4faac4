package cpu

import "context"

// setup is a configuration that a test may still change, with the accelerator and the last run.
type setup struct {
	*Config
	accelerator Accelerator        // nil: none
	reconsider  func(Sample) error // nil: a run does not
	last        *Run               // nil: there was none yet
}

// run is the last run, or a new one.
func (s *setup) run() *Run {
	if s.last == nil {
		s.last = NewRun(*s.Config)
		if s.accelerator != nil {
			s.last.Accelerate(s.accelerator)
		}
		s.last.Reconsider(s.reconsider)
	}
	return s.last
}

// group makes a new run with `threads` workers and groups the input.
func (s *setup) group(ctx context.Context, in Input, threads int) (Groups, error) {
	s.Threads, s.last = threads, nil
	return s.run().Group(ctx, in)
}
