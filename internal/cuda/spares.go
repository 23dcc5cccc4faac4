package cuda

import (
	"errors"
	"slices"
	"sync"
)

// This file keeps what a program will soon want again: a run takes some 10 ms to make its streams,
// events and pinned memory, and to free them, and 2 ms a GiB of device memory each way.
//
// SPARE-IDLE: a spare is used by nobody, and no work of the device refers to it.

const (
	// mostSpare is the most pinned memory that is kept: what a run has in slots with 16 threads,
	// twice.
	mostSpare = 512 << 20
	// spareShare is the divisor of a device's memory that gives the most of it that is kept.
	spareShare = 4
	// looseShare is the divisor of a size that gives how many bytes a spare may have more.
	looseShare = 8
)

// spares are streams, events, pinned memory and device memory of a primary context that were closed
// and wait for whoever asks for the like. There are none unless a Context of it keeps them
// (KeepSpares).
type spares struct {
	mu      sync.Mutex
	keepers int
	streams []uintptr
	events  []uintptr
	pinned  stock[block]
	memory  stock[Span] // of the device
}

// stock is memory that waits.
type stock[T any] struct {
	list  []T // the oldest first
	bytes Size
}

// take takes memory of a size, or up to loose bytes more: the closest, and of these that which came
// last.
func (s *stock[T]) take(size, loose Size, of func(T) Size) (m T, ok bool) {
	best := -1
	for i := len(s.list) - 1; i >= 0; i-- {
		if n := of(s.list[i]); n >= size && n-size <= loose && (best < 0 || n < of(s.list[best])) {
			best = i
		}
	}
	if best < 0 {
		return m, false
	}
	m = s.list[best]
	s.list = slices.Delete(s.list, best, best+1)
	s.bytes -= of(m)
	return m, true
}

// put adds memory, up to `most` bytes in all, and returns the oldest that is to be freed in its
// place.
func (s *stock[T]) put(m T, most Size, of func(T) Size) (free []T) {
	s.list = append(s.list, m)
	s.bytes += of(m)
	for s.bytes > most {
		s.bytes -= of(s.list[0])
		free = append(free, s.list[0])
		s.list = s.list[1:]
	}
	return free
}

// takeAll takes all.
func (s *stock[T]) takeAll() (all []T) {
	all = s.list
	*s = stock[T]{}
	return all
}

func blockSize(b block) Size { return b.size }
func spanSize(s Span) Size   { return s.Size }

// KeepSpares has what is closed in the device's primary context wait for the next that is made,
// until this Context is closed: streams, events, up to 512 MiB of pinned memory, which no lender
// counts meanwhile, and up to a quarter of the device's memory. It is called once.
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
	pinned := s.pinned.takeAll()
	s.mu.Unlock()
	return c.freeSpares(nil, nil, pinned, nil)
}

// FreeMemorySpares frees the device memory that waits.
func (c *Context) FreeMemorySpares() error {
	return c.freeSpares(nil, nil, nil, c.primary.spares.takeMemory())
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
	streams, events, pinned, memory := s.streams, s.events, s.pinned.takeAll(), s.memory.takeAll()
	s.streams, s.events = nil, nil
	s.mu.Unlock()
	return c.freeSpares(streams, events, pinned, memory)
}

// freeSpares frees what nobody has any more, unless the context is lost. Nobody tries again later:
// if the context does not become current, it does so now.
func (c *Context) freeSpares(streams, events []uintptr, pinned []block, memory []Span) error {
	if c.Lost() != nil || len(streams)+len(events)+len(pinned)+len(memory) == 0 {
		return nil
	}
	began := false
	free := func() error {
		began = true
		err := errors.Join(c.freeBlocks(pinned), c.freeMemory(memory))
		for _, stream := range streams {
			err = errors.Join(err, c.destroyStream(stream))
		}
		for _, event := range events {
			err = errors.Join(err, c.destroyEvent(event))
		}
		return err
	}
	err := c.on(free)
	if !began {
		err = c.on(free)
	}
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

func (c *Context) freeMemory(spans []Span) (err error) {
	for _, m := range spans {
		err = errors.Join(err, c.check(cuMemFree, c.call(cuMemFree, uintptr(m.Ptr)), ""))
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
	return s.pinned.take(size, 0, blockSize)
}

// keepBlock adds idle pinned memory (SPARE-IDLE), and returns what is to be freed in its place:
// that memory, or the oldest.
func (s *spares) keepBlock(b block) (free []block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keepers == 0 || b.size > mostSpare || b.device == 0 { // the last where it was not mapped
		return []block{b}
	}
	return s.pinned.put(b, mostSpare, blockSize)
}

// memoryOf takes device memory of a size or a little more.
func (s *spares) memoryOf(size Size) (m Span, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.take(size, size/looseShare, spanSize)
}

// keepMemory adds idle device memory (SPARE-IDLE), up to so many bytes in all, and returns what is
// to be freed in its place: that memory, or the oldest.
func (s *spares) keepMemory(m Span, most Size) (free []Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keepers == 0 || m.Size > most {
		return []Span{m}
	}
	return s.memory.put(m, most, spanSize)
}

// takeMemory takes all device memory.
func (s *spares) takeMemory() []Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.takeAll()
}

// idleMemory is the bytes of the device memory that waits.
func (s *spares) idleMemory() Size {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.bytes
}
