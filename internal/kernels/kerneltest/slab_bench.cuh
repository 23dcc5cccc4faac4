// What the benchmark kernels of SlabAlloc count.
#pragma once

#include "../device.cuh"

// SlabCounts are sums over the warps of a launch; the caller sets them to 0. A
// round is one try to take a slab, or one read of a memory block's bitmap.
struct SlabCounts {
  uint64_t slabs;        // allocated
  uint64_t refused;      // out of memory
  uint64_t atomics;      // tries to take a slab
  uint64_t reads;        // of bitmaps: changes of resident, with the first choice of each warp
  uint64_t warps;        // that allocated
  uint64_t slab_rounds;  // most rounds of one allocation
  uint64_t warp_rounds;  // most rounds of one warp, its allocations one after the other
};
