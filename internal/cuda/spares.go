package cuda

import (
	"errors"
	"slices"
	"sync"
)

// This file keeps what a program will soon want again: a run takes some 10 ms to make its streams,
// events and pinned memory, and to free them.
//
// SPARE-IDLE: a spare is used by nobody, and no work of the device refers to it.

// mostSpare is the most pinned memory that is kept: what a run has in slots with 16 threads, twice.
const mostSpare = 512 << 20

// spares are streams, events and pinned memory of a primary context that were closed and wait for
// whoever asks for the like. There are none unless a Context of it keeps them (KeepSpares).
type spares struct {
	mu      sync.Mutex
	keepers int
	streams []uintptr
	events  []uintptr
	pinned  []block // the oldest first
	bytes   Size    // of pinned
}

// KeepSpares has what is closed in the device's primary context wait for the next that is made,
// until this Context is closed: streams, events, and up to 512 MiB of pinned memory, which no
// lender counts meanwhile. It is called once.
func (c *Context) KeepSpares() {
	s := &c.primary.spares
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepers++
	c.keeps.Store(true)
}

// FreePinnedSpares frees the pinned memory that waits: memory is scarce.
func (c *Context) FreePinnedSpares() error {
	s := &c.primary.spares
	s.mu.Lock()
	pinned := s.pinned
	s.pinned, s.bytes = nil, 0
	s.mu.Unlock()
	return c.freeSpares(nil, nil, pinned)
}

// stopKeeping frees the spares with the last Context that keeps them, which is about to be closed.
func (c *Context) stopKeeping() error {
	if !c.keeps.Swap(false) {
		return nil
	}
	s := &c.primary.spares
	s.mu.Lock()
	s.keepers--
	if s.keepers > 0 {
		s.mu.Unlock()
		return nil
	}
	streams, events, pinned := s.streams, s.events, s.pinned
	s.streams, s.events, s.pinned, s.bytes = nil, nil, nil, 0
	s.mu.Unlock()
	return c.freeSpares(streams, events, pinned)
}

// freeSpares frees what nobody has any more, unless the context is lost.
func (c *Context) freeSpares(streams, events []uintptr, pinned []block) error {
	if c.Lost() != nil || len(streams)+len(events)+len(pinned) == 0 {
		return nil
	}
	err := c.on(func() error {
		err := c.freeBlocks(pinned)
		for _, stream := range streams {
			err = errors.Join(err, c.destroyStream(stream))
		}
		for _, event := range events {
			err = errors.Join(err, c.destroyEvent(event))
		}
		return err
	})
	if c.Lost() != nil { // meanwhile, or another context of the device was before
		return nil
	}
	return err
}

func (c *Context) freeBlocks(pinned []block) (err error) {
	for i := range pinned {
		err = errors.Join(err, c.freeBlock(&pinned[i]))
	}
	return err
}

// keeping reports whether what is closed may stay.
func (c *Context) keeping() bool {
	s := &c.primary.spares
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keepers > 0
}

// spare takes a handle from one of the lists of handles; 0: there is none.
func (s *spares) spare(list *[]uintptr) (handle uintptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(*list); n > 0 {
		handle = (*list)[n-1]
		*list = (*list)[:n-1]
	}
	return handle
}

// keep adds an idle handle to a list of handles, if spares are kept (SPARE-IDLE).
func (s *spares) keep(list *[]uintptr, handle uintptr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keepers > 0 {
		*list = append(*list, handle)
	}
	return s.keepers > 0
}

// block takes pinned memory of a size, that which was closed last.
func (s *spares) block(size Size) (b block, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.pinned) - 1; i >= 0; i-- {
		if b = s.pinned[i]; b.size == size {
			s.pinned = slices.Delete(s.pinned, i, i+1)
			s.bytes -= size
			return b, true
		}
	}
	return block{}, false
}

// keepBlock adds idle pinned memory (SPARE-IDLE), and returns what is to be freed in its place:
// that memory, or the oldest.
func (s *spares) keepBlock(b block) (free []block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keepers == 0 || b.size > mostSpare || b.device == 0 { // the last where it was not mapped
		return []block{b}
	}
	s.pinned = append(s.pinned, b)
	s.bytes += b.size
	for s.bytes > mostSpare {
		s.bytes -= s.pinned[0].size
		free = append(free, s.pinned[0])
		s.pinned = s.pinned[1:]
	}
	return free
}
