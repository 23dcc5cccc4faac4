// Where the tags of a page are: the first three kernels of parquet_snappy.cu, in which windows are independent of each
// other.
#pragma once

#include "chain.cuh"
#include "scan.cuh"
#include "snappy_page.cuh"

constexpr uint32_t SNAPPY_LINK_THREADS = 1024;
constexpr uint32_t SNAPPY_SEGMENTS = SNAPPY_WINDOW / SNAPPY_LINK_THREADS;
constexpr uint32_t SNAPPY_ROUNDS = 4;  // of chain.cuh, for elements of 2 bytes and more

// SnappyVector is what is loaded at once: 16 bytes of anything.
struct __attribute__((may_alias, aligned(16))) SnappyVector {
  uint64_t words[2];
};

// SnappyTags is the shared memory of a block that looks at windows.
struct SnappyTags {
  alignas(16) uint8_t bytes[SNAPPY_WINDOW + 32];  // begins up to 15 bytes late; a tag at the end is read as if whole
  uint16_t exits[SNAPPY_WINDOW];
  uint16_t tags[SNAPPY_ENTRIES];
  uint32_t sums[SCAN_SCRATCH];
};

// SnappyNext is the chain of a window: where an element ends that begins at p. The last one ends it with an exit.
struct SnappyNext {
  const uint8_t* bytes;
  uint32_t limit;  // bytes of the window

  __device__ __forceinline__ uint32_t operator()(uint32_t p) const {
    if (p >= limit) return SNAPPY_LAST;  // nobody comes here
    const uint32_t end = p + snappy_bytes(bytes + p);
    const bool exact = end < limit || (end >= SNAPPY_WINDOW && end < SNAPPY_LAST);
    return exact ? end : SNAPPY_LAST + p;
  }
};

// snappy_load brings a window into shared memory, by the aligned vectors that it lies in, with the 4 bytes behind it
// that the last tag may need. The barrier is for them.
static __device__ __forceinline__ SnappyNext snappy_load(SnappyTags& shared, const SnappyPage& page, uint32_t window) {
  const uint8_t* from = page.elements + window * SNAPPY_WINDOW;
  const uint32_t left = page.n - window * SNAPPY_WINDOW, skew = reinterpret_cast<uintptr_t>(from) % sizeof(SnappyVector);
  const uint32_t n = left < SNAPPY_WINDOW + 4 ? left : SNAPPY_WINDOW + 4;
  const SnappyVector* source = reinterpret_cast<const SnappyVector*>(from - skew);
  SnappyVector* target = reinterpret_cast<SnappyVector*>(shared.bytes);
  for (uint32_t i = threadIdx.x; i * sizeof(SnappyVector) < skew + n; i += blockDim.x) target[i] = source[i];
  __syncthreads();
  return {shared.bytes + skew, left < SNAPPY_WINDOW ? left : SNAPPY_WINDOW};
}

// snappy_link finds the exits of a window. Those of the first warp's positions, where nearly all chains come in, are
// the window's; those of others may be positions of the window again, from which it goes on. The barriers: behind the
// window, behind the exits of warps, and before the memory is used again.
static __device__ __forceinline__ void snappy_link(SnappyTags& shared, const SnappyPage& page, uint32_t window) {
  const SnappyNext next = snappy_load(shared, page, window);
  ChainLinks<SNAPPY_SEGMENTS> links;
  chain_link<SNAPPY_SEGMENTS, SNAPPY_ROUNDS, false>(next, links);
  chain_exits(links, shared.exits);
  __syncthreads();
  uint16_t* table = page.table + window * SNAPPY_ENTRIES;
  const uint32_t entries = snappy_entries(page, window);
  for (uint32_t p = threadIdx.x; p < entries; p += blockDim.x) {
    uint32_t exit = shared.exits[p];
    while (p < SNAPPY_SEGMENTS * warpSize && exit < SNAPPY_WINDOW) exit = shared.exits[exit];
    table[p] = static_cast<uint16_t>(exit);
  }
  __syncthreads();
}

// snappy_walk finds the entries of all windows: one thread goes from exit to exit, and from tag to tag where a window
// was come into too far behind. false: the last element does not end where the page does.
static __device__ __forceinline__ bool snappy_walk(const SnappyPage& page) {
  uint32_t at = 0, window = 0;
  while (at < page.n) {
    const uint32_t in = at / SNAPPY_WINDOW, begin = in * SNAPPY_WINDOW, end = begin + SNAPPY_WINDOW;
    const uint32_t entries = snappy_entries(page, in);
    while (window < in) page.windows[window++].entry = SNAPPY_NONE;
    page.windows[window++].entry = at - begin;
    while (at < end && at < page.n) {
      if (at - begin < entries) {
        const uint32_t exit = page.table[in * SNAPPY_ENTRIES + at - begin];
        at = begin + exit % SNAPPY_LAST;
        if (exit < SNAPPY_LAST) continue;
      }
      const uint32_t bytes = snappy_bytes(page.elements + at);
      if (bytes > page.n - at) return false;
      at += bytes;
    }
  }
  while (window < page.window_count) page.windows[window++].entry = SNAPPY_NONE;
  return at == page.n;
}

// snappy_find finds the tags of a window, and how much they come to. The elements end where the page does
// (snappy_walk): each is in it as a whole. The barriers: those of snappy_load, chain_find and block_sum_before, and one
// before the memory is used again.
static __device__ __forceinline__ void snappy_find(SnappyTags& shared, const SnappyPage& page, uint32_t window) {
  SnappyWindow& result = page.windows[window];
  const uint32_t entry = result.entry;
  uint32_t count = 0, bytes = 0;
  if (entry != SNAPPY_NONE) {
    const SnappyNext next = snappy_load(shared, page, window);
    count = chain_find<SNAPPY_SEGMENTS, SNAPPY_ROUNDS>(next, entry, shared.exits, shared.sums, shared.tags);
    uint16_t* table = page.table + window * SNAPPY_ENTRIES;
    uint32_t own = 0;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      table[i] = shared.tags[i];
      own += snappy_element(next.bytes + shared.tags[i]).length;
    }
    block_sum_before(own, shared.sums, bytes);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  result.tags = count;
  result.bytes = bytes;
}
