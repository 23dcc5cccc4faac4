package firstpass

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// load is a buffer on its way through a sender.
type load struct {
	buffer *cuda.Pinned
	filled cuda.Size   // how much of it is spoken for
	kept   *keptBuffer // whose rows stay; nil: the buffer is one of the placers'
}

// room is how many bytes there are room for.
func (l *load) room() cuda.Size { return l.buffer.Device().Size - l.filled }

// begin begins to fill the next buffer, one that stays if rows do.
func (s *sender) begin() error {
	if b := s.kept.buffer(); b != nil {
		s.filling = load{buffer: b.pinned, kept: b}
		return nil
	}
	b, err := s.buffer()
	s.filling = load{buffer: b}
	return err
}

// pass fills the buffer no further.
func (s *sender) pass() error {
	if s.filling.buffer == nil {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	if len(s.queued) == sendAhead {
		if err := s.handOn(); err != nil {
			return err
		}
	}
	if err := s.copies.Record(s.moved[(s.turn+len(s.queued))%sendAhead]); err != nil {
		return err
	}
	s.queued = append(s.queued, s.filling)
	s.filling = load{}
	return nil
}

// buffer is the next one for placers. Where none is free there is one more while that is allowed; else the placers first get the one
// that they may be waiting for.
func (s *sender) buffer() (*cuda.Pinned, error) {
	if err := s.handOnMoved(); err != nil {
		return nil, err
	}
	if b := s.free(); b != nil {
		return b, nil
	}
	s.placing.more(s.thread)
	for {
		if b := s.free(); b != nil {
			return b, nil
		}
		if len(s.queued) == 0 {
			return s.placing.buffer()
		}
		if err := s.handOn(); err != nil {
			return nil, err
		}
	}
}

// free is a buffer that is free at once, if there is one.
func (s *sender) free() *cuda.Pinned {
	select {
	case b := <-s.placing.free:
		return b
	default:
		return nil
	}
}

// handOnMoved hands on the buffers that have all their rows.
func (s *sender) handOnMoved() error {
	for len(s.queued) > 0 {
		moved, err := s.moved[s.turn].Done()
		if err != nil || !moved {
			return err
		}
		s.hand()
	}
	return nil
}

// handOn waits for the first buffer that is queued, and hands it on.
func (s *sender) handOn() error {
	if err := until(s.moved[s.turn].Done); err != nil {
		return err
	}
	s.hand()
	return nil
}

// hand hands on the first buffer that is queued.
func (s *sender) hand() {
	first := s.queued[0]
	s.queued = slices.Delete(s.queued, 0, 1)
	s.turn = (s.turn + 1) % sendAhead
	rows := uint64(first.filled / s.row())
	if first.kept != nil {
		s.kept.take(first.kept)
		s.placing.pass.counts.kept(rows)
		return
	}
	s.placing.full <- placed{first.buffer, first.buffer.Span(0, first.filled).Words()} // has room for all buffers
	s.placing.pass.counts.placed(rows)
}

// finish waits until all that was sent is with the placers, or kept.
func (s *sender) finish() error {
	if err := s.pass(); err != nil {
		return err
	}
	return s.settle()
}

// settle waits until the placers have all that was sent to them. A buffer whose rows stay is filled on later: nobody waits for it.
func (s *sender) settle() error {
	if s.filling.kept == nil {
		if err := s.pass(); err != nil {
			return err
		}
	}
	for len(s.queued) > 0 {
		if err := s.handOn(); err != nil {
			return err
		}
	}
	return nil
}
