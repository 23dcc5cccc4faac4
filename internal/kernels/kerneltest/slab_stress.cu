// SlabAlloc under test. Threads a block: a multiple of 32. Nothing is shared;
// the ballots and shuffles are those of slab_allocate and of passing a slab
// from its lane to the warp.
#include "../device.cuh"

#include "slab.cuh"
#include "slab_stress.cuh"

// What lane lane_id() writes into a slab of the warp.
__device__ __forceinline__ uint32_t slab_stress_mark(uint32_t address) {
  return address * 0x9e3779b1 ^ global_thread() * 0x85ebca6b;
}

// The lane's word of a slab; the 32 words are spread over the whole slab.
__device__ __forceinline__ uint32_t* slab_stress_place(const SlabPool& pool, uint32_t address) {
  return reinterpret_cast<uint32_t*>(slab_pointer(pool, address)) + (lane_id() << (pool.slab_shift - 7));
}

// The number of a slab, counted through all super blocks.
__device__ __forceinline__ uint64_t slab_stress_unit(const SlabPool& pool, uint32_t address) {
  uint32_t in_super = address & ((1u << SLAB_SUPER_BITS) - 1);
  return (uint64_t(address >> SLAB_SUPER_BITS) * pool.blocks << SLAB_BLOCK_BITS) + in_super;
}

// A warp allocates a slab and marks it as its own.
__device__ __forceinline__ uint32_t slab_stress_enter(const SlabPool& pool, SlabWarp& warp, uint32_t* owners,
                                                      OwnerFaults* faults) {
  uint32_t address = slab_allocate(pool, warp);
  if (address == SLAB_NONE) {
    if (lane_id() == 0) atomicAdd(&faults->refused, 1u);
    return SLAB_NONE;
  }
  if (lane_id() == 0) owner_enter(owners, slab_stress_unit(pool, address), global_warp() + 1, faults);
  *slab_stress_place(pool, address) = slab_stress_mark(address);
  return address;
}

// A warp looks for its marks and frees the slab. One lane frees: it waits until
// all have read.
__device__ __forceinline__ void slab_stress_leave(const SlabPool& pool, uint32_t address, uint32_t* owners,
                                                  OwnerFaults* faults) {
  if (*slab_stress_place(pool, address) != slab_stress_mark(address)) atomicAdd(&faults->spoiled, 1u);
  __syncwarp(FULL_MASK);
  if (lane_id() != 0) return;
  owner_leave(owners, slab_stress_unit(pool, address), global_warp() + 1, faults);
  slab_free(pool, address);
}

// Each warp holds up to most slabs, 1 to 32, one in each of its first lanes. In
// each round it draws a lane, and gives its slab back if there is one, else
// allocates one for it. What it holds in the end goes to held, a place for each
// thread, SLAB_NONE where there is none. owners has a word for each slab, all 0.
extern "C" __global__ void slab_stress_churn(SlabPool pool, uint32_t rounds, uint32_t most, uint32_t spread,
                                             uint32_t seed, uint32_t* owners, uint32_t* held, OwnerFaults* faults) {
  SlabWarp warp = slab_warp(spread != 0 ? global_warp() & 31 : 0);
  uint32_t mine = SLAB_NONE;
  for (uint32_t round = 0; round < rounds; round++) {
    uint32_t lane = uint32_t(slab_mix((uint64_t(global_warp()) << 32 | round) + seed)) % most;
    uint32_t address = __shfl_sync(FULL_MASK, mine, lane);
    if (address != SLAB_NONE) {
      slab_stress_leave(pool, address, owners, faults);
      address = SLAB_NONE;
    } else {
      address = slab_stress_enter(pool, warp, owners, faults);
    }
    if (lane_id() == lane) mine = address;
  }
  held[global_thread()] = mine;
}

// The place of each slab's word and memory, for the host to compare.
extern "C" __global__ void slab_stress_places(SlabPool pool, const uint32_t* in, uint64_t* words, uint64_t* slabs,
                                              uint32_t n) {
  uint32_t i = global_thread();
  if (i >= n) return;
  words[i] = reinterpret_cast<uint64_t>(slab_word(pool, in[i]));
  slabs[i] = reinterpret_cast<uint64_t>(slab_pointer(pool, in[i]));
}
