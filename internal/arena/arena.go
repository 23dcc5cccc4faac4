// Package arena stores byte strings of any length so that a fixed 64-bit
// word, a ref, stands for each of them: group rows and keys are fixed words,
// and strings live here.
//
// An [Arenas] is a registry of chunks, shared by all workers of a run. Each
// worker puts its strings into an [Arena] of its own, which takes the lock of
// the registry only for a new chunk. A ref is valid in the whole registry:
//
//	ref   = chunk number (32 bits) | offset of the value / 8 (32 bits)
//	chunk = ... | length (4 bytes) capacity (4 bytes) | bytes, up to capacity | ...
//
// Values begin at a multiple of 8, and offset 0 of a chunk is never one,
// because the header lies before it. So ref 0 stands for no value.
//
// Nothing is freed before the registry is dropped. A value that is replaced
// keeps its space when the new one fits, else the new space is at least twice
// the old, so that replacing costs space in proportion to the longest value.
//
// The trap: a goroutine may read what another one wrote only after both met
// at a barrier (a channel, a mutex, a WaitGroup), and only the owner of the
// row that holds a ref may replace its value.
package arena

import (
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"
)

const (
	header     = 8
	firstChunk = 16 << 10 // small, so that a run of few strings on many workers stays small
	lastChunk  = 1 << 20  // large enough that the lock of the registry does not matter
	maxLen     = math.MaxUint32 - 2*header

	// Padding is how many bytes past the end of a value may be read; what
	// they hold means nothing.
	Padding = 16
)

// Arenas is the chunks of a run. The zero value is ready to use.
type Arenas struct {
	mu     sync.Mutex
	chunks atomic.Pointer[[][]byte] // grows at its end only
	bytes  atomic.Int64
}

// Bytes is the memory that the chunks take, in bytes.
func (r *Arenas) Bytes() int64 { return r.bytes.Load() }

// Get returns the value of ref. The slice aliases the arena: it holds the
// value until the value is replaced. Ref 0 gives nil.
func (r *Arenas) Get(ref uint64) []byte {
	if ref == 0 {
		return nil
	}
	chunk := (*r.chunks.Load())[ref>>32]
	at := int(uint32(ref)) * 8
	n := int(binary.LittleEndian.Uint32(chunk[at-header:]))
	return chunk[at : at+n : at+n]
}

// add registers a new chunk of n bytes and returns it with its number.
func (r *Arenas) add(n int) ([]byte, uint64) {
	chunk := make([]byte, n)
	r.bytes.Add(int64(n))
	r.mu.Lock()
	defer r.mu.Unlock()
	var chunks [][]byte
	if p := r.chunks.Load(); p != nil {
		chunks = *p
	}
	// Appending in place is safe for readers: they hold the shorter slice.
	chunks = append(chunks, chunk)
	r.chunks.Store(&chunks)
	return chunk, uint64(len(chunks)-1) << 32
}

// Arena is where one worker puts its values. It is not safe for concurrent use.
type Arena struct {
	reg   *Arenas
	chunk []byte // the chunk being filled
	base  uint64 // its number, as the high half of a ref
	used  int
	next  int // size of the next chunk
}

// New returns an arena whose refs are valid in all of r.
func (r *Arenas) New() *Arena { return &Arena{reg: r, next: firstChunk} }

// Registry is where the refs of a are valid.
func (a *Arena) Registry() *Arenas { return a.reg }

// Get returns the value of ref, from this or any other arena of the registry.
func (a *Arena) Get(ref uint64) []byte { return a.reg.Get(ref) }

// Put stores a copy of b, which must be shorter than 4 GiB, and returns its
// ref, which is never 0.
func (a *Arena) Put(b []byte) uint64 { return a.put(b, len(b)) }

// Replace stores b in place of the value of ref and returns the ref of the
// new value: ref itself if b fits into its space. Ref 0 has no space.
func (a *Arena) Replace(ref uint64, b []byte) uint64 {
	if ref == 0 {
		return a.Put(b)
	}
	chunk := (*a.reg.chunks.Load())[ref>>32]
	at := int(uint32(ref)) * 8
	room := int(binary.LittleEndian.Uint32(chunk[at-4:]))
	if len(b) > room {
		return a.put(b, max(len(b), min(2*room, maxLen)))
	}
	binary.LittleEndian.PutUint32(chunk[at-header:], uint32(len(b)))
	copy(chunk[at:], b)
	return ref
}

func (a *Arena) put(b []byte, room int) uint64 {
	room = (room + 7) &^ 7
	need := header + room
	if a.used+need+Padding > len(a.chunk) {
		a.grow(need + Padding)
	}
	at := a.used + header
	binary.LittleEndian.PutUint32(a.chunk[a.used:], uint32(len(b)))
	binary.LittleEndian.PutUint32(a.chunk[a.used+4:], uint32(room))
	copy(a.chunk[at:], b)
	a.used += need
	return a.base | uint64(at/8)
}

// grow starts a chunk with room for at least n bytes.
func (a *Arena) grow(n int) {
	size := max(a.next, (n+7)&^7)
	a.next = min(2*a.next, lastChunk)
	a.chunk, a.base = a.reg.add(size)
	a.used = 0
}
