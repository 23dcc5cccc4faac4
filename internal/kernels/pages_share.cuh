// The lanes of a warp look for pages together: CoRW of paper 000, and the sweep over the
// whole pool that ends every search.
//
// Who takes part: the lanes of `mask`, as in pages_look.cuh. The barriers are __syncwarp.
//
// Where this differs from the paper: the first look is at a line, and where few lanes see
// a page there at a stretch, 8 times as many pages for little more time, as the atomics
// cost the most; the warps of a launch begin far from each other (page_walk).
#pragma once

#include "pages.cuh"
#include "pages_look.cuh"

// page_start is the word that a look at a place begins with: a line's first, if it is of
// a whole warp, else any: fewer lanes would see nothing but the beginnings of lines.
template <typename Store>
__device__ __forceinline__ uint32_t page_start(const PagePool& pool, uint32_t mask, uint32_t place) {
  uint32_t line = page_below(place, page_all_words<Store>(pool) / PAGE_LINE) * PAGE_LINE;
  return mask == FULL_MASK ? line : line + place % PAGE_LINE;
}

// page_search looks at stretches for the lanes of `need`, from the one at word `start` on:
// at random, until so many words in a row had no page as step_limit says, and then,
// if the pool is to be swept, at every word once. With swept true it begins with that.
// Sets `page` of each lane that gets one; returns the lanes still in need.
template <typename Store>
__device__ __forceinline__ uint32_t page_search(const PagePool& pool, PageWalk& walk, uint32_t mask, uint32_t need,
                                                uint32_t start, bool swept, uint32_t& page) {
  uint32_t end = page_all_words<Store>(pool);
  uint32_t lanes = page_bits(mask);
  uint32_t idle = 0;  // words in a row without a page, or words swept
  uint32_t random = start;
  while (need != 0) {
    uint32_t needed = need;
    need = page_look<Store, 8>(pool, mask, need, start, random, page);
    walk.steps++;
    if (need == 0) break;
    idle = swept || need == needed ? idle + lanes * 8 : 0;
    if (!swept && idle >= pool.step_limit) {
      if (pool.sweep == 0) break;
      swept = true;
      idle = 0;
    } else if (swept && idle >= end) {
      break;
    }
    if (swept) {
      start += lanes * 8;
      if (start >= end) start -= end;
    } else {
      random = page_random(walk);
      start = page_start<Store>(pool, mask, __shfl_sync(mask, random, __ffs(mask) - 1)) & ~3u;
    }
  }
  return need;
}

// page_sweep looks at every word of the pool once, from a random one on, and returns a
// page for each lane of mask, as long as there are any. PAGE_NONE: each page was in use
// when it was looked at. If meanwhile no thread gives pages back, this means that none
// is left.
template <typename Store>
__device__ __forceinline__ uint32_t page_sweep(const PagePool& pool, PageWalk& walk, uint32_t mask) {
  uint32_t place = __shfl_sync(mask, page_random(walk), __ffs(mask) - 1);
  uint32_t page = PAGE_NONE;
  page_search<Store>(pool, walk, mask, mask, page_start<Store>(pool, mask, place) & ~3u, true, page);
  __syncwarp(mask);  // PAGE-ORDER
  return page;
}

// page_get_together returns a free page to each lane of mask that wants one, as long
// as there are any, else PAGE_NONE. All these lanes make the same steps: first they look
// at a line, then at the stretch that begins with it, then at others.
template <typename Store>
__device__ __forceinline__ uint32_t page_get_together(const PagePool& pool, PageWalk& walk, uint32_t mask, bool want) {
  uint32_t need = __ballot_sync(mask, want);
  uint32_t page = PAGE_NONE;
  if (need == 0) return page;
  uint32_t place = __shfl_sync(mask, walk.place, __ffs(mask) - 1);
  uint32_t start = page_start<Store>(pool, mask, place);
  need = page_look<Store, 1>(pool, mask, need, start, place, page);
  walk.steps++;
  if (need != 0) need = page_search<Store>(pool, walk, mask, need, start & ~3u, false, page);
  walk.place = page_random(walk);
  __syncwarp(mask);  // PAGE-ORDER
  return page;
}
