package arena

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// A chunk is an eighth of what the arena holds, so that at most that much
// lies idle, within these bounds.
const (
	minChunk = 16 << 10 // small, so that a run of few strings on many workers stays small
	maxChunk = 4 << 20  // large enough for huge pages (package hostmem)
	idlePart = 8

	// Alone is the least capacity of a value that has a chunk to itself. Its chunk is freed when
	// a longer value replaces it, which has no more room than it needs.
	Alone = maxChunk
)

// Arena is where one worker puts its values. It is not safe for concurrent use.
type Arena struct {
	reg   *Arenas
	from  budget.Lender // of its chunks; nil: there is no limit
	chunk chunk         // the chunk being filled
	used  int           // bytes of it
	spare chunk         // empty: made by Reserve for values that do not fit the rest of chunk
	full  []chunk       // those before
	held  int           // bytes of all of them
	debt  budget.Debt   // those that were refused
}

// chunk is a registered chunk that an arena has made.
type chunk struct {
	data []byte
	base uint64 // its number, as the high half of a ref
}

// room is how many bytes of values, headers included, fit behind the first
// used bytes.
func (c *chunk) room(used int) int { return len(c.data) - Padding - used }

// New returns an arena whose refs are valid in all of r.
func (r *Arenas) New() *Arena { return r.NewFrom(r.memory) }

// NewFrom is New for an arena that draws its chunks from a lender of its own; nil: there is no
// limit.
func (r *Arenas) NewFrom(memory budget.Lender) *Arena {
	a := &Arena{reg: r, from: memory}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arenas = append(r.arenas, a)
	return a
}

// Bytes is the memory that the chunks of the arena take.
func (a *Arena) Bytes() int64 { return int64(a.held) }

// Registry is where the refs of a are valid.
func (a *Arena) Registry() *Arenas { return a.reg }

// Get returns the value of ref, from this or any other arena of the registry.
func (a *Arena) Get(ref uint64) []byte { return a.reg.Get(ref) }

// Reserve asks the budget for room for n bytes in all, as [Size] counts them,
// and makes it: Puts of so many do not take more. The error is the budget's;
// the arena is then as it was, less memory that it did not use yet.
func (a *Arena) Reserve(n int) error {
	if err := a.settle(); err != nil {
		return err
	}
	if a.has(n) {
		return nil
	}
	a.drop(&a.spare)
	size := a.sizeFor(n)
	if err := a.lender().Draw(int64(size)); err != nil {
		return err
	}
	a.spare = a.make(size)
	return nil
}

// has reports whether there is room for n bytes.
func (a *Arena) has(n int) bool {
	return n == 0 || a.chunk.room(a.used) >= n || a.spare.room(0) >= n
}

// Growth is the bytes by which Reserve(n) would make the arena larger now.
func (a *Arena) Growth(n int) int64 {
	if a.has(n) {
		return 0
	}
	return int64(a.sizeFor(n) - len(a.spare.data))
}

// settle asks for what was taken without leave.
func (a *Arena) settle() error { return a.debt.Settle(a.lender()) }

func (a *Arena) lender() budget.Lender { return budget.Or(a.from) }

// Put stores a copy of b, which must be shorter than 4 GiB, and returns its
// ref, which is never 0.
func (a *Arena) Put(b []byte) uint64 { return a.put(b, len(b)) }

// Room is Put of n bytes that are the caller's to write: what they are before is undefined.
func (a *Arena) Room(n int) (ref uint64, b []byte) {
	ref = a.put(nil, n)
	chunk := (*a.reg.chunks.Load())[ref>>32]
	at := int(uint32(ref)) * 8
	binary.LittleEndian.PutUint32(chunk[at-header:], uint32(n))
	return ref, chunk[at : at+n : at+n]
}

