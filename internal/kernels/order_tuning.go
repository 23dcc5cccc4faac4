package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// orderThreads is ORDER_THREADS.
const orderThreads = 256

// OrderCount is the grid of ega_order_count, whose threads take slots in turns. The bound is that
// of OrderTake.
func OrderCount(slots uint32) cuda.Grid {
	const most = 1 << 14
	return cuda.Grid{Blocks: min(slots/orderThreads+1, most), Threads: orderThreads}
}

// OrderFrom is the grid of ega_order_from: a thread for each bucket.
func OrderFrom(buckets uint32) cuda.Grid {
	return cuda.Grid{Blocks: max((buckets+orderThreads-1)/orderThreads, 1), Threads: orderThreads}
}

// OrderTake is the grid of ega_order_take: a warp for each bucket, or as many as there may be
// warps, which then take several. The bound is some rounds of all that an H200 has resident, 1056
// blocks of this size: a bound of one round would leave a device idle whose last blocks have more
// to do.
func OrderTake(buckets uint32) cuda.Grid {
	const warps, most = orderThreads / 32, 1 << 14
	return cuda.Grid{Blocks: min(max((buckets+warps-1)/warps, 1), most), Threads: orderThreads}
}
