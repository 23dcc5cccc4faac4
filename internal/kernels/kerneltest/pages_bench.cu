// The page pool for measurement and for tests. Threads a block: any number, with PageAsk
// a multiple of 32; enough warps for n requests. No shared memory, no barriers beside
// those of page_malloc.
//
//   pages_bench_fill          brings a pool to a share of free pages
//   pages_bench_get_METHOD    gets pages as PageAsk says:
//       rw                      a flag a page, each thread alone
//       rwbm, rwbm_take         a bitmap, each thread alone: reads first, or takes blindly
//       rwbm_64                 the same in words of 64 bits, reads first
//       corw, corw_everywhere   the warp together: in one line, or at random words
//       corw_64                 in one line, words of 64 bits
//       crw, crw_read           the page after the last one first: taken blindly, or read first
//       rwbm_lock, corw_lock, crw_lock     with the paper's lock map
//       rwbm_loose, corw_loose, crw_loose  without the fence of PAGE-ORDER
//   pages_bench_get_METHOD_counted   the same (but for loose), with PageCounts
//   pages_bench_free, _free_flags, _free_loose  give the pages of PageAsk back: bitmap,
//                             flags, bitmap without the fence
//   pages_bench_malloc        gets memory by page_malloc as PageMalloc says
//   pages_bench_malloc_free   gives it back
#include "../device.cuh"

#include "../pages_malloc.cuh"
#include "pages_bench.cuh"
#include "pages_lock.cuh"
#include "pages_method.cuh"

// A hash of seed and i, all bits good.
__device__ __forceinline__ uint32_t page_hash(uint32_t seed, uint32_t i) {
  PagePool pool = {};
  pool.seed = seed;
  return page_walk(pool, i).random;
}

// Word i of the pool: pages are free with probability free/2^32, `run` pages next to each
// other together; free = 2^32-1 means all. Pages past the last are in use.
extern "C" __global__ void pages_bench_fill(PagePool pool, uint32_t free, uint32_t seed, uint32_t run) {
  uint32_t words = pool.word_pages == 1 ? pool.count : PageWords::words(pool);
  for (uint32_t i = global_thread(); i < words; i += global_threads()) {
    uint32_t used = 0;
    for (uint32_t bit = 0; bit < pool.word_pages; bit++) {
      uint64_t page = uint64_t(i) * pool.word_pages + bit;
      bool in_use = page >= pool.count || page_hash(seed, uint32_t(page) / run) > free;
      used |= uint32_t(in_use) << bit;
    }
    pool.words[i] = used;
  }
}

// Adds the steps of the requests of the lanes of mask, this lane's being `steps`.
__device__ __forceinline__ void page_count(const PageAsk& ask, uint32_t mask, uint32_t steps, uint32_t page) {
  uint32_t most = 0;
  uint32_t sum = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    uint32_t its = __shfl_sync(mask, steps, __ffs(left) - 1);
    if (its > most) most = its;
    sum += its;
  }
  uint32_t refused = page_bits(__ballot_sync(mask, page == PAGE_NONE));
  if (page_rank(mask) != 0) return;
  atomicAdd(&ask.counts->requests, uint64_t(page_bits(mask)));
  if (refused != 0) atomicAdd(&ask.counts->refused, uint64_t(refused));
  atomicAdd(&ask.counts->steps, uint64_t(sum));
  atomicMax(&ask.counts->most, uint64_t(most));
  atomicAdd(&ask.counts->warps, uint64_t(1));
  atomicAdd(&ask.counts->warp_steps, uint64_t(most));
}

// The body of all get kernels.
template <typename Method, bool COUNTED>
__device__ __forceinline__ void page_ask(const PagePool& pool, const PageAsk& ask) {
  uint32_t request = page_request(ask);
  bool asks = request < ask.n;
  uint32_t mask = __ballot_sync(FULL_MASK, asks || ask.help != 0);
  uint32_t askers = __ballot_sync(FULL_MASK, asks);
  if (askers == 0 || ((mask >> lane_id()) & 1) == 0) return;
  PageWalk walk = page_walk(pool, global_thread());
  for (uint32_t round = 0; round < ask.rounds; round++) {
    walk.steps = 0;
    uint32_t page = Method::get(pool, ask.locks, walk, mask, asks);
    if (!asks) continue;
    ask.out[uint64_t(round) * ask.n + request] = page;
    if (COUNTED) page_count(ask, askers, walk.steps, page);
  }
}

