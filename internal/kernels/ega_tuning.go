package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// Launch sizes of the kernels of aggregation (ega_kernels.cuh).

const (
	// EgaThreads is for kernels that live on the latency of device memory: eight
	// warps a block, which is what their launch bounds allow. How many blocks
	// are resident follows from it (Occupancy), and so the same number of threads whatever it is.
	EgaThreads = 256

	// EgaSharedThreads is the threads of a multiprocessor for kernels with a table in shared
	// memory, of all its blocks together, if that does not make a block too large
	// (EgaBlockThreads). Kernels that take more than 32 registers a thread have fewer blocks at a
	// time. With half as many pairs took up to a seventh longer (docs/experiments/0006).
	EgaSharedThreads = 2048

	// EgaBlockThreads is the most threads of a block: their launch bounds.
	EgaBlockThreads = 1024

	// EgaTile is how many elements a block of the kernels that gather looks at: 8 a thread.
	EgaTile = 8 * EgaThreads

	// EgaStaticShared is more than what these kernels have of static shared memory, and
	// what the driver takes for itself (1 KiB a block since compute capability 8.0).
	EgaStaticShared cuda.Size = 2048
)

// EgaRows is the grid of a kernel whose threads take n rows in turns: no more blocks than
// are resident at once, since a second round of fewer would leave the device half empty.
func EgaRows(n uint64, resident int) cuda.Grid {
	blocks := (n + EgaThreads - 1) / EgaThreads
	return cuda.Grid{Blocks: uint32(min(max(blocks, 1), uint64(max(resident, 1)))), Threads: EgaThreads}
}

// EgaFirstGrid is the grid of ega_count_first, one block.
func EgaFirstGrid() cuda.Grid { return cuda.Grid{Blocks: 1, Threads: 512} }

// EgaFirstSlots is at how many slots ega_count_first looks at most for so many groups. A table that
// is emptier than a 64th has few groups, and loses nothing. A round of 1024 slots waits for memory
// once: the most groups that a run looks for, 2^16, take some 4000 rounds at worst.
func EgaFirstSlots(groups uint64) uint64 { return 64*groups + 1<<16 }

// EgaTiles is the grid of a kernel that gathers from n elements.
func EgaTiles(n uint64) cuda.Grid {
	return cuda.Grid{Blocks: uint32(max((n+EgaTile-1)/EgaTile, 1)), Threads: EgaThreads}
}