// Replace stores b in place of the value of ref and returns the ref of the
// new value: ref itself if b fits into its space. Ref 0 has no space.
//
// SHARED-KEPT: a value without any space is not written to, whatever its size: others may refer to
// it. So are the texts of a device (package gpu: texts), to each of which many rows refer.
func (a *Arena) Replace(ref uint64, b []byte) uint64 {
	if ref == 0 {
		return a.Put(b)
	}
	chunk := (*a.reg.chunks.Load())[ref>>32]
	at := int(uint32(ref)) * 8
	room := int(binary.LittleEndian.Uint32(chunk[at-4:]))
	switch {
	case len(b) > room && room >= Alone:
		larger := a.put(b, len(b))
		a.dropAlone(ref, room)
		return larger
	case len(b) > room:
		return a.put(b, max(len(b), min(2*room, maxLen)))
	case room == 0:
		if binary.LittleEndian.Uint32(chunk[at-header:]) > 0 { // and b is empty
			return a.put(nil, 0)
		}
		return ref
	}
	binary.LittleEndian.PutUint32(chunk[at-header:], uint32(len(b)))
	copy(chunk[at:], b)
	return ref
}

// dropAlone frees the space of a value that was replaced, if it had a chunk of the arena to
// itself. room is its capacity.
func (a *Arena) dropAlone(ref uint64, room int) {
	base := ref &^ math.MaxUint32
	i := slices.IndexFunc(a.full, func(c chunk) bool { return c.base == base })
	if i < 0 || int(uint32(ref))*8 != header || a.full[i].room(0) > Size(room) {
		return
	}
	a.drop(&a.full[i])
	a.full = slices.Delete(a.full, i, i+1)
}

// Own makes memory a chunk of the arena. Package hostmem made it, it is a whole buffer, and drawn
// bytes of it were drawn from the budget. base is what [Arenas.Adopt] returned for its beginning.
func (a *Arena) Own(memory []byte, drawn int64, base uint64) {
	a.debt.DrawOrOwe(a.lender(), max(int64(len(memory))-drawn, 0))
	a.full = append(a.full, chunk{memory, base})
	a.held += len(memory)
	a.reg.bytes.Add(int64(len(memory)))
}

// Reset frees all chunks of the arena: no ref into them may be used any more.
func (a *Arena) Reset() {
	for i := range a.full {
		a.drop(&a.full[i])
	}
	a.drop(&a.chunk)
	a.drop(&a.spare)
	a.full, a.used = a.full[:0], 0
}

// put stores b with room for so many bytes.
func (a *Arena) put(b []byte, room int) uint64 {
	need := Size(room)
	if a.chunk.room(a.used) < need {
		a.turn(need)
	}
	at := place(a.chunk.data, a.used, b, need)
	a.used += need
	return a.chunk.base | uint64(at/8)
}

// place writes a value of need bytes in all to chunk[used:] and returns the
// offset of its bytes.
func place(chunk []byte, used int, b []byte, need int) (at int) {
	at = used + header
	binary.LittleEndian.PutUint32(chunk[used:], uint32(len(b)))
	binary.LittleEndian.PutUint32(chunk[used+4:], uint32(need-header))
	copy(chunk[at:], b)
	return at
}

// turn goes on to a chunk with room for n bytes: the spare one, or one taken
// whether or not the budget likes it.
func (a *Arena) turn(n int) {
	if a.chunk.data != nil {
		a.full = append(a.full, a.chunk)
	}
	a.used = 0
	if a.spare.room(0) >= n {
		a.chunk, a.spare = a.spare, chunk{}
		return
	}
	size := a.sizeFor(n)
	a.debt.DrawOrOwe(a.lender(), int64(size))
	a.chunk = a.make(size)
}

// sizeFor is the size of a chunk with room for n bytes.
func (a *Arena) sizeFor(n int) int {
	size := min(max(minChunk, a.held/idlePart), maxChunk)
	return (max(size, n+Padding) + 7) &^ 7
}

func (a *Arena) make(size int) chunk {
	data := hostmem.Make[byte](size)
	a.held += size
	a.reg.bytes.Add(int64(size))
	return chunk{data, a.reg.register(data)}
}

// drop frees a chunk, if there is one.
func (a *Arena) drop(c *chunk) {
	if c.data == nil {
		return
	}
	size := int64(len(c.data))
	a.reg.Drop(c.base)
	hostmem.Free(c.data)
	*c = chunk{}
	a.held -= int(size)
	a.reg.bytes.Add(-size)
	a.debt.Release(a.lender(), size)
}
