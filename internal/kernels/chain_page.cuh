// Chains of elements over a page of any length: which elements begin in each window of it.
//
// An element alone tells where the next one begins (chain.cuh), so the elements of a page are one
// chain. Windows of CHAIN_WINDOW bytes are made independent of each other by three kernels, one
// after the other:
//
//   link  for each window: where a chain of elements that comes in leaves it
//   walk  a block a page, of which one thread goes from exit to exit: where the elements really
//         come into each window
//   find  for each window: its elements, and how much they come to
//
// An element is of the window that it begins in. What elements are, a type E says:
//
//   bytes(at)           the bytes of the element at `at`, 2 or more, be it of the chain or not.
//                       CHAIN_ENDLESS: it has to be looked at more closely
//   behind(at, left)    exactly how many an element of the chain has, with `left` bytes of the page
//                       from there on; CHAIN_NONE: the chain ends with it
//   length(at, left)    what such an element comes to: less than 2^31
//   most()              the most that all of them may come to, less than 2^31; sums end there
//   NEAR                more than the bytes of nearly all elements, so that chains come into a
//                       window by one of its first NEAR positions as a rule. A multiple of 64, up
//                       to CHAIN_ENTRIES / 2
//
// Memory of a page: a table of 16 bits for every other of its bytes, and behind it a ChainWindow
// for each window, aligned to 4. A window's part of the table holds its exits at first: where a
// chain leaves the window that comes in at a position of its first half. Later it holds the
// positions of its elements: these have 2 bytes or more, so that it suffices.
#pragma once

#include "chain.cuh"
#include "scan.cuh"

constexpr uint32_t CHAIN_WINDOW = 4096;
constexpr uint32_t CHAIN_ENTRIES = CHAIN_WINDOW / 2;  // of the table, for a window
constexpr uint32_t CHAIN_NONE = 0xffffffff;
constexpr uint32_t CHAIN_ENDLESS = 0x7fffffff;

// An exit below CHAIN_LAST is where the next element begins, from the window's begin; from there
// on, CHAIN_LAST + the position of the window's last element.
constexpr uint32_t CHAIN_LAST = 0x8000;

constexpr uint32_t CHAIN_THREADS = 1024;  // of a block that links or finds
constexpr uint32_t CHAIN_SEGMENTS = CHAIN_WINDOW / CHAIN_THREADS;
constexpr uint32_t CHAIN_ROUNDS = 4;  // of chain.cuh, for elements of 2 bytes and more
constexpr uint32_t CHAIN_BEHIND = 16;  // bytes behind a window that its last element may be read with

// ChainWindow is what becomes known of a window.
struct ChainWindow {
  uint32_t entry;  // the position of its first element, or CHAIN_NONE: there is none
  uint32_t count;  // of its elements
  uint32_t sum;    // that they come to
};

// ChainPage is a page.
struct ChainPage {
  const uint8_t* elements;
  uint32_t n;       // bytes of elements
  uint16_t* table;  // CHAIN_ENTRIES for each window but the last
  ChainWindow* windows;
  uint32_t window_count;

  // place has the table and the windows begin at `memory`, aligned to 4.
  __device__ __forceinline__ void place(uint8_t* memory) {
    table = reinterpret_cast<uint16_t*>(memory);
    window_count = (n + CHAIN_WINDOW - 1) / CHAIN_WINDOW;
    windows = reinterpret_cast<ChainWindow*>(table + ((n + 3) & ~3u) / 2);
  }

  // entries is the number of words of the table that a window has.
  __device__ __forceinline__ uint32_t entries(uint32_t window) const {
    const uint32_t left = n - window * CHAIN_WINDOW;
    return left < CHAIN_WINDOW ? (left + 1) / 2 : CHAIN_ENTRIES;
  }
};

// ChainVector is what is loaded at once: 16 bytes of anything.
struct __attribute__((may_alias, aligned(16))) ChainVector {
  uint64_t words[2];
};

// ChainTags is the shared memory of a block that looks at windows.
struct ChainTags {
  alignas(16) uint8_t bytes[CHAIN_WINDOW + 32];  // begins up to 15 bytes late; an element at the end is read as if whole
  uint16_t exits[CHAIN_WINDOW];
  uint16_t tags[CHAIN_ENTRIES];
  uint32_t sums[SCAN_SCRATCH];
};

