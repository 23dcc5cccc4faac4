package cpu

import (
	"sync"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// slabs is the memory of the partitions of a shared set, which grow at about the same time: pieces
// of a size that doubles, allocated from slabs that are large enough for huge pages. A slab of
// which all pieces were put back is used anew.
type slabs struct {
	from budget.Lender
	most int64 // bytes; 0: no limit

	mu    sync.Mutex
	all   []*slab
	owner map[*uint64]*slab // of a piece, by its first word
	held  int64
}

// slab is some memory, and how much of it is allocated.
type slab struct {
	words       []uint64
	taken, live int // words that are allocated; pieces in use
	dirty       int // words that were ever allocated
}

const (
	firstSlabWords = 32 << 10
	mostSlabWords  = 2 << 20
)

// get returns n zeros.
func (s *slabs) get(n int) ([]uint64, error) {
	s.mu.Lock()
	piece, used, err := s.getDirty(n)
	s.mu.Unlock()
	if used {
		clear(piece)
	}
	return piece, err
}

// getDirty returns n words, which may have been used.
func (s *slabs) getDirty(n int) (piece []uint64, used bool, err error) {
	if s.owner == nil {
		s.owner = map[*uint64]*slab{}
	}
	for _, b := range s.all {
		if len(b.words)-b.taken >= n {
			piece, used = s.allocate(b, n)
			return piece, used, nil
		}
	}
	b, err := s.add(n)
	if err != nil {
		return nil, false, err
	}
	piece, used = s.allocate(b, n)
	return piece, used, nil
}

// allocate takes n words of a slab, which has as many.
func (s *slabs) allocate(b *slab, n int) (piece []uint64, used bool) {
	piece, used = b.words[b.taken:b.taken+n:b.taken+n], b.taken < b.dirty
	b.taken, b.live = b.taken+n, b.live+1
	b.dirty = max(b.dirty, b.taken)
	s.owner[&piece[0]] = b
	return piece, used
}

// add makes a slab of n words at least.
func (s *slabs) add(n int) (*slab, error) {
	words := max(n, min(max(firstSlabWords, int(s.held)/8), mostSlabWords))
	bytes := int64(words) * 8
	if s.most > 0 && s.held+bytes > s.most {
		return nil, errShareUsed
	}
	if err := s.from.Draw(bytes); err != nil {
		return nil, err
	}
	s.held += bytes
	b := &slab{words: hostmem.Make[uint64](words)}
	s.all = append(s.all, b)
	return b, nil
}

// put takes a piece back.
func (s *slabs) put(piece []uint64) {
	if len(piece) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.owner[&piece[0]]
	delete(s.owner, &piece[0])
	if b.live--; b.live == 0 {
		b.taken = 0
	}
}

// drop lets go of all memory.
func (s *slabs) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.all {
		hostmem.Free(b.words)
	}
	s.from.Release(s.held)
	s.all, s.owner, s.held = nil, nil, 0
}
