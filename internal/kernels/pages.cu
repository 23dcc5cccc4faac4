// What the host asks of a PagePool. Kernels that use pages include pages_share.cuh.
#include "device.cuh"

#include "pages.cuh"

// What word i is when all pages are free: bits past the last page are set (PAGE-TAIL).
__device__ __forceinline__ uint32_t page_empty_word(const PagePool& pool, uint32_t i) {
  if (pool.word_pages == 1) return i >= pool.count;
  uint64_t first = uint64_t(i) * 32;
  if (first >= pool.count) return ~0u;
  uint32_t pages = pool.count - uint32_t(first);
  return pages >= 32 ? 0 : ~0u << pages;
}

// The words of a pool of either kind.
__device__ __forceinline__ uint32_t page_words(const PagePool& pool) {
  return pool.word_pages == 1 ? page_all_words<PageFlags>(pool) : page_all_words<PageBits>(pool);
}

// Makes all pages free. Any number of threads, each of which writes every so many'th
// word; no barriers.
extern "C" __global__ void pages_reset(PagePool pool) {
  uint32_t words = page_words(pool);
  for (uint32_t i = global_thread(); i < words; i += global_threads()) pool.words[i] = page_empty_word(pool, i);
  if (pool.shares == nullptr) return;
  for (uint32_t p = global_thread(); p < pool.count; p += global_threads()) pool.shares[p] = 0;
}

// Adds the number of pages in use to *used, which the caller has set to 0. Any number
// of threads, each of which reads every so many'th word; no barriers. Exact when no
// other kernel takes or gives pages.
extern "C" __global__ void pages_used(PagePool pool, uint64_t* used) {
  uint32_t words = page_words(pool);
  uint32_t count = 0;
  for (uint32_t i = global_thread(); i < words; i += global_threads()) {
    count += __popc(pool.words[i] & ~page_empty_word(pool, i));
  }
  if (count > 0) atomicAdd(used, uint64_t(count));
}
