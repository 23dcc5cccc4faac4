package key

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Interner numbers strings: equal strings get equal numbers, in all workers
// of a query. It is for the entries of dictionaries, which are few: it grows
// until the query ends and cannot be spilled.
//
// Memory is asked of the budget as it is taken, in the middle of a batch,
// where nothing can be done about a refusal. What is refused is a debt, which
// [Interner.Settle] asks for again.
//
// It is split into shards by hash, each with a lock of its own, an open
// addressing table and an append-only store. The number of a string is its
// index in its shard times the number of shards, plus the shard.
//
// That hash is seeded (secret): strings cannot be made to crowd. So numbers
// are other ones in each process, and no order may be made of them.
type Interner struct {
	shards [internShards]internShard
	grow   func(bytes int64) error
	bytes  atomic.Int64
	debt   atomic.Int64

	mu     sync.Mutex     // guards what follows
	table  *internedTable // nil: nobody has asked for it
	tabled int            // how many strings there were then
}

const (
	internShards    = 64
	internShardBits = 6
	internChunk     = 1 << 10  // bytes of string data allocated at once, doubled
	internChunkMost = 64 << 10 // up to this
)

type internShard struct {
	mu      sync.RWMutex
	dir     []uint32 // index+1 of an entry, 0: free; a power of two long
	entries []internEntry
	chunk   []byte
	next    int // size of the next chunk
}

type internEntry struct {
	hash uint64
	data string
}

// NewInterner returns an empty interner that asks grow for its memory before
// it takes it; nil: no budget.
func NewInterner(grow func(bytes int64) error) *Interner {
	if grow == nil {
		grow = func(int64) error { return nil }
	}
	return &Interner{grow: grow}
}

// Bytes is how much memory the strings and tables take.
func (t *Interner) Bytes() int64 { return t.bytes.Load() }

// Settle asks the budget for what it has refused before; the error is the
// budget's.
func (t *Interner) Settle() error {
	if t.debt.Load() == 0 {
		return nil
	}
	debt := t.debt.Swap(0)
	err := t.grow(debt)
	if err != nil {
		t.debt.Add(debt)
	}
	return err
}

// Close lets go of all strings and gives their memory back to the budget. No
// number may be used any more.
func (t *Interner) Close() {
	for i := range t.shards {
		s := &t.shards[i]
		s.dir, s.entries, s.chunk, s.next = nil, nil, nil, 0
	}
	t.table = nil
	_ = t.grow(t.debt.Swap(0) - t.bytes.Swap(0)) // only asking for more can fail
}

// take counts memory that is about to be allocated.
func (t *Interner) take(bytes int) {
	t.bytes.Add(int64(bytes))
	if t.grow(int64(bytes)) != nil {
		t.debt.Add(int64(bytes))
	}
}

// id returns the number of b, of idBits bits, adding a copy of b if it is new.
// It may be called from several goroutines.
func (t *Interner) id(b []byte) uint32 {
	hash := maphash.Bytes(secret, b)
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
		s.grow(t)
	}
	i := uint32(len(s.entries))
	s.entries = append(s.entries, internEntry{hash, s.store(t, b)})
	s.place(i)
	return i
}

// store copies b to where it stays: chunks are appended to, never moved.
func (s *internShard) store(t *Interner, b []byte) string {
	if len(b) > cap(s.chunk)-len(s.chunk) {
		s.next = min(max(internChunk, 2*s.next), internChunkMost)
		size := max(s.next, len(b))
		t.take(size)
		s.chunk = make([]byte, 0, size)
	}
	n := len(s.chunk)
	s.chunk = append(s.chunk, b...)
	return unsafe.String(unsafe.SliceData(s.chunk[n:]), len(b))
}

// grow doubles the directory, and makes room for as many entries as it may
// hold.
func (s *internShard) grow(t *Interner) {
	slots := max(64, 2*len(s.dir))
	t.take((slots-len(s.dir))*4 + (slots/2-cap(s.entries))*int(unsafe.Sizeof(internEntry{})))
	s.entries = append(make([]internEntry, 0, slots/2), s.entries...)
	s.dir = make([]uint32, slots)
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