// The body of all free kernels.
template <typename Store, bool FENCE>
__device__ __forceinline__ void page_give(const PagePool& pool, const PageAsk& ask) {
  uint32_t request = page_request(ask);
  if (request >= ask.n) return;
  for (uint32_t round = 0; round < ask.rounds; round++) {
    uint32_t page = ask.out[uint64_t(round) * ask.n + request];
    if (page != PAGE_NONE) page_free<Store, FENCE>(pool, page);
  }
}

#define PAGES_BENCH_GET(name, Method) \
  extern "C" __global__ void pages_bench_get_##name(PagePool pool, PageAsk ask) { page_ask<Method, false>(pool, ask); }
#define PAGES_BENCH_GET_COUNTED(name, Method)                                               \
  PAGES_BENCH_GET(name, Method)                                                             \
  extern "C" __global__ void pages_bench_get_##name##_counted(PagePool pool, PageAsk ask) { \
    page_ask<Method, true>(pool, ask);                                                      \
  }

PAGES_BENCH_GET_COUNTED(rw, PageMethodRw)
PAGES_BENCH_GET_COUNTED(rwbm, PageMethodRwbm)
PAGES_BENCH_GET_COUNTED(rwbm_take, PageMethodRwbmTake)
PAGES_BENCH_GET_COUNTED(rwbm_64, PageMethodRwbm64)
PAGES_BENCH_GET_COUNTED(rwbm_lock, PageMethodRwbmLock)
PAGES_BENCH_GET(rwbm_loose, PageMethodRwbmLoose)
PAGES_BENCH_GET_COUNTED(corw, PageMethodCorw)
PAGES_BENCH_GET_COUNTED(corw_everywhere, PageMethodCorwEverywhere)
PAGES_BENCH_GET_COUNTED(corw_64, PageMethodCorw64)
PAGES_BENCH_GET_COUNTED(corw_lock, PageMethodCorwLock)
PAGES_BENCH_GET(corw_loose, PageMethodCorwLoose)
PAGES_BENCH_GET_COUNTED(crw, PageMethodCrw)
PAGES_BENCH_GET_COUNTED(crw_read, PageMethodCrwRead)
PAGES_BENCH_GET_COUNTED(crw_lock, PageMethodCrwLock)
PAGES_BENCH_GET(crw_loose, PageMethodCrwLoose)

extern "C" __global__ void pages_bench_free(PagePool pool, PageAsk ask) {
  page_give<PageWords, true>(pool, ask);
}
extern "C" __global__ void pages_bench_free_flags(PagePool pool, PageAsk ask) {
  page_give<PageFlags, true>(pool, ask);
}
extern "C" __global__ void pages_bench_free_loose(PagePool pool, PageAsk ask) {
  page_give<PageWords, false>(pool, ask);
}

// What thread i asks for.
__device__ __forceinline__ uint32_t page_malloc_bytes(const PageMalloc& ask, uint32_t i) {
  return ask.bytes != 0 ? ask.bytes : 4 + page_hash(12345, i) % 8189;
}

extern "C" __global__ void pages_bench_malloc(PagePool pool, PageMalloc ask) {
  uint32_t i = global_thread();
  uint32_t mask = __ballot_sync(warp_lanes(), i < ask.n);
  if (i >= ask.n) return;
  uint32_t bytes = page_malloc_bytes(ask, i);
  PageWalk walk = page_walk(pool, i);
  uint8_t* memory = page_malloc(pool, walk, mask, bytes);
  ask.out[i] = memory == nullptr ? ~uint64_t(0) : uint64_t(memory - pool.pages);
  if (ask.at_once != 0 && memory != nullptr) page_free_bytes(pool, memory, bytes);
}

extern "C" __global__ void pages_bench_malloc_free(PagePool pool, PageMalloc ask) {
  uint32_t i = global_thread();
  if (i >= ask.n || ask.out[i] == ~uint64_t(0)) return;
  page_free_bytes(pool, pool.pages + ask.out[i], page_malloc_bytes(ask, i));
}
