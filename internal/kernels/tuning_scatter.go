package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

const (
	// ScatterThreads: two blocks of 96 KiB then have 32 warps on a
	// multiprocessor, some of which read a tile while others order theirs. Not less:
	// SCATTER_THREAD_PARTS of ega_scatter.cuh.
	ScatterThreads = 512

	// scatterShared: two blocks fit the 227 KiB of an H200, and the
	// 4,000 rows of 16 bytes that a tile then has are parts of 2 rows, as much
	// as memory is written in at least, at the most partitions of a level.
	scatterShared = 96 << 10

	// scatterThreadRows and ScatterMostBits are SCATTER_THREAD_ROWS and
	// SCATTER_MOST_BITS of ega_scatter.cuh.
	scatterThreadRows = 8
	ScatterMostBits   = 11

	// ScanScratch is SCAN_SCRATCH of scan.cuh in bytes.
	ScanScratch = 32 * 4
)

// ScatterTile is how many rows of stride words a block divides in 2^bits partitions at once,
// perPartition being the bytes of shared memory that a partition takes. most is what the device
// gives a block, or less.
func ScatterTile(stride, bits, perPartition uint32, most cuda.Size) (rows uint32) {
	room := min(scatterShared, uint32(most)) - perPartition<<bits - ScanScratch
	return min(room/(8*stride+4), ScatterThreads*scatterThreadRows)
}

// ScatterGrid is the grid that divides tiles of so many rows.
func ScatterGrid(tiles, rows, stride, bits, perPartition uint32) cuda.Grid {
	return cuda.Grid{
		Blocks: tiles, Threads: ScatterThreads,
		Shared: rows*(8*stride+4) + perPartition<<bits + ScanScratch,
	}
}
