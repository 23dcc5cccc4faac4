package agg

// stop tells loops that grow with the values of a group that the run has been cancelled. It asks
// now and then, and says so again and again from then on: what was made in the meantime is not
// whole and not to be used.
type stop struct {
	cancelled func() error // nil: it is never cancelled
	between   int          // work between two looks
	left      int
	err       error
}

// usualLook is how much work is done between two looks, in words that are moved: of those that lie
// anywhere 65,536 take some milliseconds.
const usualLook = 1 << 16

// longWork is the work of comparing or hashing that many bytes, in steps of stop, beside the step
// that reads them.
func longWork(bytes int) int { return 8 + bytes/64 }

func (l *Layout) stop() stop {
	return stop{cancelled: l.cancelled, between: l.limits.look, left: l.limits.look}
}

// due reports whether to stop, so much work having been done since it was asked last.
func (s *stop) due(work int) bool {
	if s.left -= work; s.left <= 0 {
		s.look()
	}
	return s.err != nil
}

// look is apart from due, which is inlined.
func (s *stop) look() {
	s.left = s.between
	if s.cancelled != nil && s.err == nil {
		s.err = s.cancelled()
	}
}

// after is due, as an error.
func (s *stop) after(work int) error {
	s.due(work)
	return s.err
}
