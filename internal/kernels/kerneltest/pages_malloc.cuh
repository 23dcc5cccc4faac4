// Several pages in a row, and requests of any size: RW_malloc of paper 000 (Alg. 6).
//
// Who takes part: the lanes of `mask` together, as in pages_look.cuh. The lanes look
// at words next to each other, each at the runs of free pages that begin in its word;
// a run may end in the word after, so 1 to 32 pages are found wherever they are.
// Bitmaps only. There are no barriers but __syncwarp.
//
// A run in two words is taken by two atomics, the lower word first. If the second
// fails the first is undone, so for a moment others may see pages in use that nobody
// gets: an answer PAGE_NONE may be wrong by those.
//
// Where this differs from the paper: all lanes that ask for the same number of pages
// are served at once, each by another lane, not one after another; of a run that was
// taken away in part the rest is tried again; who frees a small request gives its
// part back, and the last of a page's parts gives back the page.
#pragma once

#include "../pages.cuh"
#include "../pages_look.cuh"

// The most pages in a row.
constexpr uint32_t PAGE_RUN = 32;

// Small requests are placed at multiples of so many bytes.
constexpr uint32_t PAGE_ALIGN = 16;

// page_run_mask is n set bits from bit `start` on, start + n being 64 at most.
__device__ __forceinline__ uint64_t page_run_mask(uint32_t start, uint32_t n) {
  return ((uint64_t(1) << n) - 1) << start;
}

// page_run_starts is where runs of n free pages begin in the lower word of `free`: bit
// s is set if bits s to s+n-1 all are. In log2(n) rounds: knowing the runs of `have`
// pages, a run of have + more, more at most have, is one here and one `more` later.
__device__ __forceinline__ uint32_t page_run_starts(uint64_t free, uint32_t n) {
  for (uint32_t have = 1; have < n;) {
    uint32_t more = n - have < have ? n - have : have;
    free &= free >> more;
    have += more;
  }
  return uint32_t(free);
}

// page_run_free is the free pages of word i and, above it, of the word after.
__device__ __forceinline__ uint64_t page_run_free(const PagePool& pool, uint32_t i) {
  uint32_t words = PageBits::words(pool);
  uint64_t free = i < words ? PageBits::free(pool, i) : 0;
  if (i + 1 < words) free |= uint64_t(PageBits::free(pool, i + 1)) << 32;
  return free;
}

// page_run_take tries to take the pages of `run` in words i and i + 1: all or none. It
// takes from `free` what it now knows to be in use.
__device__ __forceinline__ bool page_run_take(const PagePool& pool, uint32_t i, uint64_t run, uint64_t& free) {
  uint32_t low = uint32_t(run);
  uint32_t high = uint32_t(run >> 32);
  uint32_t low_free = uint32_t(free);
  uint32_t high_free = uint32_t(free >> 32);
  uint32_t got = PageBits::take(pool, i, low, low_free);
  bool all = got == low;
  if (all && high != 0) {
    uint32_t got_high = PageBits::take(pool, i + 1, high, high_free);
    all = got_high == high;
    if (!all && got_high != 0) PageBits::give(pool, i + 1, got_high);
  }
  if (!all && got != 0) PageBits::give(pool, i, got);
  free = uint64_t(high_free) << 32 | low_free;
  return all;
}

