package ega

import (
	"errors"
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition"
)

// sendAhead is how many buffers of a sender have copies under way at most: 4 MiB cross in 80 µs, and who waits for them sleeps for 90
// and then waits for a core that placers keep. A guess.
const sendAhead = 4

// sender copies rows from the device to buffers for placers, on one stream: while the copies to some are under way, those to the
// next are queued already.
type sender struct {
	placing *placing
	thread  *cuda.Thread
	stream  *cuda.Stream
	bytes   cuda.Size // of a buffer
	moved   [sendAhead]*cuda.Event
	queued  []placed // all their copies are queued, and the events from turn on, one each, tell when these are done
	turn    int
	filling *cuda.Pinned // nil: none is; else
	filled  cuda.Size    // how much of it has its copies queued
}

// sending lets do send rows, and waits until all are with the placers.
func (p *placing) sending(t *cuda.Thread, stream *cuda.Stream, do func(*sender) error) (err error) {
	s := &sender{placing: p, thread: t, stream: stream}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.bytes, err = p.start(t); err != nil {
		return err
	}
	for i := range s.moved {
		if s.moved[i], err = t.NewEvent(); err != nil {
			return err
		}
	}
	if err := do(s); err != nil {
		return err
	}
	return s.finish()
}

// chain sends the rows of partition p, whose pages are among those listed from partition 0 on.
func (s *sender) chain(c *partition.Chains, list partition.ChainPages, p int) error {
	page := cuda.Size(c.PageRows()) * s.row()
	last, pages := list.Sizes[p].Last, list.Pages[list.From[p]:list.From[p+1]]
	for len(pages) > 0 {
		room, err := s.room(page)
		if err != nil {
			return err
		}
		some := partition.ChainPages{First: p, Pages: pages[:min(int(room/page), len(pages))]}
		pages = pages[len(some.Pages):]
		size := partition.ChainSize{Pages: len(some.Pages), Last: c.PageRows()}
		if len(pages) == 0 {
			size.Last = last
		}
		some.Sizes, some.From = []partition.ChainSize{size}, []uint32{0, uint32(len(some.Pages))}
		n, err := c.CopyOut(s.stream, some, s.filling, s.filled)
		if err != nil {
			return err
		}
		s.filled += cuda.Size(n) * s.row()
	}
	return nil
}

// dense sends n rows that lie one after the other.
func (s *sender) dense(from cuda.Span, n uint64) error {
	for at, end := cuda.Size(0), cuda.Size(n)*s.row(); at < end; {
		room, err := s.room(s.row())
		if err != nil {
			return err
		}
		piece := from.Slice(at, min(at+room/s.row()*s.row(), end))
		if err := s.stream.CopyOut(s.filling.Span(s.filled, s.filled+piece.Size), piece); err != nil {
			return err
		}
		s.filled += piece.Size
		at += piece.Size
	}
	return nil
}

func (s *sender) row() cuda.Size { return s.placing.pass.plan.layout.RowBytes() }

// room sees to it that a buffer is being filled which has room for some bytes, and says for how many.
func (s *sender) room(least cuda.Size) (cuda.Size, error) {
	if s.filling != nil && s.bytes-s.filled < least {
		if err := s.pass(); err != nil {
			return 0, err
		}
	}
	if s.filling == nil {
		b, err := s.buffer()
		if err != nil {
			return 0, err
		}
		s.filling, s.filled = b, 0
	}
	return s.bytes - s.filled, nil
}

// pass fills the buffer no further.
func (s *sender) pass() error {
	if s.filling == nil {
		return nil
	}
	if len(s.queued) == sendAhead {
		if err := s.handOn(); err != nil {
			return err
		}
	}
	if err := s.stream.Record(s.moved[(s.turn+len(s.queued))%sendAhead]); err != nil {
		return err
	}
	s.queued = append(s.queued, placed{s.filling, wordsOf(s.filling.Bytes()[:s.filled])})
	s.filling = nil
	return nil
}

// buffer is the next one. Where none is free there is one more while that is allowed; else the placers first get the one that they may
// be waiting for.
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

// handOnMoved gives the placers the buffers that have all their rows.
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

// hand gives the placers the first buffer that is queued.
func (s *sender) hand() {
	first := s.queued[0]
	s.queued = slices.Delete(s.queued, 0, 1)
	s.turn = (s.turn + 1) % sendAhead
	s.placing.full <- first // has room for all buffers
	s.placing.pass.counts.placed(uint64(len(first.rows) / s.placing.pass.plan.layout.Stride()))
}

// finish waits until all that was sent is with the placers.
func (s *sender) finish() error {
	if err := s.pass(); err != nil {
		return err
	}
	for len(s.queued) > 0 {
		if err := s.handOn(); err != nil {
			return err
		}
	}
	return nil
}

// close gives back what an error left.
func (s *sender) close() error {
	var errs []error
	left := s.queued
	if s.filling != nil {
		left = append(left, placed{buffer: s.filling})
	}
	if len(left) > 0 {
		errs = append(errs, s.stream.Synchronize())
	}
	for _, p := range left {
		s.placing.free <- p.buffer
	}
	for _, e := range s.moved {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}
