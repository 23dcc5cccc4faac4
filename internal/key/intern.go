package key

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Interner numbers strings: equal strings get equal numbers, in all workers
// of a query. It grows until the query ends.
//
// It is split into shards by hash, each with a lock of its own, an open
// addressing table and an append-only store. The number of a string is its
// index in its shard times the number of shards, plus the shard.
type Interner struct {
	shards [internShards]internShard
	bytes  atomic.Int64
}

const (
	internShards    = 64
	internShardBits = 6
	internChunk     = 64 << 10 // bytes of string data allocated at once
)

type internShard struct {
	mu      sync.RWMutex
	dir     []uint32 // index+1 of an entry, 0: free; a power of two long
	entries []internEntry
	chunk   []byte
}

type internEntry struct {
	hash uint64
	data string
}

// NewInterner returns an empty interner.
func NewInterner() *Interner { return &Interner{} }

// Bytes is how much memory the strings and tables take, about.
func (t *Interner) Bytes() int64 { return t.bytes.Load() }

// id returns the number of b, of idBits bits, whose hash is hashBytes(b), adding a copy of b
// if it is new. It may be called from several goroutines.
func (t *Interner) id(b []byte, hash uint64) uint32 {
	s := &t.shards[hash>>(64-internShardBits)]
	s.mu.RLock()
	i, ok := s.find(b, hash)
	s.mu.RUnlock()
	if !ok {
		s.mu.Lock()
		if i, ok = s.find(b, hash); !ok {
			i = s.add(t, b, hash)
		}
		s.mu.Unlock()
	}
	return i<<internShardBits | uint32(hash>>(64-internShardBits))
}

// get returns the string numbered id. It must not run beside id.
func (t *Interner) get(id uint32) string {
	return t.shards[id&(internShards-1)].entries[id>>internShardBits].data
}

func (s *internShard) find(b []byte, hash uint64) (uint32, bool) {
	if len(s.dir) == 0 {
		return 0, false
	}
	mask := uint64(len(s.dir) - 1)
	for p := hash & mask; ; p = (p + 1) & mask {
		e := s.dir[p]
		if e == 0 {
			return 0, false
		}
		if x := &s.entries[e-1]; x.hash == hash && x.data == string(b) {
			return e - 1, true
		}
	}
}

func (s *internShard) add(t *Interner, b []byte, hash uint64) uint32 {
	if 2*(len(s.entries)+1) > len(s.dir) {
		s.grow()
	}
	i := uint32(len(s.entries))
	s.entries = append(s.entries, internEntry{hash, s.store(b)})
	s.place(i)
	t.bytes.Add(int64(len(b)) + int64(unsafe.Sizeof(internEntry{})) + 8)
	return i
}

// store copies b to where it stays: chunks are appended to, never moved.
func (s *internShard) store(b []byte) string {
	if len(b) > cap(s.chunk)-len(s.chunk) {
		s.chunk = make([]byte, 0, max(internChunk, len(b)))
	}
	n := len(s.chunk)
	s.chunk = append(s.chunk, b...)
	return unsafe.String(unsafe.SliceData(s.chunk[n:]), len(b))
}

func (s *internShard) grow() {
	s.dir = make([]uint32, max(64, 2*len(s.dir)))
	for i := range s.entries {
		s.place(uint32(i))
	}
}

func (s *internShard) place(i uint32) {
	mask := uint64(len(s.dir) - 1)
	p := s.entries[i].hash & mask
	for s.dir[p] != 0 {
		p = (p + 1) & mask
	}
	s.dir[p] = i + 1
}
