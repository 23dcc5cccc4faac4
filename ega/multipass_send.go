package ega

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition"
)

// sender copies rows from the device to buffers for placers, on one stream. While one buffer is filled the copies to the
// next are queued already.
type sender struct {
	placing *placing
	thread  *cuda.Thread
	stream  *cuda.Stream
	bytes   cuda.Size      // of a buffer
	moved   [2]*cuda.Event // in turns: the copies to a buffer are done
	turn    int
	pending placed // its copies are queued; no buffer: none are
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
	return s.flush()
}

// send takes a buffer, lets queue put copies of rows to it into the stream, and hands on the buffer before. queue
// returns how many rows there are.
func (s *sender) send(queue func(to *cuda.Pinned) (rows int, err error)) (int, error) {
	b, err := s.buffer()
	if err != nil {
		return 0, err
	}
	n, err := queue(b)
	if err == nil {
		err = s.stream.Record(s.moved[s.turn])
	}
	if err == nil {
		err = s.flush()
	}
	if err != nil {
		err = errors.Join(err, s.stream.Synchronize())
		s.placing.free <- b
		return 0, err
	}
	s.pending = placed{b, wordsOf(b.Bytes()[:n*int(s.placing.pass.plan.layout.RowBytes())])}
	s.turn = 1 - s.turn
	return n, nil
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

// flush waits for the copies under way but those to the last buffer, and hands their buffer on.
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
	if s.pending.buffer != nil {
		errs = append(errs, s.stream.Synchronize())
		s.placing.free <- s.pending.buffer
	}
	for _, e := range s.moved {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}

// chain sends the rows of partition p, whose pages are among those listed from partition 0 on, as many pages at a
// time as a buffer has room for.
func (s *sender) chain(c *partition.Chains, list partition.ChainPages, p int) (rows uint64, err error) {
	last, pages := list.Sizes[p].Last, list.Pages[list.From[p]:list.From[p+1]]
	step := max(int(s.bytes/(cuda.Size(c.PageRows())*s.placing.pass.plan.layout.RowBytes())), 1)
	for len(pages) > 0 {
		some := partition.ChainPages{First: p, Pages: pages[:min(step, len(pages))]}
		pages = pages[len(some.Pages):]
		size := partition.ChainSize{Pages: len(some.Pages), Last: c.PageRows()}
		if len(pages) == 0 {
			size.Last = last
		}
		some.Sizes, some.From = []partition.ChainSize{size}, []uint32{0, uint32(len(some.Pages))}
		n, err := s.send(func(to *cuda.Pinned) (int, error) { return c.CopyOut(s.stream, some, to, 0) })
		if err != nil {
			return rows, err
		}
		rows += uint64(n)
	}
	return rows, nil
}

// dense sends n rows that lie one after the other.
func (s *sender) dense(from cuda.Span, n uint64) error {
	row := s.placing.pass.plan.layout.RowBytes()
	step := uint64(s.bytes / row)
	for at := uint64(0); at < n; at += step {
		end := min(at+step, n)
		piece := from.Slice(cuda.Size(at)*row, cuda.Size(end)*row)
		if _, err := s.send(func(to *cuda.Pinned) (int, error) {
			return int(end - at), s.stream.CopyOut(to.Span(0, piece.Size), piece)
		}); err != nil {
			return err
		}
	}
	return nil
}
