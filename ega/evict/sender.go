package evict

import (
	"errors"

	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// sender copies rows from the device to buffers. Kernels write them to a piece of device memory,
// one behind the other, and the piece leaves in one copy, since a copy takes 6 µs however small it
// is: pages of 512 KiB left at 34 GB/s where pieces of 4 MiB leave at 48 (docs/experiments/0012).
//
//	stream   rows to piece 0 | rows to piece 1 |      | rows to piece 0 …
//	copies                   | piece 0 to a buffer | piece 1 to that buffer or the next …
//
// While the copies to some buffers are under way, those to the next are queued already. The buffers
// go on to the writers, or their rows are retained.
type sender struct {
	of     *Eviction
	thread *cuda.Thread
	stream *cuda.Stream // of kernels
	copies *cuda.Stream
	memory cuda.Pieces
	pieces [sendPieces]sendPiece
	piece  int       // the one that is filled
	bytes  cuda.Size // of a buffer for the writers
	moved  [sendAhead]*cuda.Event
	// all their copies are queued, and the events from turn on, one each, tell when these are done
	queued  []outgoing
	turn    int
	filling outgoing // the buffer being filled; without a buffer: there is none
}

// sendPiece is device memory for rows that leave in one copy. All its rows are for the buffer that
// is being filled.
type sendPiece struct {
	span   cuda.Span
	filled cuda.Size
	there  *cuda.Event // its rows are in it
	gone   *cuda.Event // its rows have been copied to the host
}

// sending calls do with a sender, whose kernels gather rows on a stream in device memory of that
// many bytes. It waits until all rows are with the writers, or retained.
func (e *Eviction) sending(t *cuda.Thread, stream *cuda.Stream, memory cuda.Size, do func(*sender) error) (err error) {
	s := &sender{of: e, thread: t, stream: stream}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.bytes, err = e.writers.start(t); err != nil {
		return err
	}
	if err := s.open(memory); err != nil {
		return err
	}
	if err := do(s); err != nil {
		return err
	}
	return s.finish()
}

// open makes the memory of a sender: smaller pieces if others have taken the memory.
func (s *sender) open(memory cuda.Size) (err error) {
	if s.copies, err = s.thread.NewStream(); err != nil {
		return err
	}
	events := []**cuda.Event{}
	for i := range s.moved {
		events = append(events, &s.moved[i])
	}
	for i := range s.pieces {
		events = append(events, &s.pieces[i].there, &s.pieces[i].gone)
	}
	for _, e := range events {
		if *e, err = s.thread.NewEvent(); err != nil {
			return err
		}
	}
	s.memory.Thread = s.thread
	size := max(memory/sendPieces/cuda.AllocUnit*cuda.AllocUnit, s.of.row)
	for {
		err = s.memory.AllocAll(cuda.Piece{To: &s.pieces[0].span, Bytes: size}, cuda.Piece{To: &s.pieces[1].span, Bytes: size})
		if !errors.Is(err, cuda.ErrOutOfMemory) || size/2 < s.of.row {
			return err
		}
		size /= 2
	}
}

// chain sends the rows of chain p, whose pages have been listed.
func (s *sender) chain(c *ondevice.Chains, p, rows int, chainBits uint) error {
	for from := 0; from < rows; {
		room, err := s.room()
		if err != nil {
			return err
		}
		n := min(int(room), rows-from)
		if err := c.Gather(s.stream, p, from, n, s.allocate(uint32(n), uint64(p)<<(64-chainBits), chainBits)); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// groups sends the groups of a walk, all of one chain.
func (s *sender) groups(w *groups.Walk, start uint64, chainBits uint) error {
	for w.More() {
		room, err := s.room()
		if err != nil {
			return err
		}
		rows := w.Next(room)
		if rows == 0 {
			continue
		}
		if err := w.CopyTo(s.stream, s.allocate(rows, start, chainBits)); err != nil {
			return err
		}
	}
	return nil
}

// room makes sure that there are a buffer and a piece with room for a row, and returns for how
// many rows there is room.
func (s *sender) room() (rows uint32, err error) {
	row := s.of.row
	if s.filling.buffer != nil && s.filling.room() < row {
		if err := s.seal(); err != nil {
			return 0, err
		}
	}
	if p := &s.pieces[s.piece]; p.span.Size-p.filled < row {
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	if s.filling.buffer == nil {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	p := &s.pieces[s.piece]
	return uint32(min(p.span.Size-p.filled, s.filling.room()) / row), nil
}

// allocate returns the device memory for rows of one chain (Span), for which there must be room.
// The caller has kernels write the rows there.
func (s *sender) allocate(rows uint32, start uint64, chainBits uint) cuda.Span {
	n := cuda.Size(rows) * s.of.row
	p, f := &s.pieces[s.piece], &s.filling
	if f.retained != nil {
		f.retained.note(start, chainBits, f.filled, n)
	}
	p.filled += n
	f.filled += n
	return p.span.Slice(p.filled-n, p.filled)
}

// flush queues the copy of the piece to the host, and turns to the next piece.
func (s *sender) flush() error {
	p, f := &s.pieces[s.piece], &s.filling
	if p.filled == 0 {
		return nil
	}
	err := errors.Join(
		s.stream.Record(p.there),
		s.copies.Wait(p.there),
		s.copies.CopyOut(f.buffer.Span(f.filled-p.filled, f.filled), p.span.Slice(0, p.filled)),
		s.copies.Record(p.gone),
	)
	p.filled = 0
	s.piece = (s.piece + 1) % sendPieces
	return errors.Join(err, s.stream.Wait(s.pieces[s.piece].gone))
}

// close frees what the sender has, and gives back what an error left.
func (s *sender) close() error {
	var errs []error
	if s.copies != nil {
		errs = append(errs, s.stream.Synchronize(), s.copies.Close())
	}
	left := s.queued
	if s.filling.buffer != nil {
		left = append(left, s.filling)
	}
	for _, l := range left {
		if l.retained != nil {
			s.of.retention.add(l.retained)
		} else {
			s.of.writers.free <- l.buffer
		}
	}
	events := s.moved[:]
	for _, p := range s.pieces {
		events = append(events, p.there, p.gone)
	}
	for _, e := range events {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(append(errs, s.memory.Close())...)
}
