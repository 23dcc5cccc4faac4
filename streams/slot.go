package streams

import (
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Slot is staging memory that a producer has to itself between Pipeline.Slot
// and Submit or Release.
type Slot struct {
	staging
	index int
	taken time.Duration // when the producer got it
	lent  bool          // a producer has it (checked under -tags invariant)
}

// Bytes is the memory to fill, of SlotBytes bytes. What it holds before is
// undefined. After Submit or Release it is not the producer's any more.
func (s *Slot) Bytes() []byte { return s.bytes }

// startSlots makes the slots that there have to be, and has the others made while producers fill
// these.
func (p *Pipeline) startSlots() error {
	enough := min(minSlots, p.config.Slots)
	if err := p.onThread(func(t *cuda.Thread) error { return p.makeSlots(t, enough) }); err != nil {
		return err
	}
	if p.stats.PageableSlots > 0 || len(p.slots) < enough {
		return nil
	}
	p.missing.Store(int64(p.config.Slots - enough))
	for range min(pinners, p.config.Slots-enough) {
		p.pinning.Go(func() { p.note(invariant.Fenced(func() error { return p.onThread(p.makeOthers) })) })
	}
	return nil
}

// pinners is how many goroutines make slots at a time. Most of it is waiting for the system to
// clear pages: on an H200's host four take a third of the time of one, and more no less.
const pinners = 4

// onThread lets do use a thread of its own.
func (p *Pipeline) onThread(do func(*cuda.Thread) error) error {
	t, err := p.context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	return do(t)
}

// makeSlots makes n slots; pageable ones take the place of those that cannot be pinned, and one
// will do.
func (p *Pipeline) makeSlots(t *cuda.Thread, n int) error {
	err := p.addSlots(n, func(bytes int) (staging, error) { return p.pin(t, bytes) })
	if refused(err) {
		p.refuse(err)
		err = p.addSlots(n, p.pageable)
	}
	if refused(err) && len(p.slots) > 0 {
		p.refuse(err)
		return nil
	}
	return err
}

// makeOthers makes slots that are wanted beside those that there have to be, or as many as can be
// pinned.
func (p *Pipeline) makeOthers(t *cuda.Thread) error {
	for p.missing.Add(-1) >= 0 && !p.isStopped() {
		m, err := p.pin(t, p.config.SlotBytes)
		if refused(err) {
			p.missing.Store(0) // the others need not try
			p.refuse(err)
			return nil
		}
		if err != nil {
			return err
		}
		p.addSlot(m)
	}
	return nil
}

// addSlots makes slots until there are n, or the pipeline stops.
func (p *Pipeline) addSlots(n int, stage func(bytes int) (staging, error)) error {
	for len(p.slots) < n && !p.isStopped() {
		m, err := stage(p.config.SlotBytes)
		if err != nil {
			return err
		}
		p.addSlot(m)
	}
	return nil
}

func (p *Pipeline) addSlot(m staging) {
	p.mu.Lock()
	s := &Slot{staging: m, index: len(p.slots)}
	p.slots = append(p.slots, s)
	p.stats.Slots++
	if m.pinned == nil {
		p.stats.PageableSlots++
	}
	p.mu.Unlock()
	p.idle <- s // has room for all slots
}
