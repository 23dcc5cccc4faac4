package secondpass

import (
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// End gives emit the groups of the rows that were taken, in pieces of whole rows that are valid
// until emit returns, and ends the bucket. The groups come in the order of their slots, which is
// nearly that of their hash. There are two exceptions. Groups with the greatest hashes come first
// if probing wrapped around to the first slots. The group of the one-word key that looks like an
// empty slot comes last. An error of emit ends the bucket too.
func (b *Pass) End(emit func(rows []uint64) error) error {
	if b.failed != nil {
		return b.failed
	}
	if b.phase == idle {
		return ErrIdle
	}
	b.stats.Buckets++
	if b.phase == full {
		b.stats.Full++
	}
	b.phase = idle
	if b.rounds.taken == 0 {
		return nil
	}
	if err := b.fail(b.finishLoading()); err != nil {
		return err
	}
	return b.emit(emit)
}

// finishLoading sends what is left in the buffer. It counts the groups if that may save parts,
// each of which takes a launch and a wait.
func (b *Pass) finishLoading() error {
	if err := b.send(); err != nil {
		return err
	}
	if b.rounds.exact() || b.slots <= 2*b.partSlots() {
		return nil
	}
	if err := b.ask(); err != nil {
		return err
	}
	return b.answer()
}

// emit collects one part of the table after the other. While a part is emitted, the next one
// crosses the link, and the one after that is collected:
//
//	device   collect 0 | collect 1          | collect 2 ...
//	link                 copy 0   | copy 1
//	host                            emit 0  | emit 1
func (b *Pass) emit(emit func(rows []uint64) error) error {
	step := b.partSlots()
	parts := int((b.slots-1)/step) + 1
	groups := uint64(0)
	for i := range parts + 2 {
		if i < parts {
			from := uint32(i) * step
			if err := b.collect(i, from, min(b.slots-from, step)); err != nil {
				return b.fail(err)
			}
		}
		if part := i - 1; part >= 0 && part < parts {
			if err := b.fetch(part); err != nil {
				return b.fail(err)
			}
		}
		if part := i - 2; part >= 0 {
			n, err := b.deliver(part, emit)
			if err != nil {
				return err
			}
			groups += n
		}
	}
	if invariant.Enabled {
		invariant.Check(groups <= uint64(b.rounds.load.NextLoad(0)), "LOAD-MAX: the table had more groups than it may")
	}
	return nil
}

// partSlots is the number of slots of a part. The buffer must hold as many groups and one more,
// which the last part may have behind its slots. If all groups fit, there is one part.
func (b *Pass) partSlots() uint32 {
	if b.rounds.most() <= int64(b.plan.buffer) {
		return b.slots
	}
	return min(b.plan.buffer-1, b.slots)
}

// collect queues part i of the table, made dense, to the device's side of its stage.
func (b *Pass) collect(i int, from, n uint32) error {
	s := &b.stages[i%2]
	if i == 0 {
		if err := b.facts.fetch(b.work, factRefused, b.table.Rest().Count); err != nil {
			return err
		}
	}
	if err := b.work.Wait(s.moved); err != nil {
		return err
	}
	if err := b.table.CollectPart(b.work, from, from+n, b.facts.unused(), s.device); err != nil {
		return err
	}
	if err := b.facts.fetch(b.work, factPart+i%2, b.table.Total().Ptr); err != nil {
		return err
	}
	return b.work.Record(s.worked)
}

// fetch queues the copy of part i to the host, when its groups have been counted.
func (b *Pass) fetch(i int) error {
	s := &b.stages[i%2]
	if err := b.wait(s.worked); err != nil {
		return err
	}
	if n := b.facts.words[factRefused]; n != 0 {
		return fmt.Errorf("%w: %d rows", ega.ErrNoSlot, n)
	}
	s.rows = int(b.facts.words[factPart+i%2])
	size := cuda.Size(s.rows) * b.config.Layout.RowBytes()
	if err := b.copies.Wait(s.worked); err != nil {
		return err
	}
	if err := b.copies.CopyOut(s.pinned.Span(0, size), s.device.Slice(0, size)); err != nil {
		return err
	}
	return b.copies.Record(s.moved)
}

// deliver gives emit the groups of part i, and says how many they are.
func (b *Pass) deliver(i int, emit func(rows []uint64) error) (uint64, error) {
	s := &b.stages[i%2]
	n := s.rows
	s.rows = 0
	if n == 0 {
		return 0, nil
	}
	if err := b.wait(s.moved); err != nil {
		return 0, b.fail(err)
	}
	b.stats.Groups += int64(n)
	b.stats.BytesOut += int64(n) * int64(b.config.Layout.RowBytes())
	return uint64(n), emit(s.words[:n*b.config.Layout.Stride()])
}
