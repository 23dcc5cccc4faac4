package ega

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition"
)

// sender copies rows from the device to buffers for placers, on one stream. While the copies to one buffer are under way,
// those to the next are queued already.
type sender struct {
	placing *placing
	thread  *cuda.Thread
	stream  *cuda.Stream
	bytes   cuda.Size      // of a buffer
	moved   [2]*cuda.Event // in turns: the copies to a buffer are done
	turn    int
	filling *cuda.Pinned // nil: none is; else
	filled  cuda.Size    // how much of it has its copies queued
	pending placed       // all its copies are queued; no buffer: none are
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
	if err := s.pass(); err != nil {
		return err
	}
	return s.flush()
}

// chain sends the rows of partition p, whose pages are among those listed from partition 0 on.
func (s *sender) chain(c *partition.Chains, list partition.ChainPages, p int) (rows uint64, err error) {
	page := cuda.Size(c.PageRows()) * s.row()
	last, pages := list.Sizes[p].Last, list.Pages[list.From[p]:list.From[p+1]]
	for len(pages) > 0 {
		room, err := s.room(page)
		if err != nil {
			return rows, err
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
			return rows, err
		}
		s.filled += cuda.Size(n) * s.row()
		rows += uint64(n)
	}
	return rows, nil
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

// pass fills the buffer no further, and hands on the one before.
func (s *sender) pass() error {
	if s.filling == nil {
		return nil
	}
	if err := s.stream.Record(s.moved[s.turn]); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.pending = placed{s.filling, wordsOf(s.filling.Bytes()[:s.filled])}
	s.filling = nil
	s.turn = 1 - s.turn
	return nil
}

// buffer is the next one. Where none is free the placers first get the one that they may be waiting for.
func (s *sender) buffer() (*cuda.Pinned, error) {
	if b := s.free(); b != nil {
		return b, nil
	}
	if err := s.flush(); err != nil {
		return nil, err
	}
	if b := s.free(); b != nil {
		return b, nil
	}
	s.placing.more(s.thread)
	return s.placing.buffer()
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

// flush waits for the copies to the buffer that is pending, and hands it on.
func (s *sender) flush() error {
	if s.pending.buffer == nil {
		return nil
	}
	if err := s.moved[1-s.turn].Synchronize(); err != nil {
		return err
	}
	s.placing.full <- s.pending // has room for all buffers
	s.placing.pass.counts.placed(uint64(len(s.pending.rows) / s.placing.pass.plan.layout.Stride()))
	s.pending = placed{}
	return nil
}

// close gives back what an error left.
func (s *sender) close() error {
	var errs []error
	for _, b := range []*cuda.Pinned{s.filling, s.pending.buffer} {
		if b != nil {
			errs = append(errs, s.stream.Synchronize())
			s.placing.free <- b
		}
	}
	for _, e := range s.moved {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}
