package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// Launch sizes of the kernels that decode pages and make rows. On an H200 twice
// and four times as many blocks, and a quarter of the rows for each thread, make no
// difference (docs/experiments/0011).

const (
	// parquetBlocks is the most blocks: of 256 threads, some eight for each
	// multiprocessor. A parcel has few pages, and their values come to memory one
	// after the other in a thread: what shortens the wait is more threads.
	parquetBlocks = 1024

	// parquetEach is how many rows of a page a thread has, where that does not
	// make too many blocks.
	parquetEach = 8

	// As the kernels are made for.
	parquetLinkThreads      = 1024
	parquetChainWalkThreads = 512
	parquetSnappyThreads    = 1024
	parquetThreads          = 256
	parquetWalkThreads      = 512
	parquetDeltaThreads     = 512

	parquetTextThreads = 256

	parquetComputeThreads = 128 // so that 32 registers fit into 32 KiB of shared memory

	parquetRowThreads = 128 // so that rows of 41 words fit into shared memory
)

// parquetLinkGrid is the grid of parquet_snappy_link and _find, and of parquet_coded_link and
// _find, for pages > 0: a block for some windows of elements. A page has about one for each 4 KiB
// that it comes to, or half as many if it is compressed.
func parquetLinkGrid(pages, largest int) cuda.Grid {
	return parquetShareGrid(pages, largest/chainWindow/4, parquetLinkThreads)
}

// parquetExpandGrid is the grid of parquet_snappy_expand for pages > 0: a block
// for each fragment.
func parquetExpandGrid(pages, largest int) cuda.Grid {
	return parquetShareGrid(pages, (largest+snappyFragment-1)/snappyFragment, parquetSnappyThreads)
}

// parquetShareGrid has so many blocks a page, within reason.
func parquetShareGrid(pages, blocks int, threads uint32) cuda.Grid {
	return cuda.Grid{Blocks: uint32(pages * max(min(blocks, parquetBlocks/pages), 1)), Threads: threads}
}

// ParquetValueGrid is the grid of parquet_decode_values for tasks > 0, the
// largest of pages with so many rows.
func ParquetValueGrid(tasks, rows int) cuda.Grid {
	return parquetShareGrid(tasks, rows/(parquetThreads*parquetEach), parquetThreads)
}

// ParquetLevelGrid is the same of parquet_decode_levels.
func ParquetLevelGrid(tasks, rows int) cuda.Grid {
	return parquetShareGrid(tasks, rows/(parquetWalkThreads*parquetEach), parquetWalkThreads)
}

// ParquetWalkGrid is the grid of parquet_decode_walks.
func ParquetWalkGrid(tasks int) cuda.Grid {
	return cuda.Grid{Blocks: uint32(min(tasks, parquetBlocks)), Threads: parquetWalkThreads}
}

// ParquetEntriesGrid is the grid of parquet_texts_entries for dictionaries > 0, of which the
// largest has so many entries: a thread for each.
func ParquetEntriesGrid(dictionaries, largest int) cuda.Grid {
	blocks := (largest + parquetTextThreads - 1) / parquetTextThreads
	return cuda.Grid{Blocks: uint32(dictionaries * min(max(blocks, 1), parquetBlocks)), Threads: parquetTextThreads}
}

// ParquetTextGrid is the grid of parquet_texts_rows: a thread for each row, within reason.
func ParquetTextGrid(rows int) cuda.Grid {
	blocks := (rows + parquetTextThreads - 1) / parquetTextThreads
	return cuda.Grid{Blocks: uint32(min(max(blocks, 1), 4*parquetBlocks)), Threads: parquetTextThreads}
}

// ParquetDeltaGrid is the grid of parquet_deltas_decode.
func ParquetDeltaGrid(tasks int) cuda.Grid {
	return cuda.Grid{Blocks: uint32(min(tasks, parquetBlocks)), Threads: parquetDeltaThreads}
}

// ParquetComputeGrid is the grid of parquet_compute_run for rows, of a program with so many
// registers.
func ParquetComputeGrid(rows, registers int) cuda.Grid {
	blocks := (rows + parquetComputeThreads - 1) / parquetComputeThreads
	return cuda.Grid{
		Blocks: uint32(min(max(blocks, 1), 2*parquetBlocks)), Threads: parquetComputeThreads,
		Shared: uint32(parquetComputeThreads * registers * 8),
	}
}

// ParquetFirstGrid is the grid of parquet_rows_first for rows.
func ParquetFirstGrid(rows int) cuda.Grid {
	blocks := (rows + parquetRowThreads - 1) / parquetRowThreads
	return cuda.Grid{Blocks: uint32(min(max(blocks, 1), 2*parquetBlocks)), Threads: parquetRowThreads}
}

// ParquetRowGrid is the grid of parquet_rows_make for rows of so many words.
func ParquetRowGrid(rows, words int) cuda.Grid {
	blocks := (rows + parquetRowThreads - 1) / parquetRowThreads
	return cuda.Grid{
		Blocks: uint32(min(max(blocks, 1), 2*parquetBlocks)), Threads: parquetRowThreads,
		Shared: uint32(8 + parquetRowThreads*(words|1)*8),
	}
}