// page_run_share serves the lanes of `need`, which want n pages each, from words i, one
// a lane, that show the pages in `free`. Returns the lanes still in need. In a round
// the k-th lane that sees a run serves the k-th lane of the same n. Each round either
// drops a size that no lane sees a run for, or takes bits from a lane's free.
__device__ __forceinline__ uint32_t page_run_share(const PagePool& pool, uint32_t mask, uint32_t need, uint32_t n,
                                                   uint32_t i, uint64_t free, uint32_t turn, uint32_t& page) {
  for (uint32_t todo = need; todo != 0;) {
    uint32_t size = __shfl_sync(mask, n, __ffs(todo) - 1);
    uint32_t same = __ballot_sync(mask, ((todo >> lane_id()) & 1) && n == size);
    uint32_t starts = page_run_starts(free, size);
    uint32_t givers = __ballot_sync(mask, starts != 0);
    if (givers == 0) {
      todo &= ~same;
      continue;
    }
    bool got = false;
    uint32_t start = 0;
    if (starts != 0 && page_rank(givers) < page_bits(same)) {
      start = page_first(page_pick(starts, size == 1 ? turn : 0));
      got = page_run_take(pool, i, page_run_mask(start, size), free);
    }
    uint32_t winners = __ballot_sync(mask, got);
    uint32_t rank = page_rank(same);
    bool served = ((same >> lane_id()) & 1) && rank < page_bits(winners);
    uint32_t from = served ? page_kth(winners, rank + 1) : lane_id();
    uint32_t first = __shfl_sync(mask, i * PageBits::PAGES + start, from);
    if (served) page = first;
    uint32_t done = __ballot_sync(mask, served);
    todo &= ~done;
    need &= ~done;
  }
  return need;
}

// page_get_run returns the first of n free pages in a row, now the caller's, or
// PAGE_NONE. n is 0 for a lane that wants none, and PAGE_RUN at most. If it finds no
// run in step_limit steps it looks at each word once.
__device__ __forceinline__ uint32_t page_get_run(const PagePool& pool, PageWalk& walk, uint32_t mask, uint32_t n) {
  uint32_t words = PageBits::words(pool);
  uint32_t lanes = page_bits(mask);
  uint32_t leader = __ffs(mask) - 1;
  uint32_t rank = page_rank(mask);
  uint32_t page = PAGE_NONE;
  uint32_t need = __ballot_sync(mask, n > 0 && n <= PAGE_RUN);
  for (uint32_t idle = 0; need != 0 && idle < pool.step_limit;) {
    uint32_t random = page_random(walk);
    uint32_t i = page_below(__shfl_sync(mask, random, leader), words) + rank;
    if (i >= words) i = (i - words) % words;
    uint32_t needed = need;
    need = page_run_share(pool, mask, need, n, i, page_run_free(pool, i), random, page);
    walk.steps++;
    idle = need == needed ? idle + lanes : 0;
  }
  if (pool.sweep == 0) words = 0;
  for (uint32_t i = rank; need != 0 && i - rank < words; i += lanes) {
    need = page_run_share(pool, mask, need, n, i, page_run_free(pool, i), 0, page);
    walk.steps++;
  }
  __syncwarp(mask);  // PAGE-ORDER
  return page;
}

// page_free_run gives back n pages in a row.
__device__ __forceinline__ void page_free_run(const PagePool& pool, uint32_t page, uint32_t n) {
  uint64_t run = page_run_mask(page % PageBits::PAGES, n);
  uint32_t i = page / PageBits::PAGES;
  PageBits::give(pool, i, uint32_t(run));
  if (run >> 32 != 0) PageBits::give(pool, i + 1, uint32_t(run >> 32));
}

// page_small says whether a request shares pages with others: half a page or less.
__device__ __forceinline__ bool page_small(const PagePool& pool, uint64_t bytes) {
  return pool.shares != nullptr && bytes * 2 <= uint64_t(1) << pool.page_shift;
}

// page_parts adds n to the count of parts of each page that `bytes` at `offset` of
// the pool touch, and gives back those whose count is then 0.
__device__ __forceinline__ void page_parts(const PagePool& pool, uint64_t offset, uint64_t bytes, int32_t n) {
  uint32_t last = uint32_t((offset + bytes - 1) >> pool.page_shift);
  if (n < 0) __threadfence();  // PAGE-ORDER: before a part is counted out, and below, before all is free
  for (uint32_t page = uint32_t(offset >> pool.page_shift); page <= last; page++) {
    uint32_t parts = atomicAdd(pool.shares + page, uint32_t(n)) + n;
    if (parts != 0) continue;
    __threadfence();
    page_free<PageBits>(pool, page);
  }
}

