package ega

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition"
)

// sendAhead is how many buffers of a sender have copies under way at most: 4 MiB cross in 80 µs, and who waits for them sleeps for 90
// and then waits for a core that placers keep. A guess.
const sendAhead = 4

// sender copies rows from the device to buffers, on one stream: while the copies to some are under way, those to the
// next are queued already. The buffers go on to placers, or they are kept.
type sender struct {
	placing *placing
	kept    *kept
	thread  *cuda.Thread
	stream  *cuda.Stream
	bytes   cuda.Size // of a buffer for placers
	moved   [sendAhead]*cuda.Event
	queued  []load // all their copies are queued, and the events from turn on, one each, tell when these are done
	turn    int
	filling load // no buffer: none is
}

// load is a buffer on its way through a sender.
type load struct {
	buffer *cuda.Pinned
	filled cuda.Size   // how much of it has its copies queued
	kept   *keptBuffer // whose rows stay; nil: the buffer is one of the placers'
}

// room is how many bytes there are room for.
func (l *load) room() cuda.Size { return l.buffer.Device().Size - l.filled }

// sent counts bytes whose copy was queued, of rows of a chain (KeptSpan).
func (l *load) sent(start uint64, bits uint, n cuda.Size) {
	if l.kept != nil {
		l.kept.note(start, bits, l.filled, n)
	}
	l.filled += n
}

// sending lets do send rows, and waits until all are with the placers.
func (p *placing) sending(t *cuda.Thread, stream *cuda.Stream, do func(*sender) error) (err error) {
	s := &sender{placing: p, kept: &p.pass.kept, thread: t, stream: stream}
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

// chain sends the rows of partition p, whose pages are among those listed of all partitions.
func (s *sender) chain(c *partition.Chains, list partition.ChainPages, p int) error {
	page, chainBits := cuda.Size(c.PageRows())*s.row(), uint(bits.TrailingZeros(uint(len(list.Sizes))))
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
		f := &s.filling
		n, err := c.CopyOut(s.stream, some, f.buffer, f.filled)
		if err != nil {
			return err
		}
		f.sent(uint64(p)<<(64-chainBits), chainBits, cuda.Size(n)*s.row())
	}
	return nil
}

// groups sends groups of a stretch, which lie one after the other, chain by chain: of as many bits as the chains of rows have at most.
func (s *sender) groups(g *Groups, of stretch, rows cuda.Span) error {
	chainBits := min(g.fine, MostKeptBits)
	shift := g.fine - chainBits // 2^shift buckets are of one chain
	for first := of.first; rows.Size > 0; {
		chain := uint64(first) >> shift
		last := min(int(chain+1)<<shift, max(of.end, of.first+1))
		part := rows
		if of.end > of.first {
			part = rows.Slice(0, cuda.Size(g.from[last]-g.from[first])*g.row)
		}
		if err := s.dense(part, chain<<(64-chainBits), chainBits); err != nil {
			return err
		}
		rows, first = rows.Slice(part.Size, rows.Size), last
	}
	return nil
}

// dense sends rows that lie one after the other, all of one chain.
func (s *sender) dense(from cuda.Span, start uint64, chainBits uint) error {
	for from.Size > 0 {
		room, err := s.room(s.row())
		if err != nil {
			return err
		}
		n := min(room/s.row()*s.row(), from.Size)
		f := &s.filling
		if err := s.stream.CopyOut(f.buffer.Span(f.filled, f.filled+n), from.Slice(0, n)); err != nil {
			return err
		}
		f.sent(start, chainBits, n)
		from = from.Slice(n, from.Size)
	}
	return nil
}

func (s *sender) row() cuda.Size { return s.placing.pass.plan.layout.RowBytes() }

// room sees to it that a buffer is being filled which has room for some bytes, and says for how many.
func (s *sender) room(least cuda.Size) (cuda.Size, error) {
	if s.filling.buffer != nil && s.filling.room() < least {
		if err := s.pass(); err != nil {
			return 0, err
		}
	}
	if s.filling.buffer == nil {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	return s.filling.room(), nil
}

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
	if len(s.queued) == sendAhead {
		if err := s.handOn(); err != nil {
			return err
		}
	}
	if err := s.stream.Record(s.moved[(s.turn+len(s.queued))%sendAhead]); err != nil {
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
	s.placing.full <- placed{first.buffer, wordsOf(first.buffer.Bytes()[:first.filled])} // has room for all buffers
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

// close gives back what an error left.
func (s *sender) close() error {
	var errs []error
	left := s.queued
	if s.filling.buffer != nil {
		left = append(left, s.filling)
	}
	if len(left) > 0 {
		errs = append(errs, s.stream.Synchronize())
	}
	for _, l := range left {
		if l.kept != nil {
			s.kept.take(l.kept)
		} else {
			s.placing.free <- l.buffer
		}
	}
	for _, e := range s.moved {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}
