package partition

import (
	"math/bits"
	"sync"

	"github.com/gagg-dev/gagg/internal/hostmem"
)

const (
	// pageBytes is about the size of a page (its rows are a power of two):
	// large enough that getting pages costs nothing, small enough that the
	// half-empty last page of each partition and worker does not count.
	pageBytes = 8 << 10
	// slabBytes is how much is allocated at once: some huge pages. The first
	// slabs are smaller, so that a small run stays small.
	slabBytes      = 16 << 20
	firstSlabBytes = 256 << 10
)

// Pool gives out pages, all of one size, for the buckets of all workers.
type Pool struct {
	Stride   int  // words a row
	PageBits uint // a page has 2^PageBits rows

	grow func(bytes int64) error
	mu   sync.Mutex
	slab []uint64 // what is left of the slab at hand
	next int      // words of the next slab
	free [][]uint64
	held int64 // bytes of all slabs
}

// NewPool returns a pool of pages for rows of stride words. grow is told of
// memory before it is allocated, and may refuse.
func NewPool(stride int, grow func(bytes int64) error) *Pool {
	p := &Pool{Stride: stride, PageBits: uint(bits.Len(uint(pageBytes / 8 / stride))), grow: grow}
	p.next = max(firstSlabBytes/8, p.words())
	return p
}

// words is the size of a page.
func (p *Pool) words() int { return p.Stride << p.PageBits }

// get returns a page whose words mean nothing.
func (p *Pool) get() ([]uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		page := p.free[n-1]
		p.free = p.free[:n-1]
		return page, nil
	}
	n := p.words()
	if len(p.slab) < n {
		if err := p.grow(int64(p.next) * 8); err != nil {
			return nil, err
		}
		p.held += int64(p.next) * 8
		p.slab = hostmem.Make[uint64](p.next)
		p.next = max(min(2*p.next, slabBytes/8), n)
	}
	page := p.slab[:n:n]
	p.slab = p.slab[n:]
	return page, nil
}

// put takes pages back.
func (p *Pool) put(pages [][]uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, pages...)
}

// Bytes is the memory that the pool has taken; it keeps what is put back.
func (p *Pool) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}
