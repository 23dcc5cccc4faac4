package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// Launch sizes of the kernels that decode pages and make rows. No measurement
// stands behind them yet.

const (
	// parquetBlocks is a guess: blocks of 256 threads, some eight for each
	// multiprocessor. A parcel has few pages, and their values come to memory one
	// after the other in a thread: what shortens the wait is more threads.
	parquetBlocks = 1024

	// parquetParts is the most blocks that work for a page, in which a thread
	// has some eight values of a page of 122,880.
	parquetParts = 64

	parquetLinkThreads   = 1024 // as the kernels are made for
	parquetSnappyThreads = 512  // as the kernels are made for
	parquetThreads       = 256
	parquetWalkThreads   = 512 // as the kernels are made for
	parquetRowThreads    = 128 // so that rows of 41 words fit into shared memory
)

// parquetLinkGrid is the grid of parquet_snappy_link and _find for pages > 0: a
// block for some windows of elements. A page has about one for each 4 KiB that
// it comes to, or half as many.
func parquetLinkGrid(pages, largest int) cuda.Grid {
	return parquetShareGrid(pages, largest/snappyWindow/4, parquetLinkThreads)
}

// parquetExpandGrid is the grid of parquet_snappy_expand for pages > 0: a block
// for each fragment.
func parquetExpandGrid(pages, largest int) cuda.Grid {
	const fragment = 64 << 10
	return parquetShareGrid(pages, (largest+fragment-1)/fragment, parquetSnappyThreads)
}

// parquetShareGrid has so many blocks a page, within reason.
func parquetShareGrid(pages, blocks int, threads uint32) cuda.Grid {
	return cuda.Grid{Blocks: uint32(pages * max(min(blocks, parquetBlocks/pages), 1)), Threads: threads}
}

// ParquetValueGrid is the grid of parquet_decode_values for tasks > 0.
func ParquetValueGrid(tasks int) cuda.Grid {
	parts := min(max(parquetBlocks/tasks, 1), parquetParts)
	return cuda.Grid{Blocks: uint32(tasks * parts), Threads: parquetThreads}
}

// ParquetLevelGrid is the grid of parquet_decode_levels for tasks > 0: half as
// many blocks, which are twice as large.
func ParquetLevelGrid(tasks int) cuda.Grid {
	parts := min(max(parquetBlocks/2/tasks, 1), parquetParts/2)
	return cuda.Grid{Blocks: uint32(tasks * parts), Threads: parquetWalkThreads}
}

// ParquetWalkGrid is the grid of parquet_decode_walks.
func ParquetWalkGrid(tasks int) cuda.Grid {
	return cuda.Grid{Blocks: uint32(min(tasks, parquetBlocks)), Threads: parquetWalkThreads}
}

// ParquetRowGrid is the grid of parquet_rows_make for rows of so many words.
func ParquetRowGrid(rows, words int) cuda.Grid {
	blocks := (rows + parquetRowThreads - 1) / parquetRowThreads
	return cuda.Grid{
		Blocks: uint32(min(max(blocks, 1), 2*parquetBlocks)), Threads: parquetRowThreads,
		Shared: uint32(8 + parquetRowThreads*(words|1)*8),
	}
}