// ChainNext is the chain of a window: where an element ends that begins at p. The last one ends it
// with an exit.
template <class E>
struct ChainNext {
  const uint8_t* bytes;
  uint32_t limit;  // bytes of the window
  E elements;

  __device__ __forceinline__ uint32_t operator()(uint32_t p) const {
    if (p >= limit) return CHAIN_LAST;  // nobody comes here
    const uint32_t end = p + elements.bytes(bytes + p);
    const bool exact = end < limit || (end >= CHAIN_WINDOW && end < CHAIN_LAST);
    return exact ? end : CHAIN_LAST + p;
  }
};

// chain_load brings a window into shared memory, by the aligned vectors that it lies in, with the
// CHAIN_BEHIND bytes behind it. The barrier is for them.
template <class E>
static __device__ __forceinline__ ChainNext<E> chain_load(ChainTags& shared, const ChainPage& page, uint32_t window,
                                                          const E& elements) {
  const uint8_t* from = page.elements + window * CHAIN_WINDOW;
  const uint32_t left = page.n - window * CHAIN_WINDOW, skew = reinterpret_cast<uintptr_t>(from) % sizeof(ChainVector);
  const uint32_t n = left < CHAIN_WINDOW + CHAIN_BEHIND ? left : CHAIN_WINDOW + CHAIN_BEHIND;
  const ChainVector* source = reinterpret_cast<const ChainVector*>(from - skew);
  ChainVector* target = reinterpret_cast<ChainVector*>(shared.bytes);
  for (uint32_t i = threadIdx.x; i * sizeof(ChainVector) < skew + n; i += blockDim.x) target[i] = source[i];
  __syncthreads();
  return {shared.bytes + skew, left < CHAIN_WINDOW ? left : CHAIN_WINDOW, elements};
}

// chain_page_link finds the exits of a window. Those of its first positions, where nearly all
// chains come in, are the window's; those of others may be positions of the window again, from
// which it goes on. Such an exit is followed from warp to warp, up to 32 of them. The barriers:
// behind the window, behind the exits of warps, and before the memory is used again.
template <class E>
static __device__ __forceinline__ void chain_page_link(ChainTags& shared, const ChainPage& page, uint32_t window,
                                                       const E& elements) {
  const ChainNext<E> next = chain_load(shared, page, window, elements);
  ChainLinks<CHAIN_SEGMENTS> links;
  chain_link<CHAIN_SEGMENTS, CHAIN_ROUNDS, false>(next, links);
  chain_exits(links, shared.exits);
  __syncthreads();
  uint16_t* table = page.table + window * CHAIN_ENTRIES;
  const uint32_t entries = page.entries(window);
  for (uint32_t p = threadIdx.x; p < entries; p += blockDim.x) {
    uint32_t exit = shared.exits[p];
    while (p < 2 * E::NEAR && exit < CHAIN_WINDOW) exit = shared.exits[exit];
    table[p] = static_cast<uint16_t>(exit);
  }
  __syncthreads();
}

constexpr uint32_t CHAIN_WALK_THREADS = 512;
constexpr uint32_t CHAIN_TILE = 16384;  // exits

// ChainTile is the exits of CHAIN_TILE / NEAR windows from their first NEAR positions on, two in a
// word: from shared memory one thread has them in a tenth of the time.
template <uint32_t NEAR>
struct ChainTile {
  static constexpr uint32_t WINDOWS = CHAIN_TILE / NEAR;

  uint32_t exits[WINDOWS][NEAR / 2];
};

// ChainPair is two words of the table.
typedef uint32_t __attribute__((may_alias)) ChainPair;

// chain_tile loads the exits of the windows from `first` on, a warp those of one window at a time,
// all of them before it writes the first.
template <uint32_t NEAR>
static __device__ __forceinline__ void chain_tile(ChainTile<NEAR>& tile, const ChainPage& page, uint32_t first) {
  const uint32_t left = page.window_count - first, n = left < tile.WINDOWS ? left : tile.WINDOWS;
#pragma unroll 4
  for (uint32_t i = warp_id(); i < n; i += CHAIN_WALK_THREADS / warpSize) {
    const ChainPair* pairs = reinterpret_cast<const ChainPair*>(page.table + (first + i) * CHAIN_ENTRIES);
    const uint32_t entries = page.entries(first + i);
    constexpr uint32_t EACH = NEAR / 2 / warpSize;
    uint32_t own[EACH];
#pragma unroll
    for (uint32_t k = 0; k < EACH; k++) {
      const uint32_t p = k * warpSize + lane_id();
      own[k] = 2 * p < entries ? pairs[p] : 0;
    }
#pragma unroll
    for (uint32_t k = 0; k < EACH; k++) tile.exits[i][k * warpSize + lane_id()] = own[k];
  }
}

