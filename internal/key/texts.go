package key

import (
	"bytes"
	"hash/maphash"
	"sync"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// Texts holds the long strings of a run that are in keys made for devices, where these do not keep
// them (package gpu: texts). It has each string once, also if several workers add it. A device
// compares keys by their words alone. That works for long strings too, because of this invariant:
//
// TEXT-ONCE: equal strings have one ref, and different ones have different refs.
//
// The refs are those of an arena in the run's registry, as in any row with a long string: rows that
// leave a device are compared, put to disk and decoded like those of workers. A row of a worker has
// another ref for the same string, and so has a row that comes back from a disk, with a copy of its
// strings. Such rows meet on the CPU alone (package cpu: DEVICE-REFS).
//
// # Structure
//
// Shards, by the top bits of a hash, each with a lock, a table and an arena. Strings come a
// dictionary at a time. They are sorted by shard, so that a lock is taken once for some dozens of
// them, and the cache misses of these overlap. A table is open addressing over slots of 16 bytes,
// hash and ref, at most half full. The hash is seeded (secret), so that nobody can make strings
// that crowd.
//
// # Memory
//
// Strings cannot be put to disk before the end of the run, since rows on devices refer to them. So
// they have a part of the memory for themselves. A refusal of memory does not fail the run: the
// CPU makes the rows then.
//
// # Phases
//
// Strings are added while the input is read. Close ends that: it frees the tables, and the strings
// stay until the registry is closed.
type Texts struct {
	shards [textShards]textShard
	memory budget.Lender
	in     *arena.Arenas
}

const (
	// textShards: with 16 workers, each of which uses a shard for a few microseconds, one in four
	// finds another worker there. The arena of each shard takes 16 KiB at least.
	textShards    = 64
	textShardBits = 6

	leastTextSlots = 64
)

type textShard struct {
	mu    sync.Mutex
	slots []uint64 // hash and ref of each, a power of two of them; ref 0: it is free
	n     int      // slots that are taken
	bytes int64    // of the strings
	arena *arena.Arena
	seen  uint64 // what was read before it was needed, which else the compiler may leave out
}

// mask is the mask for the number of a slot.
func (s *textShard) mask() uint64 { return uint64(len(s.slots)/2 - 1) }

// NewTexts returns an empty Texts. Its refs are valid in the registry `in`. It draws all memory
// from the lender; nil: there is no limit.
func NewTexts(in *arena.Arenas, memory budget.Lender) *Texts {
	t := &Texts{memory: budget.Or(memory), in: in}
	for i := range t.shards {
		t.shards[i].arena = in.NewFrom(memory)
	}
	return t
}

// Len is how many strings there are, and how many bytes they have. It must not run while an
// encoder runs.
func (t *Texts) Len() (n, bytes int64) {
	for i := range t.shards {
		s := &t.shards[i]
		n, bytes = n+int64(s.n), bytes+s.bytes
	}
	return n, bytes
}

// Close ends the adding of strings. The strings stay.
func (t *Texts) Close() {
	for i := range t.shards {
		s := &t.shards[i]
		t.memory.Release(int64(8 * len(s.slots)))
		hostmem.Free(s.slots)
		s.slots = nil
	}
}

// textBatch is scratch memory for adding strings of a vector, in the order of their shards.
type textBatch struct {
	hash  []uint64 // of string k of the list
	order []int32  // the list's numbers, those of a shard side by side
	ends  [textShards]int32
}

// intern sets refs[list[k]] to the ref of string list[k] of v, for all k. The error is a refusal of
// memory; some of the strings may have been added then. It may be called from several goroutines,
// each with a batch of its own.
func (t *Texts) intern(v *column.Vector, list []int32, refs []uint64, b *textBatch) error {
	b.sort(v, list)
	from := int32(0)
	for i, end := range b.ends {
		if from < end {
			if err := t.enter(&t.shards[i], v, list, b.order[from:end], refs, b); err != nil {
				return err
			}
		}
		from = end
	}
	return nil
}

// sort hashes the strings and orders them by their shards.
func (b *textBatch) sort(v *column.Vector, list []int32) {
	b.hash, b.order = resized(b.hash, len(list)), resized(b.order, len(list))
	clear(b.ends[:])
	for k, i := range list {
		h := maphash.Bytes(secret, v.Bytes(int(i)))
		b.hash[k] = h
		b.ends[h>>(64-textShardBits)]++
	}
	at := int32(0)
	for i, n := range b.ends {
		b.ends[i], at = at, at+n
	}
	for k, h := range b.hash {
		end := &b.ends[h>>(64-textShardBits)]
		b.order[*end] = int32(k)
		*end++
	}
}

func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// enter is intern for strings of one shard, those of the list whose numbers are given.
func (t *Texts) enter(s *textShard, v *column.Vector, list, numbers []int32, refs []uint64, b *textBatch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots == nil {
		if err := t.grow(s); err != nil {
			return err
		}
	}
	s.touch(t.in.Chunks(), numbers, b)
	for _, k := range numbers {
		i := list[k]
		text, hash := v.Bytes(int(i)), b.hash[k]
		slot := s.find(hash, text)
		if slot[1] == 0 {
			var err error
			if slot, err = t.add(s, slot, hash, text); err != nil {
				return err
			}
		}
		refs[i] = slot[1]
	}
	return nil
}

// find is the slot of a string, or the free one that it may have.
func (s *textShard) find(hash uint64, text []byte) (slot []uint64) {
	for at := hash & s.mask(); ; at = (at + 1) & s.mask() {
		slot = s.slots[2*at : 2*at+2]
		if slot[1] == 0 || slot[0] == hash && bytes.Equal(s.arena.Get(slot[1]), text) {
			return slot
		}
	}
}

// add stores a string and gives it a slot: the free one that was found for it, unless the table has
// to grow.
func (t *Texts) add(s *textShard, slot []uint64, hash uint64, text []byte) ([]uint64, error) {
	if err := s.arena.Reserve(arena.Size(len(text))); err != nil {
		return nil, err
	}
	if 4*(s.n+1) > len(s.slots) {
		if err := t.grow(s); err != nil {
			return nil, err
		}
		slot = s.find(hash, text)
	}
	slot[0], slot[1] = hash, s.arena.Put(text)
	s.n, s.bytes = s.n+1, s.bytes+int64(len(text))
	return slot, nil
}

// touch reads the home slot of each string, and then the string that it has: one after the other,
// without waiting for any.
func (s *textShard) touch(chunks [][]byte, numbers []int32, b *textBatch) {
	mask, seen := s.mask(), uint64(0)
	for _, k := range numbers {
		seen += s.slots[2*(b.hash[k]&mask)]
	}
	for _, k := range numbers {
		at := 2 * (b.hash[k] & mask)
		if ref := s.slots[at+1]; ref != 0 && s.slots[at] == b.hash[k] {
			seen += uint64(chunks[ref>>32][8*uint64(uint32(ref))])
		}
	}
	s.seen = seen
}

// grow doubles the table.
func (t *Texts) grow(s *textShard) error {
	old, words := s.slots, max(2*len(s.slots), 2*leastTextSlots)
	if err := t.memory.Draw(int64(8 * words)); err != nil {
		return err
	}
	s.slots = hostmem.Make[uint64](words)
	for i := 0; i < len(old); i += 2 {
		if old[i+1] == 0 {
			continue
		}
		at := old[i] & s.mask()
		for s.slots[2*at+1] != 0 {
			at = (at + 1) & s.mask()
		}
		copy(s.slots[2*at:], old[i:i+2])
	}
	t.memory.Release(int64(8 * len(old)))
	hostmem.Free(old)
	return nil
}
