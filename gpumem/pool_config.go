package gpumem

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

const (
	// NoPage is the page that a walker returns who got none.
	NoPage = uint32(math.MaxUint32)
	// MaxPages is the most pages of a pool.
	MaxPages = uint32(math.MaxUint32 - 32*stretchWords) // with those that fill up the last stretch
	// MaxRun is the most pages in a row that kernels may ask for.
	MaxRun = 32

	minPageBytes = 1 << 5  // two parts of 16 bytes, the least of page_malloc
	maxPageBytes = 1 << 30 // so that a page's shift and offset keep to the kernels' types
)

// Config is the shape of a Pool.
type Config struct {
	// Pages is how many pages there are, 1 to MaxPages.
	Pages uint32
	// PageBytes is the size of a page: a power of two, 32 bytes to 1 GiB.
	PageBytes cuda.Size
	// Method is how kernels look for pages.
	Method Method
	// Seed is what the random numbers begin with. The same seed and the same
	// launches make the same walks; what they find depends on the schedule.
	Seed uint32
	// LowestFree is the share of free pages below which walking is given up for
	// a sweep, between 0 and 1; 0 stands for DefaultLowestFree.
	LowestFree float64
	// Parts allows small requests to page_malloc to share a page. Costs 4 bytes
	// a page.
	Parts bool
	// NoSweep: a walker at its limit of steps infers that memory is out, as in
	// the paper, rather than looking at all pages.
	NoSweep bool
}

// DefaultLowestFree is the share at which paper 000 sees its walks become too
// long (§3.2.3).
const DefaultLowestFree = 0.005

// Validate reports everything that is wrong with the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Pages == 0 || c.Pages > MaxPages {
		errs = append(errs, fmt.Errorf("%d pages: not 1 to %d", c.Pages, MaxPages))
	}
	if c.PageBytes < minPageBytes || c.PageBytes > maxPageBytes || bits.OnesCount64(uint64(c.PageBytes)) != 1 {
		errs = append(errs, fmt.Errorf("pages of %d bytes: not a power of two from %d to %d", c.PageBytes, minPageBytes, maxPageBytes))
	}
	if int(c.Method) >= len(methodNames) {
		errs = append(errs, fmt.Errorf("there is no %v", c.Method))
	}
	if c.LowestFree < 0 || c.LowestFree >= 1 || math.IsNaN(c.LowestFree) {
		errs = append(errs, fmt.Errorf("lowest free share %v: not between 0 and 1", c.LowestFree))
	}
	if c.Parts && c.Method == RW {
		errs = append(errs, errors.New("parts of pages need a bitmap, which RW has not"))
	}
	return errors.Join(errs...)
}

// view is the configuration as kernels are told it, without memory.
func (c Config) view() kernels.PagePool {
	lowest := c.LowestFree
	if lowest == 0 {
		lowest = DefaultLowestFree
	}
	// Without a sweep the limit is the answer, and must hold where the free
	// pages lie together: see StepLimit.
	pagesAStep := int(c.Method.wordPages())
	sweep := uint32(1)
	if c.NoSweep {
		pagesAStep, sweep = 1, 0
	}
	return kernels.PagePool{
		Count:     c.Pages,
		PageShift: uint32(bits.TrailingZeros64(uint64(c.PageBytes))),
		StepLimit: StepLimit(lowest, pagesAStep),
		Sweep:     sweep,
		Seed:      c.Seed,
		WordPages: c.Method.wordPages(),
	}
}

// stretchWords is PAGE_STRETCH of pages.cuh.
const stretchWords = 256

// words is how many words of 32 bits the pool needs for its bits or flags: whole
// stretches (PAGE-TAIL).
func (c Config) words() cuda.Size {
	words := (cuda.Size(c.Pages) + cuda.Size(c.Method.wordPages()) - 1) / cuda.Size(c.Method.wordPages())
	return (words + stretchWords - 1) / stretchWords * stretchWords
}
