package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// Launch sizes of the kernels of aggregation (ega_kernels.cuh).

const (
	// egaThreads is for kernels that live on the latency of device memory: eight
	// warps a block, which is what their launch bounds allow. A guess.
	egaThreads = 256

	// egaResident blocks fill a multiprocessor with threads, 2048 of them.
	egaResident = 8

	// EgaSharedThreads is for kernels with a table in shared memory: the more
	// threads share a table, the less often it is made and the larger it may be.
	// Two blocks fill a multiprocessor. A guess.
	EgaSharedThreads = 1024

	// EgaBucketThreads is less, since a bucket has few rows for each thread. A guess.
	EgaBucketThreads = 512

	// EgaTile is how many elements a block of the kernels that gather looks at: 8 a thread.
	EgaTile = 8 * egaThreads

	// EgaStaticShared is more than what these kernels have of static shared memory, and
	// what the driver takes for itself (1 KiB a block since compute capability 8.0).
	EgaStaticShared cuda.Size = 2048
)

// EgaRows is the grid of a kernel whose threads take n rows in turns.
func EgaRows(n uint64, multiprocessors int) cuda.Grid {
	blocks := (n + egaThreads - 1) / egaThreads
	return cuda.Grid{Blocks: uint32(min(max(blocks, 1), uint64(multiprocessors*egaResident))), Threads: egaThreads}
}

// EgaTiles is the grid of a kernel that gathers from n elements.
func EgaTiles(n uint64) cuda.Grid {
	return cuda.Grid{Blocks: uint32(max((n+EgaTile-1)/EgaTile, 1)), Threads: egaThreads}
}
