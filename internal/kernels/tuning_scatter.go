package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

const (
	// scatterThreads is a guess: two blocks of 96 KiB then have 32 warps on a
	// multiprocessor, some of which read a tile while others order theirs. Not less:
	// SCATTER_THREAD_PARTS of ega_scatter.cuh.
	scatterThreads = 512

	// scatterShared is a guess: two blocks fit the 227 KiB of an H200, and the
	// 4,000 rows of 16 bytes that a tile then has are parts of 2 rows, as much
	// as memory is written in at least, at the most partitions of a level.
	scatterShared = 96 << 10

	// scatterThreadRows and ScatterMostBits are SCATTER_THREAD_ROWS and
	// SCATTER_MOST_BITS of ega_scatter.cuh.
	scatterThreadRows = 8
	ScatterMostBits   = 11

	// scanScratch is SCAN_SCRATCH of scan.cuh in bytes.
	scanScratch = 32 * 4

	// ScatterCountRows is how many rows a block counts at once: so many that adding
	// a block's 2,048 counters to those of the device costs a thirtieth of the
	// reading. A guess.
	ScatterCountRows = 1 << 16
)

// ScatterTile is how many rows of stride words a block divides in 2^bits
// partitions at once, perPartition being the bytes of shared memory that a partition takes. most is what the
// device gives a block, or less.
func ScatterTile(stride, bits, perPartition uint32, most cuda.Size) (rows uint32) {
	room := min(scatterShared, uint32(most)) - perPartition<<bits - scanScratch
	return min(room/(8*stride+4), scatterThreads*scatterThreadRows)
}

// ScatterGrid is the grid that divides tiles of so many rows.
func ScatterGrid(tiles, rows, stride, bits, perPartition uint32) cuda.Grid {
	return cuda.Grid{
		Blocks: tiles, Threads: scatterThreads,
		Shared: rows*(8*stride+4) + perPartition<<bits + scanScratch,
	}
}

// CountGrid is the grid of ega_scatter_count.
func CountGrid(tiles, bits uint32) cuda.Grid {
	return cuda.Grid{Blocks: tiles, Threads: scatterThreads, Shared: 4 << bits}
}

// PrefixGrid is the grid of ega_scatter_prefix.
func PrefixGrid(segments, bits uint32) cuda.Grid {
	return cuda.Grid{Blocks: segments, Threads: scatterThreads, Shared: 4<<bits + scanScratch}
}

// TilesGrid is the grid of ega_scatter_tiles.
func TilesGrid() cuda.Grid {
	return cuda.Grid{Blocks: 1, Threads: scatterThreads, Shared: scanScratch}
}
