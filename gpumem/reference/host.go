package reference

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// HostPool is the host twin of the page pool on the device: it hands out pages
// of a piece of host memory to goroutines, by the same walk over the same kind
// of bitmap. The bitmap lies beside the pages, in Go memory; a set bit is a
// page in use, or one past the end.
//
// A get looks at the word where its walker was last (CRW: pages of a walker
// lie together, and other walkers are elsewhere), then at random words (RW-BM),
// up to the limit of gpumem.StepLimit, then at every word in turn. Pages are taken by
// atomicOr and put back by atomicAnd, with no lock, for the reasons that the
// models of the tests give. A walk costs a few tens of nanoseconds, so unlike on
// the device there is no reason to tell out of memory by inference: the sweep
// decides.
//
// As on the device (pages.cuh) no page is handed out while somebody holds it
// (PAGE-ONCE), and every page that nobody holds can be handed out (PAGE-KEPT).
//
// PAGE-TRUE: a get fails only if at some moment of the call no page (no run of
// pages that long) was free. A page is free when its Put has returned, until a
// get takes it; while a GetRun tries pages that others then take from it, they
// are not free.
//
// Gets and puts never wait for each other. A call can be delayed only by calls
// that take or put pages meanwhile.
//
// What the old holder did to a page happens before Put, Put before the get
// that hands the page out again, in the sense of the Go memory model.
//
// The memory belongs to whoever made the pool, pinned or not: pinned memory,
// if it is granted (fault F73), counts to the memory limit like any other. The
// pool uses no byte of it; under -tags invariant it spoils pages that are put.
type HostPool struct {
	memory    []byte
	pageBytes int
	pages     int
	limit     uint32
	seed      uint64
	words     []atomic.Uint64
	walkers   atomic.Uint64
	step      func() // before each atomic access, under -tags invariant: the schedules of tests

	_        [64]byte // keeps the fields that every put reads apart from those that change
	sweepers atomic.Int64
	_        [64]byte
	puts     atomic.Uint64 // pages put beside a sweep
}

// HostConfig is how a HostPool divides its memory.
type HostConfig struct {
	// PageBytes is the size of a page. Pages are as well aligned as the memory
	// and the size together allow.
	PageBytes int
	// Seed of the walks; walkers differ whatever it is.
	Seed uint64
	// LowestFree is the share of free pages below which a walk may give way to a
	// sweep; see gpumem.StepLimit. 0 stands for 0.5 %, where paper 000 draws the line.
	LowestFree float64
}

const hostWordPages = 64 // pages of a word of the bitmap

// Validate reports every problem, joined.
func (c HostConfig) Validate() error {
	var errs []error
	if c.PageBytes < 1 {
		errs = append(errs, fmt.Errorf("gpumem: pages of %d bytes", c.PageBytes))
	}
	if !(c.LowestFree >= 0 && c.LowestFree < 1) { // NaN too
		errs = append(errs, fmt.Errorf("gpumem: lowest free share %v is not in 0 to 1", c.LowestFree))
	}
	return errors.Join(errs...)
}

// NewHostPool divides memory into pages, all free. What is left after the last
// whole page is not used. The memory must stay until the pool's last use.
func NewHostPool(memory []byte, c HostConfig) (*HostPool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	pages := len(memory) / c.PageBytes
	if pages < 1 || uint64(pages) > math.MaxUint32 {
		return nil, fmt.Errorf("gpumem: %d bytes make %d pages of %d bytes, not 1 to 2^32-1", len(memory), pages, c.PageBytes)
	}
	if c.LowestFree == 0 {
		c.LowestFree = gpumem.DefaultLowestFree
	}
	p := &HostPool{
		memory:    memory,
		pageBytes: c.PageBytes,
		pages:     pages,
		seed:      c.Seed,
		words:     make([]atomic.Uint64, (pages+hostWordPages-1)/hostWordPages),
	}
	// to look at every word at random takes as long as to do it in turn
	p.limit = min(gpumem.StepLimit(c.LowestFree, hostWordPages), uint32(len(p.words)))
	if past := pages % hostWordPages; past != 0 {
		p.words[len(p.words)-1].Store(^uint64(0) << past)
	}
	return p, nil
}

// Pages is the number of pages, free or not.
func (p *HostPool) Pages() int { return p.pages }

// Free counts the free pages. Beside gets and puts it is a number near the
// truth.
func (p *HostPool) Free() int {
	free := 0
	for i := range p.words {
		free += bits.OnesCount64(^p.words[i].Load())
	}
	return free
}

// Page is the memory of a page, the holder's until it puts the page.
func (p *HostPool) Page(page uint32) []byte { return p.Run(page, 1) }

// Run is the memory of n pages from first on.
func (p *HostPool) Run(first uint32, n int) []byte {
	from, to := int(first)*p.pageBytes, (int(first)+n)*p.pageBytes
	return p.memory[from:to:to]
}

// Put gives a page back. Any goroutine may, for a page that is held.
func (p *HostPool) Put(page uint32) {
	p.checkHeld(page, 1)
	p.clear(int(page/hostWordPages), 1<<(page%hostWordPages))
}

// PutRun gives n pages from first on back, which need not come from one get.
func (p *HostPool) PutRun(first uint32, n int) {
	p.checkHeld(first, n)
	for word, mask := range masks(first, n) {
		p.clear(word, mask)
	}
}

// clear frees the pages of mask. The look at the sweepers comes after the
// bits: a sweep that has passed the word before, and still goes on, has then
// said so (PAGE-TRUE).
func (p *HostPool) clear(word int, mask uint64) {
	p.at()
	old := p.words[word].And(^mask)
	invariant.Check(old&mask == mask, "PAGE-ONCE: a page was put that nobody holds")
	p.at()
	if p.sweepers.Load() > 0 {
		p.at()
		p.puts.Add(1)
	}
}

// checkHeld checks that pages exist, and spoils them.
func (p *HostPool) checkHeld(first uint32, n int) {
	if !invariant.Enabled {
		return
	}
	invariant.Check(n > 0 && int(first)+n <= p.pages, "PAGE-KEPT: a page was put that the pool does not have")
	for i := range p.Run(first, n) {
		p.memory[int(first)*p.pageBytes+i] = 0xdb
	}
}

// at is where another goroutine may come between: before an atomic access.
func (p *HostPool) at() {
	if invariant.Enabled && p.step != nil {
		p.step()
	}
}

// Walker makes a walker over the pool, for one goroutine at a time. It needs no
// closing.
func (p *HostPool) Walker() *Walker {
	w := &Walker{pool: p}
	w.rng.Seed(p.seed, p.walkers.Add(1))
	w.last = w.random()
	return w
}

// random is a word drawn at random.
func (w *Walker) random() int {
	high, _ := bits.Mul64(w.rng.Uint64(), uint64(len(w.pool.words)))
	return int(high)
}

// Walker gets pages of a HostPool for one goroutine, and remembers where it
// found the last one.
type Walker struct {
	pool  *HostPool
	rng   rand.PCG
	last  int // the word
	stats WalkStats
	_     [64]byte // the next walker's counters lie in another line
}

// WalkStats counts what a walker did. A step is a look at a word that was not
// part of a sweep.
type WalkStats struct {
	Gets    uint64 // calls, of pages and of runs
	Refused uint64 // calls that reported out of memory
	Steps   uint64
	Most    uint64 // steps of one call
	Sweeps  uint64 // looks at all words
}

// Stats is what the walker did until now.
func (w *Walker) Stats() WalkStats { return w.stats }
