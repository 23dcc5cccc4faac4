package arena

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
)

const (
	// Header is the bytes before those of a value.
	Header = header
	header = 8
	maxLen = math.MaxUint32 - 2*header

	// Padding is how many bytes past the end of a value may be read; what
	// they hold means nothing.
	Padding = 16
)

// Putter stores byte strings: an *[Arena] or a *[Section].
type Putter interface {
	// Put stores a copy of b and returns its ref, which is never 0.
	Put(b []byte) uint64
}

// Size is how many bytes of a chunk Put takes for a string of n bytes.
func Size(n int) int { return header + (n+7)&^7 }

// PutHeader writes the header of a value of n bytes, with room for no more than its last word.
func PutHeader(b []byte, n int) {
	binary.LittleEndian.PutUint32(b, uint32(n))
	binary.LittleEndian.PutUint32(b[4:], uint32(Size(n)-header))
}

// Arenas is the chunks of a run. The zero value is ready to use and has no
// budget.
type Arenas struct {
	memory budget.Lender // nil: no limit
	mu     sync.Mutex
	chunks atomic.Pointer[[][]byte] // by number; nil: the number is free
	free   []uint64                 // bases of numbers to use again
	arenas []*Arena
	bytes  atomic.Int64
}

// New returns an empty registry whose arenas draw their chunks from memory; nil:
// there is no limit.
func New(memory budget.Lender) *Arenas { return &Arenas{memory: memory} }

// Bytes is the memory that the chunks of all arenas take, in bytes. Adopted
// chunks are not among them.
func (r *Arenas) Bytes() int64 { return r.bytes.Load() }

// Get returns the value of ref. The slice aliases the arena: it holds the
// value until the value is replaced or its chunk freed. Ref 0 gives nil.
func (r *Arenas) Get(ref uint64) []byte {
	if ref == 0 {
		return nil
	}
	chunk := (*r.chunks.Load())[ref>>32]
	at := int(uint32(ref)) * 8
	n := int(binary.LittleEndian.Uint32(chunk[at-header:]))
	return chunk[at : at+n : at+n]
}

// Adopt registers a chunk that a [Section] made, without copying it, and
// returns its base: what is to be added to the refs of the section. The chunk
// must stay as it is until Drop; its memory remains the caller's. A nil chunk is one that is not
// there yet: see Fill.
func (r *Arenas) Adopt(chunk []byte) (base uint64) { return r.register(chunk) }

// Fill registers the chunk of a base for which Adopt was given none. No ref into it may have been
// read before.
func (r *Arenas) Fill(base uint64, chunk []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	(*r.chunks.Load())[base>>32] = chunk
}

// Drop takes back Adopt. No ref into the chunk may be used any more.
func (r *Arenas) Drop(base uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	(*r.chunks.Load())[base>>32] = nil
	r.free = append(r.free, base)
}

// Close frees the chunks of all arenas, none of which may be used any more. Others may be made
// meanwhile; whoever makes one has to reset it.
func (r *Arenas) Close() {
	r.mu.Lock()
	arenas := slices.Clone(r.arenas)
	r.mu.Unlock()
	for _, a := range arenas {
		a.Reset()
	}
}

// register gives a number to a chunk and returns it as the high half of a
// ref.
//
// Writing the registry beside its readers is safe: a number is entered where
// no reader looks, since no ref holds it yet, and a reader that still has the
// slice from before append moved it finds all its own chunks in there.
func (r *Arenas) register(chunk []byte) (base uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var chunks [][]byte
	if p := r.chunks.Load(); p != nil {
		chunks = *p
	}
	if n := len(r.free); n > 0 {
		base, r.free = r.free[n-1], r.free[:n-1]
		chunks[base>>32] = chunk
		return base
	}
	base = uint64(len(chunks)) << 32
	chunks = append(chunks, chunk)
	r.chunks.Store(&chunks)
	return base
}
