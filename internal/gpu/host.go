package gpu

import "github.com/gagg-dev/gagg/internal/budget"

// hostShare is what a device and its writers may have of the host's memory, where that is limited.
// It is a plan: newPinned draws the pinned part, and writers draw their least pages.
type hostShare struct {
	pinned  int64 // bytes for slots and for rows that leave the device; 0: there is no limit
	writers int64 // bytes for rows that its writers have; 0: the same
}

const (
	// pinnedParts is the divisor of the memory of reading workers that gives the most that all
	// devices pin. Pinned memory cannot be written to disk; that of workers can. A device can use
	// some 0.5 GiB with 16 threads (use), so the part decides where workers have less than 2 GiB.
	pinnedParts = 4

	// retainParts is the divisor of the share that gives the most for retained rows. Slots have up
	// to a half, so that a quarter at least is left for rows that go to writers, which never wait
	// for retained rows.
	retainParts = 4

	// leavingBytes is the size of two buffers by which rows go to writers. Beside one for each
	// writer there are some for each stream: leavingBuffers is enough for four streams, each with
	// sendAhead and one of ega/evict; by default a run has fewer streams. With fewer buffers a pass
	// works too: with two in place of four ahead it took as long (docs/experiments/0014).
	leavingBytes   = 8 << 20
	leavingBuffers = 20

	// leastSlot is the smallest slot: 64 KiB cross in 1.3 µs, while a copy takes 6 µs however small
	// it is, and a launch 4.
	leastSlot = 64 << 10

	// leastSlots: one is filled while another crosses.
	leastSlots = 2
)

// errPinned is that the share is used up.
var errPinned = &budget.Error{Why: "the memory that a device may pin is used up"}

// planHost is the share of each device. The memory that is left to workers is enough for the few
// rows that they have beside devices: groups whose strings are long.
func planHost(c *Config, devices int) hostShare {
	all := c.Host.Worker * int64(c.Threads)
	return hostShare{pinned: all / pinnedParts / int64(devices), writers: (c.Run.MostReserved() - c.Texts) / int64(devices)}
}

// newReserve reserves the shares of the devices and the memory that their writers need. nil: memory
// is not limited, or there is too little, and then opening the devices fails.
func newReserve(c *Config, devices int) *budget.Reservation {
	share := planHost(c, devices)
	if share.pinned == 0 {
		return nil
	}
	reserve, err := c.Run.Reserve(int64(devices) * (share.pinned + c.Host.Pages))
	if err != nil {
		return nil
	}
	return reserve
}

// use limits the pinned part of the share to what can be used: by slots of `slots` bytes, by `keep`
// bytes of retained rows, and by the rows that go to writers. The writers have the rest.
func (s *hostShare) use(slots, keep int64, writers int) {
	s.pinned = min(s.pinned, slots+keep+int64(writers+leavingBuffers)*leavingBytes)
	s.writers -= s.pinned
}

// newPinned reserves a device's part of the host's memory, for slots and for rows that leave it.
// Where memory is limited it is reserved as a whole: before workers begin, or, for a device that a
// run can do without, when it is opened (HOST-SHARE). For pinned memory cannot be written to disk,
// and rows must be able to leave the device also when other owners have all other memory. It is
// closed when no more rows leave the device and the workers' memory is free; the part that is not
// pinned is released then.
func newPinned(c *Config, s hostShare, reserve *budget.Reservation) (p *budget.Reservation, err error) {
	if s.pinned > 0 {
		p = reserve.Split(s.pinned)
	}
	if p == nil {
		if p, err = c.Run.Reserve(s.pinned); err != nil {
			return nil, err
		}
	}
	if p.Full = errPinned; s.pinned == 0 {
		p.Close() // it lends what the run has
	}
	return p, nil
}

// retain is how many bytes rows may take that stay when they have left the device: most, or a part
// of the share.
func (s *hostShare) retain(most int64) int64 {
	if s.pinned > 0 {
		return s.pinned / retainParts
	}
	return most
}

// slots is how many slots take a half of the share, or as many as are of use, and of which size, at
// most that given.
func (s *hostShare) slots(wanted, bytes int) (n, each int) {
	most := int(s.pinned) / 2
	if most == 0 {
		return wanted, bytes
	}
	each = min(bytes, max(most/wanted/leastSlot*leastSlot, leastSlot))
	return min(wanted, max(most/each, leastSlots)), each
}

// whole is slots for slots that cannot be smaller; 0: there is no room for so few as are of use.
func (s *hostShare) whole(wanted, bytes int) (n int) {
	most := int(s.pinned) / 2
	if most == 0 {
		return wanted
	}
	if n = min(wanted, most/bytes); n < leastSlots {
		return 0
	}
	return n
}
