// RW-BM, CoRW and CRW of paper 000 with the lock map, as printed (Alg. 2, 3, 5), for
// measurement beside those without it: lock a word, read it, set a bit, unlock.
//
// A locked word is passed over, never waited for. What the paper leaves out: the lock
// is released on every way out; a bit is set by Or, as pages are given back without
// the lock; with CoRW only the bits that some lane fetches are set, and no lane goes
// on before they are. All who take pages of one pool must go by its locks, so there is
// no sweep: PAGE_NONE is an inference.
#pragma once

#include "../device.cuh"

#include "pages_walk.cuh"

// page_lock tries to lock word i; locks has a bit for each word.
__device__ __forceinline__ bool page_lock(uint32_t* locks, uint32_t i) {
  uint32_t bit = 1u << (i % 32);
  bool got = (atomicOr(locks + i / 32, bit) & bit) == 0;
  if (got) __threadfence();
  return got;
}

__device__ __forceinline__ void page_unlock(uint32_t* locks, uint32_t i) {
  __threadfence();
  atomicAnd(locks + i / 32, ~(1u << (i % 32)));
}

// page_visit_locked is one step: the first free page of word i, if it is not locked.
__device__ __forceinline__ uint32_t page_visit_locked(const PagePool& pool, uint32_t* locks, PageWalk& walk,
                                                      uint32_t i) {
  walk.steps++;
  if (!page_lock(locks, i)) return PAGE_NONE;
  uint32_t page = PAGE_NONE;
  uint32_t free = PageBits::free(pool, i);
  if (free != 0) {
    page = i * 32 + page_first(free);
    PageBits::take(pool, i, page_lowest(free), free);
  }
  page_unlock(locks, i);
  return page;
}

__device__ __forceinline__ uint32_t page_get_alone_locked(const PagePool& pool, uint32_t* locks, PageWalk& walk) {
  uint32_t words = PageBits::words(pool);
  uint32_t page = PAGE_NONE;
  for (uint32_t step = 0; step < pool.step_limit && page == PAGE_NONE; step++) {
    page = page_visit_locked(pool, locks, walk, page_below(page_random(walk), words));
  }
  return page;
}

__device__ __forceinline__ uint32_t page_get_next_locked(const PagePool& pool, uint32_t* locks, PageWalk& walk) {
  uint32_t page = PAGE_NONE;
  if (walk.last != PAGE_NONE) {
    uint32_t next = walk.last + 1 == pool.count ? 0 : walk.last + 1;
    page = page_visit_locked(pool, locks, walk, next / 32);
  }
  if (page == PAGE_NONE) page = page_get_alone_locked(pool, locks, walk);
  walk.last = page;
  return page;
}

// page_share_locked is lines 9 to 17 of Alg. 3: rounds in which each lane that still
// has a free page gives one to a lane in need. Returns the pages of this lane's word
// that were given away.
__device__ __forceinline__ uint32_t page_share_locked(uint32_t mask, uint32_t i, uint32_t free, uint32_t& need,
                                                      uint32_t& page) {
  uint32_t taken = 0;
  uint32_t has = __ballot_sync(mask, free != 0);
  while (need != 0 && has != 0) {
    uint32_t first = page_lowest(free);
    bool asks = (need >> lane_id()) & 1;
    bool served = asks && page_rank(need) < page_bits(has);
    uint32_t from = served ? page_kth(has, page_rank(need) + 1) : lane_id();
    uint32_t offered = __shfl_sync(mask, i * 32 + page_first(first), from);
    if (served) page = offered;
    if (free != 0 && page_rank(has) < page_bits(need)) {
      free ^= first;
      taken |= first;
    }
    need = __ballot_sync(mask, asks && !served);
    has = __ballot_sync(mask, free != 0);
  }
  return taken;
}

__device__ __forceinline__ uint32_t page_get_together_locked(const PagePool& pool, uint32_t* locks, PageWalk& walk,
                                                             uint32_t mask, bool want) {
  uint32_t words = PageBits::words(pool);
  uint32_t page = PAGE_NONE;
  uint32_t need = __ballot_sync(mask, want);
  for (uint32_t idle = 0; need != 0 && idle < pool.step_limit;) {
    uint32_t i = page_below(page_random(walk), words);
    bool locked = page_lock(locks, i);
    uint32_t free = locked ? PageBits::free(pool, i) : 0;
    uint32_t needed = need;
    uint32_t taken = page_share_locked(mask, i, free, need, page);
    if (taken != 0) PageBits::take(pool, i, taken, free);
    __syncwarp(mask);  // else a lane might give its page back before the bit is set: the page would be lost
    if (locked) page_unlock(locks, i);
    walk.steps++;
    idle = need == needed ? idle + page_bits(mask) : 0;
  }
  return page;
}
