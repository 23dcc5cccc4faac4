//go:build unix && !race

package hostmem

import (
	"math/bits"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeHeap packs buffers of less than a huge page into huge pages: to touch 4 KiB for the first
// time takes longer than most of what is done with them. It keeps what is freed, to be used again.
//
//	chunk  a huge page, of 64 units
//	unit   32 KiB: a buffer has units of one chunk, side by side
//	spare  resident bytes that are in no buffer: free units, and what a buffer leaves of its last one
//
// The first buffer in a chunk makes all of it resident, which takes up to half a millisecond. A
// small query needs few buffers, so the first ones of a process have no place here.
//
// A free unit is absent when its memory was given back.
//
// SPARE-BOUND: spare is at most slack. Where a buffer would break it there is no place for it;
// freed units that would are given back, whole chunks first.
type hugeHeap struct {
	mu     sync.Mutex
	slack  int64
	early  int64 // bytes of buffers that had no place, being the first of the process
	spare  int64
	chunks []*chunk
	// by how many units: no chunk before it has so many free ones side by side
	first  [unitsPerChunk + 1]int
	region []byte // addresses that no chunk was made of yet
}

// shared is the heap of the process.
var shared hugeHeap

type chunk struct {
	base   unsafe.Pointer
	number int    // its place in chunks
	used   uint64 // units in buffers, by bits
	absent uint64 // units that are not resident
	dirty  uint64 // units that are not zero
}

const (
	unitsPerChunk = hugePage / unitBytes
	// of addresses, not memory, that the system is asked for at a time
	regionBytes = 16 * hugePage
	earlyBytes  = hugePage / 2
	allUnits    = ^uint64(0)
)

// place is n units of a chunk from at on; nowhere, if there is no chunk.
type place struct {
	*chunk
	at, n int
}

var nowhere = place{}

func (p place) mask() uint64         { return allUnits >> (unitsPerChunk - p.n) << p.at }
func (p place) data() unsafe.Pointer { return unsafe.Add(p.base, p.at*unitBytes) }

func allow(bytes int64) { shared.allow(bytes) }

// allow adds bytes to the slack.
func (h *hugeHeap) allow(bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.slack += bytes
	if !left.Load() {
		h.trim()
	}
}

// allocate returns a place of size bytes, or nowhere, and which of its units are not zero.
func (h *hugeHeap) allocate(size int) (p place, dirty uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.slack == 0 {
		return nowhere, 0
	}
	if h.early < earlyBytes {
		h.early += int64(size)
		return nowhere, 0
	}
	p = h.choose((size + unitBytes - 1) / unitBytes)
	if p.chunk == nil || !h.enter(p, size) {
		return nowhere, 0
	}
	return p, p.soil()
}

// choose returns the first place of n free units.
func (h *hugeHeap) choose(n int) place {
	for ; h.first[n] < len(h.chunks); h.first[n]++ {
		c := h.chunks[h.first[n]]
		if at := c.find(n); at >= 0 {
			return place{c, at, n}
		}
	}
	return place{h.newChunk(), 0, n}
}

// find returns where n units side by side are free, or -1.
func (c *chunk) find(n int) int {
	m := ^c.used
	for k := 1; k < n && m != 0; {
		step := min(k, n-k)
		m &= m >> step
		k += step
	}
	if m == 0 {
		return -1
	}
	return bits.TrailingZeros64(m)
}

// enter gives a place to a buffer, unless that would break SPARE-BOUND.
func (h *hugeHeap) enter(p place, size int) bool {
	fresh := p.absent & p.mask()
	if p.absent == allUnits {
		fresh = allUnits // of a huge page
	}
	spare := h.spare + int64(bits.OnesCount64(fresh))*unitBytes - int64(size)
	if spare > h.slack {
		return false
	}
	h.spare = spare
	p.used |= p.mask()
	p.absent &^= fresh
	return true
}

// newChunk makes a chunk, or returns nil if the system refuses addresses.
func (h *hugeHeap) newChunk() *chunk {
	if len(h.region) == 0 {
		p, err := mapAligned(regionBytes, unix.PROT_READ|unix.PROT_WRITE)
		if err != nil {
			return nil
		}
		adviseHuge(p, regionBytes)
		h.region = unsafe.Slice((*byte)(p), regionBytes)
	}
	c := &chunk{base: unsafe.Pointer(unsafe.SliceData(h.region)), number: len(h.chunks), absent: allUnits}
	h.region = h.region[hugePage:]
	h.chunks = append(h.chunks, c)
	return c
}

// free takes the place of a buffer of size bytes back.
func (h *hugeHeap) free(p place, size int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.used &^= p.mask()
	h.spare += int64(size)
	for n := range h.first {
		h.first[n] = min(h.first[n], p.number)
	}
	if h.spare > h.slack {
		h.trim()
	}
	if h.spare > h.slack {
		h.leave(p)
	}
}

// trim gives back chunks without buffers until SPARE-BOUND holds, or there are none.
func (h *hugeHeap) trim() {
	for i := len(h.chunks) - 1; i >= 0 && h.spare > h.slack; i-- {
		if c := h.chunks[i]; c.used == 0 && c.absent != allUnits {
			h.leave(place{c, 0, unitsPerChunk})
		}
	}
}

// leave gives the memory of free units back to the system.
func (h *hugeHeap) leave(p place) {
	_ = unix.Madvise(unsafe.Slice((*byte)(p.data()), p.n*unitBytes), unix.MADV_DONTNEED)
	h.spare -= int64(bits.OnesCount64(p.mask()&^p.absent)) * unitBytes
	p.absent |= p.mask()
	p.dirty &^= p.mask()
}

// extend makes the buffer of old bytes at p one of size bytes, if what follows is free, and returns
// which units are added and not zero.
func (h *hugeHeap) extend(p place, old, size int) (_ place, dirty uint64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := (size + unitBytes - 1) / unitBytes
	more := place{p.chunk, p.at + p.n, n - p.n}
	if p.at+n > unitsPerChunk || p.used&more.mask() != 0 || !h.enter(more, size-old) {
		return p, 0, false
	}
	p.n = n
	return p, more.soil(), true
}

// soil makes the units of p ones that are not zero, and returns which of them were that before.
func (p place) soil() (dirty uint64) {
	dirty = p.dirty & p.mask()
	p.dirty |= p.mask()
	return dirty
}

// zero clears those units of a place that are dirty, to their ends: its buffer may grow.
func (p place) zero(dirty uint64) {
	for at := p.at; at < p.at+p.n; at++ {
		if dirty>>at&1 != 0 {
			clear(unsafe.Slice((*byte)(unsafe.Add(p.base, at*unitBytes)), unitBytes))
		}
	}
}
