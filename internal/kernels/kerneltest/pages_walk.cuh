// A thread alone looks for a page: RW, RW-BM and CRW of paper 000 (Alg. 1, 2, 5).
//
// Who takes part: each thread for itself, in any shape of warp. Threads that happen
// to be out of steps together sweep together (pages_share.cuh). No barriers.
//
// Where this differs from the paper: there is no lock map (PageBits::take); a walker
// that was too late for one page of a word tries the word's other free pages before
// it walks on, without counting a step; which free page of a word it tries first is
// random.
#pragma once

#include "../pages.cuh"
#include "../pages_share.cuh"

// page_try takes one of the pages that `free` shows in word i, by preference at or
// above bit `from`. Ends as each try that fails takes a bit from free.
template <typename Store>
__device__ __forceinline__ uint32_t page_try(const PagePool& pool, uint32_t i, uint32_t free, uint32_t from) {
  while (free != 0) {
    uint32_t got = Store::take(pool, i, page_pick(free, from), free);
    if (got != 0) return i * Store::PAGES + page_first(got);
  }
  return PAGE_NONE;
}

// page_visit is one step: looks for a page in word i, first at bit `from`.
template <typename Store>
__device__ __forceinline__ uint32_t page_visit(const PagePool& pool, PageWalk& walk, uint32_t i, uint32_t from) {
  walk.steps++;
  return page_try<Store>(pool, i, Store::free(pool, i), from);
}

// page_get_alone returns a free page of the pool, now the caller's, or PAGE_NONE. With
// PageFlags it is RW, with PageBits RW-BM. Threads of one warp walk on while others
// have their page already; page_get_together does not leave those idle.
template <typename Store>
__device__ __forceinline__ uint32_t page_get_alone(const PagePool& pool, PageWalk& walk) {
  uint32_t words = Store::words(pool);
  uint32_t page = PAGE_NONE;
  for (uint32_t step = 0; step < pool.step_limit && page == PAGE_NONE; step++) {
    uint32_t random = page_random(walk);
    page = page_visit<Store>(pool, walk, page_below(random, words), random);
  }
  if (page == PAGE_NONE && pool.sweep != 0) page = page_sweep<Store>(pool, walk, __activemask());
  return page;
}

// page_get_next is CRW: it looks at the page after the last one of this thread first,
// and at that one's word, before it walks. A thread that asks again and again so
// takes runs of free pages one after another.
template <typename Store>
__device__ __forceinline__ uint32_t page_get_next(const PagePool& pool, PageWalk& walk) {
  uint32_t page = PAGE_NONE;
  if (walk.last != PAGE_NONE) {
    uint32_t next = walk.last + 1 == pool.count ? 0 : walk.last + 1;
    page = page_visit<Store>(pool, walk, next / Store::PAGES, next % Store::PAGES);
  }
  if (page == PAGE_NONE) page = page_get_alone<Store>(pool, walk);
  walk.last = page;
  return page;
}
