package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// orderThreads is the launch bound of ega_order_buckets.
const orderThreads = 256

// OrderGrid is the grid that puts buckets in order: a warp each, or as many as there may be warps,
// which then take several. The bound is a guess: some rounds of all that an H200 has resident.
func OrderGrid(buckets uint32) cuda.Grid {
	const warps, most = orderThreads / 32, 1 << 14
	return cuda.Grid{Blocks: min(max((buckets+warps-1)/warps, 1), most), Threads: orderThreads}
}
