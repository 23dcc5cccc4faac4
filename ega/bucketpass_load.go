package ega

import (
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Add loads rows of the bucket, whole ones, in order, and says how many it took: fewer than all if the table is full. It
// has copied them when it returns.
func (b *BucketPass) Add(rows []uint64) (taken int, err error) {
	if b.failed != nil {
		return 0, b.failed
	}
	if b.phase == bucketIdle {
		return 0, ErrNoBucket
	}
	stride := b.config.Layout.Stride()
	for len(rows) > 0 && b.phase == bucketLoading {
		n, err := b.fill(rows)
		if err != nil {
			return taken, b.fail(err)
		}
		rows, taken = rows[n*stride:], taken+n
	}
	return taken, nil
}

// fill copies as many rows as the round and the buffer take, sends the buffer when it is full, and begins the next round
// when this one has ended and rows are there for it.
func (b *BucketPass) fill(rows []uint64) (n int, err error) {
	if b.rounds.left() == 0 {
		if err := b.nextRound(); err != nil || b.phase == bucketFull {
			return 0, err
		}
	}
	s, stride := &b.stages[b.current], b.config.Layout.Stride()
	if s.rows == 0 {
		if err := b.wait(s.moved); err != nil {
			return 0, err
		}
	}
	if b.rounds.begin == b.rounds.taken {
		b.stats.Rounds++
	}
	n = min(len(rows)/stride, int(b.plan.buffer)-s.rows, int(b.rounds.left()))
	copy(s.words[s.rows*stride:], rows[:n*stride])
	s.rows += n
	b.rounds.taken += int64(n)
	b.stats.Rows += int64(n)
	if s.rows == int(b.plan.buffer) {
		return n, b.send()
	}
	return n, nil
}

// send queues the copy of the current buffer to the device and its aggregation there, asks for a count if one is
// due, and turns to the other buffer.
func (b *BucketPass) send() error {
	s := &b.stages[b.current]
	if s.rows == 0 {
		return nil
	}
	size := cuda.Size(s.rows) * b.config.Layout.RowBytes()
	if err := b.move(s, func() error { return b.copies.CopyIn(s.device.Slice(0, size), s.pinned.Span(0, size)) }); err != nil {
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
	b.stats.BytesIn += int64(size)
	s.rows = 0
	b.current = 1 - b.current
	if b.rounds.due() {
		return b.ask()
	}
	return nil
}

// move queues a copy between a buffer and its twin, behind the kernels on that.
func (b *BucketPass) move(s *bucketStage, copies func() error) error {
	if err := b.copies.Wait(s.worked); err != nil {
		return err
	}
	if err := copies(); err != nil {
		return err
	}
	return b.copies.Record(s.moved)
}

// ask queues a count of the groups. All rows taken have been sent.
func (b *BucketPass) ask() error {
	if err := b.work.Fill(b.facts.count(), 0); err != nil {
		return err
	}
	if err := b.table.countGroups(b.work, b.facts.count()); err != nil {
		return err
	}
	if err := b.facts.fetch(b.work, factGroups, b.facts.count()); err != nil {
		return err
	}
	b.rounds.ask()
	b.stats.Counts++
	return b.work.Record(b.facts.told)
}

// answer waits for the count under way.
func (b *BucketPass) answer() error {
	if err := b.wait(b.facts.told); err != nil {
		return err
	}
	b.rounds.answer(int64(b.facts.words[factGroups]))
	return nil
}

// nextRound begins the next round, or finds that the table is full.
func (b *BucketPass) nextRound() error {
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
		b.phase = bucketFull
	}
	return nil
}

// wait waits for an event.
func (b *BucketPass) wait(e *cuda.Event) error {
	begin := time.Now()
	err := e.Synchronize()
	b.stats.Wait += time.Since(begin)
	return err
}
