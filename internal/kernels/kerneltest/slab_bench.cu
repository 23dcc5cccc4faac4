// SlabAlloc for measurement. Threads a block: a multiple of 32; enough threads
// for n. Nothing is shared, and there are no barriers beside slab_allocate's.
//
//   slab_bench_fill         brings a pool to a share of free slabs
//   slab_bench_get          n slabs, one for each thread: a warp allocates for
//                           its lanes one after the other, as in a slab hash
//   slab_bench_get_counted  the same, with SlabCounts
//   slab_bench_free         gives n slabs back, a thread each
#include "../device.cuh"

#include "slab.cuh"
#include "slab_bench.cuh"

// Any number of threads, each of which sets every so many'th word of the
// bitmaps: a slab is free with probability free/2^32, drawn from its address and
// the seed.
extern "C" __global__ void slab_bench_fill(SlabPool pool, uint32_t free, uint32_t seed) {
  uint32_t words = pool.blocks * 32;
  for (uint32_t i = global_thread(); i < pool.count * words; i += global_threads()) {
    uint32_t address = i / words << SLAB_SUPER_BITS | i % words << 5;
    uint32_t used = 0;
    for (uint32_t bit = 0; bit < 32; bit++) {
      uint32_t drawn = uint32_t(slab_mix(uint64_t(seed) << 32 | address | bit));
      used |= uint32_t(drawn >= free) << bit;
    }
    *slab_word(pool, address) = used;
  }
}

// Allocates for each lane whose thread is below n; the lane's slab. steps is
// null, or one for each lane's own slab.
__device__ __forceinline__ uint32_t slab_bench_lanes(const SlabPool& pool, uint32_t n, uint32_t spread,
                                                     SlabSteps* steps) {
  SlabWarp warp = slab_warp(spread != 0 ? global_warp() & 31 : 0);
  uint32_t mine = SLAB_NONE;
  for (uint32_t lane = 0; lane < 32 && global_warp() * 32 + lane < n; lane++) {
    SlabSteps one = {};
    uint32_t address = slab_allocate(pool, warp, steps != nullptr ? &one : nullptr);
    if (lane_id() == lane) {
      mine = address;
      if (steps != nullptr) *steps = one;
    }
  }
  return mine;
}

// out[i] becomes the slab of thread i, or SLAB_NONE. With spread the warps
// begin their search at different lanes, else all at lane 0.
extern "C" __global__ void slab_bench_get(SlabPool pool, uint32_t* out, uint32_t n, uint32_t spread) {
  uint32_t mine = slab_bench_lanes(pool, n, spread, nullptr);
  if (global_thread() < n) out[global_thread()] = mine;
}

// The sum of a value over all lanes, in all of them.
__device__ __forceinline__ uint32_t slab_bench_sum(uint32_t value) {
  for (uint32_t distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(FULL_MASK, value, distance);
  return value;
}

extern "C" __global__ void slab_bench_get_counted(SlabPool pool, uint32_t* out, uint32_t n, uint32_t spread,
                                                  SlabCounts* counts) {
  SlabSteps steps = {};
  uint32_t mine = slab_bench_lanes(pool, n, spread, &steps);
  bool asked = global_thread() < n;
  if (asked) out[global_thread()] = mine;

  uint32_t slabs = __popc(__ballot_sync(FULL_MASK, asked && mine != SLAB_NONE));
  uint32_t wanted = __popc(__ballot_sync(FULL_MASK, asked));
  uint32_t atomics = slab_bench_sum(steps.atomics), reads = slab_bench_sum(steps.reads);
  if (asked) atomicMax(&counts->slab_rounds, uint64_t(steps.atomics + steps.reads));
  if (lane_id() != 0 || wanted == 0) return;
  atomicAdd(&counts->slabs, uint64_t(slabs));
  atomicAdd(&counts->refused, uint64_t(wanted - slabs));
  atomicAdd(&counts->atomics, uint64_t(atomics));
  atomicAdd(&counts->reads, uint64_t(reads));
  atomicAdd(&counts->warps, uint64_t(1));
  atomicMax(&counts->warp_rounds, uint64_t(atomics + reads));
}

// Frees in[0] to in[n-1], leaving out SLAB_NONE.
extern "C" __global__ void slab_bench_free(SlabPool pool, const uint32_t* in, uint32_t n) {
  uint32_t i = global_thread();
  if (i < n && in[i] != SLAB_NONE) slab_free(pool, in[i]);
}
