package key

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/budget"
)

// Interner numbers strings: equal strings get equal numbers, in all workers
// of a query. It is for the entries of dictionaries, which are few: it grows
// until the query ends and cannot be spilled.
//
// Memory is drawn from the budget in the middle of a batch, where a refusal cannot be dealt with.
// Refused bytes become a debt, which [Interner.Settle] draws later.
//
// It is split into shards by hash, each with an open addressing table and an append-only store.
// The number of a string is its index in its shard times the number of shards, plus the shard. A
// worker that adds a string holds the lock of its shard. Looking a string up takes no lock, since
// nearly all strings are there already, and even counting readers would make workers wait for each
// other.
//
// That hash is seeded (secret), so that nobody can make strings whose hashes crowd. The numbers
// therefore differ between processes, and no order may depend on them.
type Interner struct {
	shards [internShards]internShard
	memory budget.Lender
	bytes  atomic.Int64
	debt   budget.Debt

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
	index atomic.Pointer[internIndex] // nil: there is no entry

	mu    sync.Mutex // of adding entries
	n     uint32     // entries
	chunk []byte
	next  int // size of the next chunk
}

// internIndex finds the entries of a shard. An entry is written before its number is in dir, and
// is never changed.
type internIndex struct {
	// index+1 of an entry, 0: free; a power of two long; read and written atomically
	dir     []uint32
	entries []internEntry
}

type internEntry struct {
	hash uint64
	data string
}

// NewInterner returns an empty interner that reserves its memory from the lender; nil: there is
// no limit.
func NewInterner(memory budget.Lender) *Interner { return &Interner{memory: budget.Or(memory)} }

// Bytes is how much memory the strings and tables take.
func (t *Interner) Bytes() int64 { return t.bytes.Load() }

// Settle draws the bytes that the budget refused before. The error is that of the budget.
func (t *Interner) Settle() error { return t.debt.Settle(t.memory) }

// Close frees all strings and gives their memory back to the budget. No number may be used any
// more.
func (t *Interner) Close() {
	for i := range t.shards {
		s := &t.shards[i]
		s.index.Store(nil)
		s.n, s.chunk, s.next = 0, nil, 0
	}
	t.table = nil
	t.debt.Release(t.memory, t.bytes.Swap(0))
}

// drawOrOwe draws memory that is about to be allocated, or owes it.
func (t *Interner) drawOrOwe(bytes int) {
	t.bytes.Add(int64(bytes))
	t.debt.DrawOrOwe(t.memory, int64(bytes))
}

// id returns the number of b, of idBits bits, adding a copy of b if it is new.
// It may be called from several goroutines.
func (t *Interner) id(b []byte) uint32 {
	hash := maphash.Bytes(secret, b)
	s := &t.shards[hash>>(64-internShardBits)]
	i, ok := s.index.Load().find(b, hash)
	if !ok {
		s.mu.Lock()
		if i, ok = s.index.Load().find(b, hash); !ok {
			i = s.add(t, b, hash)
		}
		s.mu.Unlock()
	}
	return i<<internShardBits | uint32(hash>>(64-internShardBits))
}

// get returns the string with a number. It must not run while id runs, unless the caller itself
// got the number from id.
func (t *Interner) get(id uint32) string {
	return t.shards[id&(internShards-1)].index.Load().entries[id>>internShardBits].data
}

// entries returns all entries. It must not run while id runs.
func (s *internShard) entries() []internEntry {
	if s.n == 0 {
		return nil
	}
	return s.index.Load().entries[:s.n]
}

func (x *internIndex) find(b []byte, hash uint64) (uint32, bool) {
	if x == nil {
		return 0, false
	}
	mask := uint64(len(x.dir) - 1)
	for p := hash & mask; ; p = (p + 1) & mask {
		e := atomic.LoadUint32(&x.dir[p])
		if e == 0 {
			return 0, false
		}
		if entry := &x.entries[e-1]; entry.hash == hash && entry.data == string(b) {
			return e - 1, true
		}
	}
}

func (s *internShard) add(t *Interner, b []byte, hash uint64) uint32 {
	x := s.index.Load()
	if x == nil || 2*(int(s.n)+1) > len(x.dir) {
		x = s.grow(t, x)
	}
	i := s.n
	s.n++
	x.entries[i] = internEntry{hash, s.store(t, b)}
	x.place(i)
	return i
}

// store copies b to a chunk, where it stays: chunks are never moved.
func (s *internShard) store(t *Interner, b []byte) string {
	if len(b) > cap(s.chunk)-len(s.chunk) {
		s.next = min(max(internChunk, 2*s.next), internChunkMost)
		size := max(s.next, len(b))
		t.drawOrOwe(size)
		s.chunk = make([]byte, 0, size)
	}
	n := len(s.chunk)
	s.chunk = append(s.chunk, b...)
	return unsafe.String(unsafe.SliceData(s.chunk[n:]), len(b))
}

// grow doubles the directory, and makes room for as many entries as it may
// hold.
func (s *internShard) grow(t *Interner, old *internIndex) *internIndex {
	if old == nil {
		old = &internIndex{}
	}
	slots := max(64, 2*len(old.dir))
	t.drawOrOwe((slots-len(old.dir))*4 + (slots/2-len(old.entries))*int(unsafe.Sizeof(internEntry{})))
	x := &internIndex{make([]uint32, slots), make([]internEntry, slots/2)}
	copy(x.entries, old.entries)
	for i := range s.n {
		x.place(i)
	}
	s.index.Store(x)
	return x
}

// place enters an entry that has been written.
func (x *internIndex) place(i uint32) {
	mask := uint64(len(x.dir) - 1)
	p := x.entries[i].hash & mask
	for x.dir[p] != 0 {
		p = (p + 1) & mask
	}
	atomic.StoreUint32(&x.dir[p], i+1)
}

// Hashes is the field hashes of all strings, by number. It must not run while id runs.
func (t *Interner) Hashes() []uint64 {
	most := uint32(0)
	for i := range t.shards {
		most = max(most, t.shards[i].n)
	}
	hashes := make([]uint64, most<<internShardBits)
	for i := range t.shards {
		for k, e := range t.shards[i].entries() {
			hashes[k<<internShardBits|i] = hashBytes(unsafe.Slice(unsafe.StringData(e.data), len(e.data)))
		}
	}
	return hashes
}
