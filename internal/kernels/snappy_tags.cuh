// Where the tags of a page are: the first three kernels of parquet_snappy.cu, in which windows are
// independent of each other.
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

// SnappyFront is what a page begins with: `count` literals of as many bytes each, tag included.
// Numbers come to little else: no four bytes of them are as before, and encoders that take 64 KiB
// at once leave a literal of each.
struct SnappyFront {
  uint32_t bytes, count;

  // covers tells whether no tag is in a window since it lies within one of the literals.
  __device__ __forceinline__ bool covers(uint32_t window) const {
    if (count == 0) return false;
    const uint32_t begin = window * SNAPPY_WINDOW, literal = begin / bytes, from = begin % bytes;
    return literal < count && from != 0 && from + SNAPPY_WINDOW <= bytes;
  }
};

// snappy_front finds the front of a page, of as many literals as a warp has lanes: each looks where
// one is if all before it are as the first. Shorter ones than two windows do not count. All lanes
// of a warp call.
static __device__ __forceinline__ SnappyFront snappy_front(const SnappyPage& page) {
  const uint32_t bytes = snappy_bytes(page.elements);
  if (bytes < 2 * SNAPPY_WINDOW) return {0, 0};
  const uint64_t at = uint64_t(lane_id()) * bytes;
  const uint32_t others = ~__ballot_sync(FULL_MASK, at < page.n && snappy_bytes(page.elements + at) == bytes);
  return {bytes, others == 0 ? warpSize : uint32_t(__ffs(others)) - 1};
}

// SnappyTags is the shared memory of a block that looks at windows.
struct SnappyTags {
  alignas(16) uint8_t bytes[SNAPPY_WINDOW + 32];  // begins up to 15 bytes late; a tag at the end is read as if whole
  uint16_t exits[SNAPPY_WINDOW];
  uint16_t tags[SNAPPY_ENTRIES];
  uint32_t sums[SCAN_SCRATCH];
  SnappyFront front;
};

// SnappyNext is the chain of a window: where an element ends that begins at p. The last one ends it
// with an exit.
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

// snappy_load brings a window into shared memory, by the aligned vectors that it lies in, with the
// 4 bytes behind it that the last tag may need. The barrier is for them.
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

// snappy_link finds the exits of a window. Those of the first warp's positions, where nearly all
// chains come in, are the window's; those of others may be positions of the window again, from
// which it goes on. The barriers: behind the window, behind the exits of warps, and before the
// memory is used again.
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

// Chains come into a window by one of its first SNAPPY_NEAR positions as a rule: few elements are
// longer.
constexpr uint32_t SNAPPY_WALK_THREADS = 512;
constexpr uint32_t SNAPPY_NEAR = 2 * warpSize;
constexpr uint32_t SNAPPY_TILE = 256;

// SnappyTile is the exits of SNAPPY_TILE windows from their first positions on, two in a word: from
// shared memory one thread has them in a tenth of the time.
struct SnappyTile {
  uint32_t exits[SNAPPY_TILE][SNAPPY_NEAR / 2];
};

// SnappyPair is two words of the table.
typedef uint32_t __attribute__((may_alias)) SnappyPair;

// snappy_tile loads the exits of the windows from `first` on, a warp those of one window at a time.
static __device__ __forceinline__ void snappy_tile(SnappyTile& tile, const SnappyPage& page, uint32_t first) {
  const uint32_t left = page.window_count - first, n = left < SNAPPY_TILE ? left : SNAPPY_TILE;
#pragma unroll 4
  for (uint32_t i = warp_id(); i < n; i += SNAPPY_WALK_THREADS / warpSize) {
    const SnappyPair* pairs = reinterpret_cast<const SnappyPair*>(page.table + (first + i) * SNAPPY_ENTRIES);
    if (2 * lane_id() < snappy_entries(page, first + i)) tile.exits[i][lane_id()] = pairs[lane_id()];
  }
}

// snappy_step is where the chain goes on from an element at `at` in a window: behind it, or
// farther, if an exit is known. SNAPPY_NONE: the element does not end before the page does.
static __device__ __forceinline__ uint32_t snappy_step(const SnappyTile& tile, const SnappyPage& page, uint32_t window,
                                                       uint32_t at) {
  const uint32_t begin = window * SNAPPY_WINDOW, p = at - begin;
  if (p < snappy_entries(page, window)) {
    const uint32_t exit = p < SNAPPY_NEAR ? tile.exits[window % SNAPPY_TILE][p / 2] >> (p % 2 * 16) & 0xffff
                                          : page.table[window * SNAPPY_ENTRIES + p];
    at = begin + exit % SNAPPY_LAST;
    if (exit < SNAPPY_LAST) return at;
  }
  const uint32_t bytes = snappy_bytes(page.elements + at);
  return bytes <= page.n - at ? at + bytes : SNAPPY_NONE;
}

// snappy_walk finds the entries of all windows: one thread goes from exit to exit, and from tag to
// tag where a window was come into too far behind. false: the last element does not end where the
// page does. All SNAPPY_WALK_THREADS threads of the block call; thread 0 is told. The barriers:
// behind a tile, and before the next.
static __device__ __forceinline__ bool snappy_walk(SnappyTile& tile, const SnappyPage& page) {
  uint32_t at = 0;
  for (uint32_t first = 0; first < page.window_count; first += SNAPPY_TILE) {
    snappy_tile(tile, page, first);
    __syncthreads();
    const uint32_t left = page.window_count - first, end = first + (left < SNAPPY_TILE ? left : SNAPPY_TILE);
    for (uint32_t window = first; threadIdx.x == 0 && window < end; window++) {
      const uint32_t begin = window * SNAPPY_WINDOW, rest = page.n - begin;
      const uint32_t behind = begin + (rest < SNAPPY_WINDOW ? rest : SNAPPY_WINDOW);
      page.windows[window].entry = at < behind ? at - begin : SNAPPY_NONE;
      while (at < behind) at = snappy_step(tile, page, window, at);
    }
    __syncthreads();
  }
  return at == page.n;
}

// snappy_find finds the tags of a window, and how much they come to. The elements end where the
// page does (snappy_walk): each is in it as a whole. The barriers: those of snappy_load, chain_find
// and block_sum_before, and one before the memory is used again.
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
