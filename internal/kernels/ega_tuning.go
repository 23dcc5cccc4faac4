package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// Launch sizes of the kernels of aggregation (ega_kernels.cuh).

const (
	// egaThreads is for kernels that live on the latency of device memory: eight
	// warps a block, which is what their launch bounds allow. A guess.
	egaThreads = 256

	// egaResident blocks fill a multiprocessor with threads, 2048 of them.
	egaResident = 8

	// EgaSharedThreads is the threads of a multiprocessor for kernels with a table in
	// shared memory, of all its blocks together: their launch bounds allow 64
	// registers a thread, of which there are 65536. Four reads of 16 bytes in
	// each thread are 64 KiB under way, which is enough for the memory's latency.
	EgaSharedThreads = 1024

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
