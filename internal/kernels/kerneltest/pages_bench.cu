// The page pool for measurement and for tests. Threads a block: any number, with PageAsk
// a multiple of 32; enough warps for n requests. No shared memory, no barriers beside
// those of page_malloc.
//
//   pages_bench_fill          brings a pool to a share of free pages
//   pages_bench_get_METHOD    gets pages as PageAsk says:
//       rw                              a flag a page, each thread alone
//       rwbm                            a bitmap, each thread alone
//       corw                            a bitmap, the warp together
//       crw                             a bitmap, the page after the last one first
//       rwbm_lock, corw_lock, crw_lock  the same with the paper's lock map
//   pages_bench_get_METHOD_counted   the same, with PageCounts
//   pages_bench_burst_METHOD  a page for each thread, of the methods without locks
//   pages_bench_free, _free_flags  give the pages of PageAsk back: bitmap, flags
//   pages_bench_malloc        gets memory by page_malloc as PageMalloc says
//   pages_bench_malloc_free   gives it back
#include "../device.cuh"

#include "pages_malloc.cuh"
#include "pages_bench.cuh"
#include "pages_lock.cuh"
#include "pages_method.cuh"

// A random number of i's own.
__device__ __forceinline__ uint32_t page_draw(uint32_t seed, uint32_t i) { return page_hash(i * 0x9e3779b9u + seed); }

// Word i of the pool: pages are free with probability free/2^32, `run` pages next to each
// other together; free = 2^32-1 means all. Pages past the last are in use.
extern "C" __global__ void pages_bench_fill(PagePool pool, uint32_t free, uint32_t seed, uint32_t run) {
  uint32_t words = pool.word_pages == 1 ? pool.count : PageBits::words(pool);
  for (uint32_t i = global_thread(); i < words; i += global_threads()) {
    uint32_t used = 0;
    for (uint32_t bit = 0; bit < pool.word_pages; bit++) {
      uint64_t page = uint64_t(i) * pool.word_pages + bit;
      bool in_use = page >= pool.count || page_draw(seed, uint32_t(page) / run) > free;
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

// A page for each thread of whole warps, where nothing else costs time.
template <typename Method>
__device__ __forceinline__ void page_burst(const PagePool& pool, uint32_t* out, uint32_t n) {
  uint32_t i = global_thread();
  PageWalk walk = page_walk(pool, i);
  uint32_t page = Method::get(pool, nullptr, walk, FULL_MASK, i < n);
  if (i < n) out[i] = page;
}

// The body of all free kernels.
template <typename Store>
__device__ __forceinline__ void page_give(const PagePool& pool, const PageAsk& ask) {
  uint32_t request = page_request(ask);
  if (request >= ask.n) return;
  for (uint32_t round = 0; round < ask.rounds; round++) {
    uint32_t page = ask.out[uint64_t(round) * ask.n + request];
    if (page != PAGE_NONE) page_free<Store>(pool, page);
  }
}

#define PAGES_BENCH_GET(name, Method)                                                       \
  extern "C" __global__ void pages_bench_get_##name(PagePool pool, PageAsk ask) {           \
    page_ask<Method, false>(pool, ask);                                                     \
  }                                                                                         \
  extern "C" __global__ void pages_bench_get_##name##_counted(PagePool pool, PageAsk ask) { \
    page_ask<Method, true>(pool, ask);                                                      \
  }

// With the bounds a multiprocessor has all its threads: what hides the walkers' waits for memory.
#define PAGES_BENCH_BURST(name, Method)                                               \
  extern "C" __global__ void __launch_bounds__(256, 8)                                \
      pages_bench_burst_##name(PagePool pool, uint32_t* out, uint32_t n) {            \
    page_burst<Method>(pool, out, n);                                                 \
  }

PAGES_BENCH_BURST(rw, PageMethodRw)
PAGES_BENCH_BURST(rwbm, PageMethodRwbm)
PAGES_BENCH_BURST(corw, PageMethodCorw)
PAGES_BENCH_BURST(crw, PageMethodCrw)

PAGES_BENCH_GET(rw, PageMethodRw)
PAGES_BENCH_GET(rwbm, PageMethodRwbm)
PAGES_BENCH_GET(rwbm_lock, PageMethodRwbmLock)
PAGES_BENCH_GET(corw, PageMethodCorw)
PAGES_BENCH_GET(corw_lock, PageMethodCorwLock)
PAGES_BENCH_GET(crw, PageMethodCrw)
PAGES_BENCH_GET(crw_lock, PageMethodCrwLock)

extern "C" __global__ void pages_bench_free(PagePool pool, PageAsk ask) { page_give<PageBits>(pool, ask); }
extern "C" __global__ void pages_bench_free_flags(PagePool pool, PageAsk ask) { page_give<PageFlags>(pool, ask); }

// What thread i asks for.
__device__ __forceinline__ uint32_t page_malloc_bytes(const PageMalloc& ask, uint32_t i) {
  return ask.bytes != 0 ? ask.bytes : 4 + page_draw(12345, i) % 8189;
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
