package gpu

import (
	"errors"
	"sync"

	"github.com/gagg-dev/gagg/internal/cpu"
)

// pinned is what a device has of the host's memory for slots and for rows that leave it. Where memory is limited that is a share (HOST-SHARE),
// drawn as a whole when the device is opened: what is pinned cannot be put to disk, and rows must be able to leave whoever has the
// memory by then.
type pinned struct {
	grow func(bytes int64) error

	mu    sync.Mutex
	share int64 // bytes; 0: there is no limit, or the share is given back
	held  int64 // of it
}

const (
	// pinnedParts: all devices pin up to one of so many parts of what workers may take while they read. A guess.
	pinnedParts = 4

	// keptParts: up to one of so many parts of the share is for rows that stay in it. Slots have up to a half, so that as much
	// is left for rows that go to placers, who can go on whatever is kept.
	keptParts = 4

	// leastSlot is the smallest slot: below that starting kernels is all that a device does. A guess.
	leastSlot = 64 << 10

	// leastSlots: one is filled while another crosses.
	leastSlots = 2
)

// errPinned is that the share is used up.
var errPinned = errors.New("the memory that a device may pin is used up")

func newPinned(c *cpu.Config, devices int) (*pinned, error) {
	p := &pinned{grow: c.Grow, share: c.Memory.Worker * int64(c.Threads) / pinnedParts / int64(devices)}
	if err := p.grow(p.share); err != nil {
		return nil, &cpu.RefusedError{Err: err}
	}
	return p, nil
}

// take is ega.MultiPassConfig.Host.
func (p *pinned) take(bytes int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.share == 0 {
		if err := p.grow(bytes); err != nil {
			return &cpu.RefusedError{Err: err}
		}
		return nil
	}
	if bytes > 0 && p.held+bytes > p.share {
		return &cpu.RefusedError{Err: errPinned}
	}
	p.held += bytes
	return nil
}

// lift ends the share: no more rows leave the device, and what workers had is free. Its memory goes to others.
func (p *pinned) lift() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.share > 0 {
		_ = p.grow(p.held - p.share) // only asking for more can fail
		p.share = 0
	}
}

// keep is how many bytes rows may take that stay when they have left the device: most, or a part of the share.
func (p *pinned) keep(most int64) int64 {
	if p.share > 0 {
		return p.share / keptParts
	}
	return most
}

// slots is how many slots take a half of the share, or as many as are of use, and of which size, at most that given.
func (p *pinned) slots(wanted, bytes int) (n, each int) {
	most := int(p.share) / 2
	if most == 0 {
		return wanted, bytes
	}
	each = min(bytes, max(most/wanted/leastSlot*leastSlot, leastSlot))
	return min(wanted, max(most/each, leastSlots)), each
}

// whole is slots for slots that cannot be smaller; 0: there is no room for so few as are of use.
func (p *pinned) whole(wanted, bytes int) (n int) {
	most := int(p.share) / 2
	if most == 0 {
		return wanted
	}
	if n = min(wanted, most/bytes); n < leastSlots {
		return 0
	}
	return n
}
