package kerneltest

import (
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// ScatterCountRows is how many rows a block counts at once: so many that adding
// a block's 2,048 counters to those of the device costs a thirtieth of the
// reading.
const ScatterCountRows = 1 << 16

// CountGrid is the grid of ega_scatter_count.
func CountGrid(tiles, bits uint32) cuda.Grid {
	return cuda.Grid{Blocks: tiles, Threads: kernels.ScatterThreads, Shared: 4 << bits}
}

// PrefixGrid is the grid of ega_scatter_prefix.
func PrefixGrid(segments, bits uint32) cuda.Grid {
	return cuda.Grid{Blocks: segments, Threads: kernels.ScatterThreads, Shared: 4<<bits + kernels.ScanScratch}
}

// TilesGrid is the grid of ega_scatter_tiles.
func TilesGrid() cuda.Grid {
	return cuda.Grid{Blocks: 1, Threads: kernels.ScatterThreads, Shared: kernels.ScanScratch}
}