// chain_step is where the chain goes on from an element at `at` in a window: behind it, or farther,
// if an exit is known. CHAIN_NONE: it does not.
template <class E>
static __device__ __forceinline__ uint32_t chain_step(const ChainTile<E::NEAR>& tile, const ChainPage& page, uint32_t window,
                                                      uint32_t at, const E& elements) {
  const uint32_t begin = window * CHAIN_WINDOW, p = at - begin;
  if (p < page.entries(window)) {
    const uint32_t exit = p < E::NEAR ? tile.exits[window % tile.WINDOWS][p / 2] >> (p % 2 * 16) & 0xffff
                                      : page.table[window * CHAIN_ENTRIES + p];
    at = begin + exit % CHAIN_LAST;
    if (exit < CHAIN_LAST) return at;
  }
  const uint32_t bytes = elements.behind(page.elements + at, page.n - at);
  return bytes == CHAIN_NONE ? CHAIN_NONE : at + bytes;
}

// chain_walk finds the entries of all windows: one thread goes from exit to exit, and from element
// to element where a window was come into too far behind. It returns where the chain ends:
// CHAIN_NONE, or a place of the page or behind it. All CHAIN_WALK_THREADS threads of the block
// call; thread 0 is told. The barriers: behind a tile, and before the next.
template <class E>
static __device__ __forceinline__ uint32_t chain_walk(ChainTile<E::NEAR>& tile, const ChainPage& page, const E& elements) {
  uint32_t at = 0;
  for (uint32_t first = 0; first < page.window_count; first += tile.WINDOWS) {
    chain_tile(tile, page, first);
    __syncthreads();
    const uint32_t left = page.window_count - first, end = first + (left < tile.WINDOWS ? left : tile.WINDOWS);
    for (uint32_t window = first; threadIdx.x == 0 && window < end; window++) {
      const uint32_t begin = window * CHAIN_WINDOW, rest = page.n - begin;
      const uint32_t behind = begin + (rest < CHAIN_WINDOW ? rest : CHAIN_WINDOW);
      page.windows[window].entry = at < behind ? at - begin : CHAIN_NONE;
      while (at < behind) at = chain_step(tile, page, window, at, elements);
    }
    __syncthreads();
  }
  return at;
}

// chain_page_find finds the elements of a window, and how much they come to. A chain goes on behind
// an endless element that ends in the window after all. The barriers, for each such part of the
// chain: those of chain_find, and one before the memory is used again. Beside them that of
// chain_load, that of the sum, and one before the memory is used again.
template <class E>
static __device__ __forceinline__ void chain_page_find(ChainTags& shared, const ChainPage& page, uint32_t window,
                                                       const E& elements) {
  ChainWindow& result = page.windows[window];
  uint32_t entry = result.entry, count = 0, sum = 0;
  if (entry != CHAIN_NONE) {
    const ChainNext<E> next = chain_load(shared, page, window, elements);
    uint16_t* table = page.table + window * CHAIN_ENTRIES;
    const uint32_t left = page.n - window * CHAIN_WINDOW, most = elements.most();
    uint32_t own = 0;
    while (entry < next.limit) {
      const uint32_t n = chain_find<CHAIN_SEGMENTS, CHAIN_ROUNDS>(next, entry, shared.exits, shared.sums, shared.tags);
      for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
        const uint32_t tag = shared.tags[i];
        table[count + i] = static_cast<uint16_t>(tag);
        own = add_up_to(own, elements.length(next.bytes + tag, left - tag), most);
      }
      count += n;
      const uint32_t last = shared.tags[n - 1], bytes = elements.behind(next.bytes + last, left - last);
      entry = bytes < next.limit - last ? last + bytes : CHAIN_NONE;
      __syncthreads();
    }
    block_sum_up_to(own, most, shared.sums, sum);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  result.count = count;
  result.sum = sum;
}
