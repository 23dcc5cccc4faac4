package cpu

import "context"

// stop tells a loop of many short steps that its run has been cancelled. It
// looks at the context now and then.
type stop struct {
	ctx     context.Context
	steps   int
	stopped bool
}

// stopBetween is how many steps come between two looks: those of a sort or a merge take less than a
// millisecond.
const stopBetween = 1 << 12

// endWith has the worker end in the middle of a dictionary when its run is cancelled.
func (w *Worker) endWith(ctx context.Context) {
	w.encoder.Cancelled = func() error { return context.Cause(ctx) }
	for _, o := range w.others {
		o.endWith(ctx)
	}
	if w.sets == nil {
		return
	}
	for i := range w.sets.of {
		s := &w.sets.of[i]
		s.worker.endWith(ctx)
		if s.member != nil {
			s.member.encoder.Cancelled = w.encoder.Cancelled
		}
	}
}

// due reports whether to stop; it counts a step.
func (s *stop) due() bool {
	if s.steps++; s.steps%stopBetween == 0 && s.ctx.Err() != nil {
		s.stopped = true
	}
	return s.stopped
}

// check reports whether to stop; the steps before it may have been many.
func (s *stop) check() bool {
	s.stopped = s.stopped || s.ctx.Err() != nil
	return s.stopped
}

// err is why the loop was stopped; nil: it was not.
func (s *stop) err() error {
	if !s.stopped {
		return nil
	}
	return context.Cause(s.ctx)
}