// page_sum_before is the sum of n over the lanes of mask below this one, for any mask;
// n is below 1 << bits, bits the same in all lanes. One ballot a bit.
__device__ __forceinline__ uint32_t page_sum_before(uint32_t mask, uint32_t n, uint32_t bits) {
  uint32_t sum = 0;
  for (uint32_t b = 0; b < bits; b++) {
    sum += page_rank(__ballot_sync(mask, (n >> b) & 1)) << b;
  }
  return sum;
}

// page_malloc_small places the requests of the lanes with `small` side by side in one
// run of pages. Returns the offset of this lane's in the pool, or ~0.
__device__ __forceinline__ uint64_t page_malloc_small(const PagePool& pool, PageWalk& walk, uint32_t mask, bool small,
                                                      uint32_t bytes) {
  uint32_t units = small ? (bytes + PAGE_ALIGN - 1) / PAGE_ALIGN : 0;
  uint32_t before = page_sum_before(mask, units, pool.page_shift - 4);  // half a page is 1 << (page_shift - 5) units
  uint32_t last = 31 - __clz(mask);
  uint64_t total = uint64_t(__shfl_sync(mask, before + units, last)) * PAGE_ALIGN;
  uint32_t pages = uint32_t((total + (uint64_t(1) << pool.page_shift) - 1) >> pool.page_shift);
  uint32_t page = page_get_run(pool, walk, mask, lane_id() == last ? pages : 0);
  page = __shfl_sync(mask, page, last);
  if (page == PAGE_NONE || !small) return ~uint64_t(0);
  uint64_t offset = (uint64_t(page) << pool.page_shift) + uint64_t(before) * PAGE_ALIGN;
  page_parts(pool, offset, bytes, 1);
  return offset;
}

// page_malloc returns `bytes` of memory, or null if there are no pages for it, or if
// it asks for 0 bytes or for more than PAGE_RUN pages. Small requests of the lanes are
// placed together; if there is no run for all of them, each tries for a page alone.
// Free with page_free_bytes, with the same bytes.
__device__ __forceinline__ uint8_t* page_malloc(const PagePool& pool, PageWalk& walk, uint32_t mask, uint64_t bytes) {
  bool small = bytes > 0 && page_small(pool, bytes);
  uint64_t offset = ~uint64_t(0);
  if (__any_sync(mask, small)) {
    offset = page_malloc_small(pool, walk, mask, small, uint32_t(bytes));
    __syncwarp(mask);  // all parts are counted before one may be given back
  }
  bool alone = bytes > 0 && offset == ~uint64_t(0);
  if (__any_sync(mask, alone)) {
    uint64_t pages = (bytes + (uint64_t(1) << pool.page_shift) - 1) >> pool.page_shift;
    if (pages > PAGE_RUN) alone = false;
    uint32_t page = page_get_run(pool, walk, mask, alone ? uint32_t(pages) : 0);
    if (page != PAGE_NONE) {
      offset = uint64_t(page) << pool.page_shift;
      if (small) page_parts(pool, offset, bytes, 1);
    }
  }
  return offset == ~uint64_t(0) ? nullptr : pool.pages + offset;
}

// page_free_bytes gives back what page_malloc returned for so many bytes.
__device__ __forceinline__ void page_free_bytes(const PagePool& pool, uint8_t* memory, uint64_t bytes) {
  uint64_t offset = uint64_t(memory - pool.pages);
  if (page_small(pool, bytes)) {
    page_parts(pool, offset, bytes, -1);
    return;
  }
  uint64_t pages = (bytes + (uint64_t(1) << pool.page_shift) - 1) >> pool.page_shift;
  page_free_run(pool, uint32_t(offset >> pool.page_shift), uint32_t(pages));
}
