package evict

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// outgoing is a buffer on its way through a sender.
type outgoing struct {
	buffer   *cuda.Pinned
	filled   cuda.Size // how much of it is spoken for
	retained *buffer   // the buffer, if its rows are to stay; nil: it is one of the writers'
}

// room is how many bytes there are room for.
func (o *outgoing) room() cuda.Size { return o.buffer.Device().Size - o.filled }

// begin begins to fill the next buffer: one that is retained if rows are retained.
func (s *sender) begin() error {
	if b := s.of.retention.next(); b != nil {
		s.filling = outgoing{buffer: b.pinned, retained: b}
		return nil
	}
	b, err := s.buffer()
	s.filling = outgoing{buffer: b}
	return err
}

// seal fills the buffer no further, and queues it.
func (s *sender) seal() error {
	if s.filling.buffer == nil {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	if len(s.queued) == sendAhead {
		if err := s.dispatchNext(); err != nil {
			return err
		}
	}
	if err := s.copies.Record(s.moved[(s.turn+len(s.queued))%sendAhead]); err != nil {
		return err
	}
	s.queued = append(s.queued, s.filling)
	s.filling = outgoing{}
	return nil
}

// buffer returns the next buffer for the writers. If none is free, it makes another one while that
// is allowed. Otherwise it first dispatches a full buffer, for which the writers may be waiting.
func (s *sender) buffer() (*cuda.Pinned, error) {
	if err := s.dispatchCopied(); err != nil {
		return nil, err
	}
	if b := s.free(); b != nil {
		return b, nil
	}
	s.of.writers.more(s.thread)
	for {
		if b := s.free(); b != nil {
			return b, nil
		}
		if len(s.queued) == 0 {
			return s.of.writers.buffer()
		}
		if err := s.dispatchNext(); err != nil {
			return nil, err
		}
	}
}

// free returns a buffer that is free at once, if there is one.
func (s *sender) free() *cuda.Pinned {
	select {
	case b := <-s.of.writers.free:
		return b
	default:
		return nil
	}
}

// dispatchCopied dispatches the buffers that have all their rows.
func (s *sender) dispatchCopied() error {
	for len(s.queued) > 0 {
		moved, err := s.moved[s.turn].Done()
		if err != nil || !moved {
			return err
		}
		s.dispatch()
	}
	return nil
}

// dispatchNext waits for the first buffer that is queued, and dispatches it.
func (s *sender) dispatchNext() error {
	if err := until(s.moved[s.turn].Done); err != nil {
		return err
	}
	s.dispatch()
	return nil
}

// dispatch gives the first buffer that is queued to the writers, or to the retention.
func (s *sender) dispatch() {
	first := s.queued[0]
	s.queued = slices.Delete(s.queued, 0, 1)
	s.turn = (s.turn + 1) % sendAhead
	rows := uint64(first.filled / s.of.row)
	if first.retained != nil {
		s.of.retention.add(first.retained)
		s.of.counts.retained(rows)
		return
	}
	// has room for all buffers
	s.of.writers.full <- batch{first.buffer, first.buffer.Span(0, first.filled).Words()}
	s.of.counts.written(rows)
}

// finish waits until all that was sent is with the writers, or retained.
func (s *sender) finish() error {
	if err := s.seal(); err != nil {
		return err
	}
	return s.drain()
}

// drain waits until the writers have all rows that were sent to them. A buffer that is retained
// may be filled further, so drain does not wait for it.
func (s *sender) drain() error {
	if s.filling.retained == nil {
		if err := s.seal(); err != nil {
			return err
		}
	}
	for len(s.queued) > 0 {
		if err := s.dispatchNext(); err != nil {
			return err
		}
	}
	return nil
}
