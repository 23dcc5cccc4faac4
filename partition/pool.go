package partition

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

const (
	// PageBytes is the most that a page of several rows takes (they are a power of two):
	// large enough that getting pages costs nothing, small enough that the
	// half-empty last page of each partition and worker does not count.
	PageBytes = 8 << 10
	// slabBytes is how much is allocated at once: some huge pages. The first slabs are smaller, so
	// that a small run takes little memory. So are the last slabs before the budget is exhausted.
	slabBytes      = 16 << 20
	firstSlabBytes = 256 << 10
	// LeastBytes is the least that a pool takes at a time, unless a page is
	// larger.
	LeastBytes = 64 << 10
)

// Pool gives out pages, all of one size. Each owner of buckets has a pool of its own, whose memory
// is freed as a whole.
type Pool struct {
	Stride   int  // words a row
	PageBits uint // a page has 2^PageBits rows

	from  budget.Lender
	mu    sync.Mutex
	slabs [][]uint64
	slab  []uint64 // what is left of the last slab
	next  int      // words of the next slab
	free  [][]uint64
	held  atomic.Int64 // bytes of all slabs; the lender may ask for it
}

// NewPool returns a pool of pages for rows of stride words, whose memory is drawn
// from a lender; nil: there is no limit.
func NewPool(stride int, from budget.Lender) *Pool {
	p := &Pool{Stride: stride, PageBits: uint(max(bits.Len(uint(PageBytes/8/stride))-1, 0)), from: budget.Or(from)}
	p.next = max(firstSlabBytes/8, p.words())
	return p
}

// words is the size of a page.
func (p *Pool) words() int { return p.Stride << p.PageBits }

// Get returns a page with undefined contents.
func (p *Pool) Get() ([]uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		page := p.free[n-1]
		p.free = p.free[:n-1]
		return page, nil
	}
	n := p.words()
	if len(p.slab) < n {
		if err := p.addSlab(); err != nil {
			return nil, err
		}
	}
	return p.fromSlab(), nil
}

// fromSlab takes a page off the last slab.
func (p *Pool) fromSlab() []uint64 {
	n := p.words()
	page := p.slab[:n:n]
	p.slab = p.slab[n:]
	return page
}

// Reserve makes sure that so many rows, if they lie in pages of their own,
// get pages.
func (p *Pool) Reserve(rows int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	pages := rows>>p.PageBits + 1
	for len(p.free)+len(p.slab)/p.words() < pages {
		for len(p.slab) >= p.words() {
			p.free = append(p.free, p.fromSlab())
		}
		if err := p.addSlab(); err != nil {
			return err
		}
	}
	return nil
}

// addSlab allocates a slab: the next size, or the largest that is not refused.
func (p *Pool) addSlab() error {
	least := max(LeastBytes/8, p.words())
	words := p.next
	for {
		err := p.from.Draw(int64(words) * 8)
		if err == nil {
			break
		}
		if words == least {
			return err
		}
		words = max(words/4, least)
	}
	p.held.Add(int64(words) * 8)
	p.slab = hostmem.Make[uint64](words)
	p.slabs = append(p.slabs, p.slab)
	p.next = max(min(2*p.next, slabBytes/8), p.words())
	return nil
}

// put takes pages back.
func (p *Pool) put(pages [][]uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, pages...)
}

// Bytes is the memory that the pool has taken; it keeps what is put back.
func (p *Pool) Bytes() int64 { return p.held.Load() }

// Recycle makes all pages free, and keeps their memory. None may be in use
// any more.
func (p *Pool) Recycle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free, p.slab = p.free[:0], nil
	for _, s := range p.slabs {
		for n := p.words(); len(s) >= n; s = s[n:] {
			p.free = append(p.free, s[:n:n])
		}
	}
}

// Reset frees all memory. No page may be in use any more.
func (p *Pool) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.slabs {
		hostmem.Free(s)
	}
	p.slabs, p.slab, p.free = nil, nil, nil
	p.from.Release(p.held.Swap(0))
	p.next = max(firstSlabBytes/8, p.words())
}
