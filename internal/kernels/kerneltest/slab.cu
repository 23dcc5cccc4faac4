// What the host asks of a SlabPool. Kernels that use slabs include slab.cuh.
#include "../device.cuh"

#include "slab.cuh"

// Adds the number of slabs in use to *used, which the caller has set to 0. Any
// number of threads, each of which reads every so many'th word of the bitmaps
// and adds what it found; no barriers. Exact when no other kernel allocates or
// frees.
extern "C" __global__ void slab_used(SlabPool pool, uint64_t* used) {
  uint32_t words = pool.blocks * 32;
  uint32_t count = 0;
  for (uint32_t super = 0; super < pool.count; super++) {
    const uint32_t* bitmaps = reinterpret_cast<const uint32_t*>(pool.super_blocks[super]);
    for (uint32_t i = global_thread(); i < words; i += global_threads()) count += __popc(bitmaps[i]);
  }
  if (count > 0) atomicAdd(used, uint64_t(count));
}
