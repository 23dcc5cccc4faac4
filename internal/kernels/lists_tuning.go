package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// listsThreads is LISTS_THREADS.
const listsThreads = 256

// ListsRows is the grid of the kernels of lists whose warps take n rows in turns. The bound is
// that of OrderTake.
func ListsRows(n uint64) cuda.Grid {
	const most = 1 << 14
	return cuda.Grid{Blocks: uint32(min(max((n+listsThreads-1)/listsThreads, 1), most)), Threads: listsThreads}
}

// ListsSlots is the grid of ega_lists_begin: a thread for each slot, and for the one behind all
// others.
func ListsSlots(slots uint32) cuda.Grid {
	return cuda.Grid{Blocks: uint32((uint64(slots) + 1 + listsThreads - 1) / listsThreads), Threads: listsThreads}
}
