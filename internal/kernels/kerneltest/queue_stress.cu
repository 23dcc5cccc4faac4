// The queue of free pages under test. Threads a block: a multiple of 32.
#include "../device.cuh"

#include "queue.cuh"
#include "slab_stress.cuh"

// A number drawn from thread, round and seed (finisher of murmur3).
__device__ __forceinline__ uint32_t queue_stress_draw(uint32_t round, uint32_t seed) {
  uint32_t x = global_thread() * 0x9e3779b1 + round * 0x85ebca6b + seed;
  x = (x ^ x >> 16) * 0x85ebca6b;
  x = (x ^ x >> 13) * 0xc2b2ae35;
  return x ^ x >> 16;
}

// One round of a thread that holds page, or QUEUE_NONE: it gets one or gives it
// back, alone or with its warp, all lanes of which take part if acts.
__device__ __forceinline__ uint32_t queue_stress_round(const PageQueue& queue, uint32_t page, bool acts, bool warp,
                                                       uint32_t* owners, OwnerFaults* faults) {
  bool gives = acts && page != QUEUE_NONE, gets = acts && page == QUEUE_NONE;
  uint32_t giving = __ballot_sync(FULL_MASK, gives), getting = __ballot_sync(FULL_MASK, gets);
  uint32_t owner = global_thread() + 1, steps = 0;
  if (gives) {
    owner_leave(owners, page, owner, faults);
    __syncwarp(giving);
    if (warp) {
      queue_free_warp(queue, giving, page);
    } else {
      queue_free(queue, page);
    }
    page = QUEUE_NONE;
  }
  if (gets) {
    page = warp ? queue_get_warp(queue, getting, steps) : queue_get<QUEUE_ADD>(queue, steps);
    if (page == QUEUE_NONE) {
      atomicAdd(&faults->refused, 1u);
    } else {
      owner_enter(owners, page, owner, faults);
    }
  }
  __syncwarp(FULL_MASK);
  return page;
}

// Each thread holds one page or none, and in half of the rounds gets one or
// gives it back. What it holds in the end goes to held, a place for each thread.
// owners has a word for each page, all 0.
extern "C" __global__ void queue_stress_churn(PageQueue queue, uint32_t rounds, uint32_t warp, uint32_t seed,
                                              uint32_t* owners, uint32_t* held, OwnerFaults* faults) {
  uint32_t page = QUEUE_NONE;
  for (uint32_t round = 0; round < rounds; round++) {
    bool acts = (queue_stress_draw(round, seed) & 1) != 0;
    page = queue_stress_round(queue, page, acts, warp != 0, owners, faults);
  }
  held[global_thread()] = page;
}
