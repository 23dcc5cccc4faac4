package secondpass

import (
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Add loads whole rows of the bucket, in order, and returns how many it took: fewer than all if
// the table is full. It has copied the rows when it returns.
func (b *Pass) Add(rows []uint64) (taken int, err error) {
	if b.failed != nil {
		return 0, b.failed
	}
	if b.phase == idle {
		return 0, ErrIdle
	}
	stride := b.config.Layout.Stride()
	for len(rows) > 0 && b.phase == loading {
		n, err := b.fill(rows)
		if err != nil {
			return taken, b.fail(err)
		}
		rows, taken = rows[n*stride:], taken+n
	}
	return taken, nil
}

// fill copies as many rows as the round and the buffer take. It sends the buffer when that is
// full, and begins the next round when this one has ended and there are more rows.
func (b *Pass) fill(rows []uint64) (n int, err error) {
	if b.rounds.left() == 0 {
		if err := b.nextRound(); err != nil || b.phase == full {
			return 0, err
		}
	}
	s, stride := &b.stages[b.current], b.config.Layout.Stride()
	if !s.ours {
		if err := b.wait(s.moved); err != nil {
			return 0, err
		}
		s.ours = true
	}
	n = b.room(len(rows) / stride)
	copy(s.words[s.rows*stride:], rows[:n*stride])
	return n, b.took(n)
}

// room is how many of so many rows the round and the buffer take.
func (b *Pass) room(rows int) int {
	return min(rows, int(b.plan.buffer)-b.stages[b.current].rows, int(b.rounds.left()))
}

// took counts n more rows in the stage, and sends the stage when it is full.
func (b *Pass) took(n int) error {
	if b.rounds.begin == b.rounds.taken {
		b.stats.Rounds++
	}
	s := &b.stages[b.current]
	s.rows += n
	b.rounds.taken += int64(n)
	b.stats.Rows += int64(n)
	if s.rows == int(b.plan.buffer) {
		return b.send()
	}
	return nil
}

// send queues the copy of the current buffer to the device and its aggregation there, asks for a
// count if one is due, and turns to the other buffer.
func (b *Pass) send() error {
	s := &b.stages[b.current]
	if s.rows == 0 {
		return nil
	}
	if err := b.cross(s); err != nil {
		return err
	}
	if err := b.copies.Record(s.moved); err != nil {
		return err
	}
	if err := b.work.Wait(s.moved); err != nil {
		return err
	}
	if err := b.table.AddShared(b.work, s.device, uint64(s.rows), b.rounds.estimate()); err != nil {
		return err
	}
	if err := b.work.Record(s.worked); err != nil {
		return err
	}
	b.stats.Loads++
	b.stats.BytesIn += int64(s.rows) * int64(b.config.Layout.RowBytes())
	s.rows, s.sent, s.ours = 0, 0, false
	b.current = 1 - b.current
	if b.rounds.due() {
		return b.ask()
	}
	return nil
}

// cross queues copies of the rows in a buffer that are not on their way yet.
func (b *Pass) cross(s *stage) error {
	if s.sent == s.rows {
		return nil
	}
	row := b.config.Layout.RowBytes()
	from, end := cuda.Size(s.sent)*row, cuda.Size(s.rows)*row
	return b.copyIn(s, s.rows-s.sent, s.pinned.Span(from, end))
}

// copyIn queues the copy of n rows to the twin, behind the copies that are under way. The first
// copy waits for the kernels that use the twin.
func (b *Pass) copyIn(s *stage, n int, from cuda.PinnedSpan) error {
	if s.sent == 0 {
		if err := b.copies.Wait(s.worked); err != nil {
			return err
		}
	}
	at := cuda.Size(s.sent) * b.config.Layout.RowBytes()
	s.sent += n
	return b.copies.CopyIn(s.device.Slice(at, at+from.Size()), from)
}

// ask queues a count of the groups. All rows that were taken must have been sent.
func (b *Pass) ask() error {
	if err := b.work.Fill(b.facts.count(), 0); err != nil {
		return err
	}
	if err := b.table.CountGroups(b.work, b.facts.count()); err != nil {
		return err
	}
	if err := b.facts.fetch(b.work, factGroups, b.facts.count().Ptr); err != nil {
		return err
	}
	b.rounds.ask()
	b.stats.Counts++
	return b.work.Record(b.facts.counted)
}

// answer waits for the count under way.
func (b *Pass) answer() error {
	if err := b.wait(b.facts.counted); err != nil {
		return err
	}
	b.rounds.answer(int64(b.facts.words[factGroups]))
	return nil
}

// nextRound begins the next round, or finds that the table is full.
func (b *Pass) nextRound() error {
	if b.rounds.asked != unasked {
		if err := b.answer(); err != nil {
			return err
		}
		if b.rounds.next() {
			return nil
		}
	}
	if !b.rounds.exact() {
		if err := b.send(); err != nil {
			return err
		}
		if err := b.ask(); err != nil {
			return err
		}
		if err := b.answer(); err != nil {
			return err
		}
	}
	if !b.rounds.next() {
		b.phase = full
	}
	return nil
}

// wait waits for an event.
func (b *Pass) wait(e *cuda.Event) error {
	begin := time.Now()
	err := e.Synchronize()
	b.stats.Wait += time.Since(begin)
	return err
}
