package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// Launch sizes of the kernels that ship, here and nowhere else. They
// say what they were measured by or follow from.

const (
	// sweepThreads: eight warps hide the latency of a load behind the
	// loads of the others, and any device of sm_70 or later has room for several
	// blocks of this size.
	sweepThreads = 256

	// sweepBlocks: some eight blocks for each of the 132
	// multiprocessors of an H200, all that are resident at once. More would only
	// start later.
	sweepBlocks = 1024
)

// Sweep is the grid of a kernel whose threads, however many there are, share n
// elements among them, thread i taking i, i + threads, … : pages_reset,
// pages_used, slab_used. For n = 0 it is one block, which finds nothing to do.
func Sweep(n uint64) cuda.Grid {
	blocks := n/sweepThreads + min(1, n%sweepThreads)
	return cuda.Grid{Blocks: uint32(min(max(blocks, 1), sweepBlocks)), Threads: sweepThreads}
}
