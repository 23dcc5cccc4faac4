package reference

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// Sizes of SlabAlloc that its addresses fix: see internal/kernels/kerneltest/slab.cuh.
const (
	SlabsPerBlock  = 1 << 10 // slabs of a memory block
	MaxSlabBlocks  = 1 << 14 // memory blocks of a super block
	MaxSuperBlocks = len(kerneltest.SlabPool{}.SuperBlocks)

	// NoSlab is the address that an allocation out of memory returns.
	NoSlab = uint32(1<<32 - 1)

	bitmapBytes = cuda.Size(SlabsPerBlock / 8) // of a memory block
)

// SlabConfig is the shape of a SlabAlloc. SlabBytes, Blocks and SuperBlocks
// have no default; where another number is 0, DefaultSlabConfig's is taken.
type SlabConfig struct {
	// SlabBytes is the size of a slab: a power of two, 128 or more, so that a
	// warp reads one in one access of 4 bytes a lane.
	SlabBytes cuda.Size
	// Blocks is how many memory blocks a super block has, 1 to MaxSlabBlocks.
	// Each takes 1024 slabs and 128 bytes.
	Blocks uint32
	// SuperBlocks is how many super blocks there are at the start, 1 to
	// MaxSuperBlocks. Grow adds more.
	SuperBlocks uint32
	// ChangesPerSuper is after how many changes of its memory block a warp
	// uses one more of the super blocks that Grow has added.
	ChangesPerSuper uint32
	// Tries is how many memory blocks an allocation looks at at random before
	// it looks at all of them in order.
	Tries uint32
	// Seed is what the random choices begin with.
	Seed uint32
}

// DefaultSlabConfig holds the numbers that a SlabConfig may leave out.
var DefaultSlabConfig = SlabConfig{
	// Not measured: few enough that a new super block fills before all
	// warps have emptied the old ones, enough that most of them stay there.
	ChangesPerSuper: 4,
	// With one block in ten not full, 32 random tries miss in 3 % of all
	// cases. A try is one read of 128 bytes, like a step in order, but finds a
	// block that neighbours do not look at. Not measured.
	Tries: 32,
}

// Validate reports everything that is wrong with the configuration.
func (c SlabConfig) Validate() error {
	var errs []error
	if c.SlabBytes < 128 || bits.OnesCount64(uint64(c.SlabBytes)) != 1 || c.SlabBytes > 1<<31 {
		errs = append(errs, fmt.Errorf("slab bytes: %d is not a power of two from 128 to 2^31", uint64(c.SlabBytes)))
	}
	if c.Blocks < 1 || c.Blocks > MaxSlabBlocks {
		errs = append(errs, fmt.Errorf("memory blocks: %d is not in 1 to %d", c.Blocks, MaxSlabBlocks))
	}
	if c.SuperBlocks < 1 || int(c.SuperBlocks) > MaxSuperBlocks {
		errs = append(errs, fmt.Errorf("super blocks: %d is not in 1 to %d", c.SuperBlocks, MaxSuperBlocks))
	}
	return errors.Join(errs...)
}

// withDefaults fills in what was left out.
func (c SlabConfig) withDefaults() SlabConfig {
	if c.ChangesPerSuper == 0 {
		c.ChangesPerSuper = DefaultSlabConfig.ChangesPerSuper
	}
	if c.Tries == 0 {
		c.Tries = DefaultSlabConfig.Tries
	}
	return c
}

// superBytes is the memory of a super block, its bitmaps first.
func (c SlabConfig) superBytes() cuda.Size {
	return cuda.Size(c.Blocks) * (bitmapBytes + SlabsPerBlock*c.SlabBytes)
}

// view is the pool without super blocks.
func (c SlabConfig) view() kerneltest.SlabPool {
	return kerneltest.SlabPool{
		Initial:         c.SuperBlocks,
		Blocks:          c.Blocks,
		SlabShift:       uint32(bits.TrailingZeros64(uint64(c.SlabBytes))),
		ChangesPerSuper: c.ChangesPerSuper,
		Tries:           c.Tries,
		Seed:            c.Seed,
	}
}
