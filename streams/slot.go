package streams

import (
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
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

// makeSlots makes as many slots as are wanted, or as can be pinned; where that is
// fewer than minSlots, pageable ones take their place.
func (p *Pipeline) makeSlots(t *cuda.Thread) error {
	pin := func(n int) (staging, error) { return p.pin(t, n) }
	err := p.addSlots(p.config.Slots, pin)
	if refused(err) {
		p.refuse(err)
		err = p.addSlots(min(minSlots, p.config.Slots), p.pageable)
	}
	if refused(err) && len(p.slots) > 0 {
		p.refuse(err)
		return nil
	}
	return err
}

// addSlots makes slots until there are n.
func (p *Pipeline) addSlots(n int, stage func(bytes int) (staging, error)) error {
	for len(p.slots) < n {
		m, err := stage(p.config.SlotBytes)
		if err != nil {
			return err
		}
		p.addSlot(m)
	}
	return nil
}

func (p *Pipeline) addSlot(m staging) {
	s := &Slot{staging: m, index: len(p.slots)}
	p.slots = append(p.slots, s)
	p.idle <- s
	p.stats.Slots++
	if m.pinned == nil {
		p.stats.PageableSlots++
	}
}
