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

	parquetSnappyThreads = 1024 // as the kernel is made for
	parquetThreads       = 256
	parquetWalkThreads   = 512 // as the kernel is made for
	parquetRowThreads    = 128 // so that rows of 41 words fit into shared memory
)

// ParquetSnappyGrid is the grid of parquet_snappy_expand.
func ParquetSnappyGrid(pages int) cuda.Grid {
	return cuda.Grid{Blocks: uint32(min(max(pages, 1), parquetBlocks)), Threads: parquetSnappyThreads}
}

// ParquetValueGrid is the grid of parquet_decode_values for tasks > 0.
func ParquetValueGrid(tasks int) cuda.Grid {
	parts := min(max(parquetBlocks/tasks, 1), parquetParts)
	return cuda.Grid{Blocks: uint32(tasks * parts), Threads: parquetThreads}
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
