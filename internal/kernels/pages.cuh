// The page pool on the device: pages of one size that any thread may take and
// give back inside a kernel, found by a random walk (paper 000).
//
// Terms:
//
//   page    1 << page_shift bytes; page p begins at pages + (p << page_shift)
//   word    32 bits. A store says what they are:
//           PageFlags   a flag, one page a word    (RW)
//           PageBits    a bitmap, 32 pages a word  (RW-BM, CoRW, CRW)
//   line    32 words one after another, 128 bytes: what a warp reads at once if each lane reads a
//           word
//   stretch 8 lines one after another: what a warp reads at once if each lane reads 8 words
//   step    a look at a word by a thread alone, at a line or a stretch by a warp
//   walk    the state of one thread: its random numbers, its last page, its steps
//
// Layout of a bitmap; a set bit is a page in use. Flags likewise, a word each:
//
//   words   | word 0: pages 0..31 | word 1: pages 32..63 | … | last stretch: the rest is set bits |
//
// Files: this one has the pool and the stores; pages_look.cuh the step of a warp; pages_share.cuh
// its search (CoRW, the sweep). The other methods, which no kernel that ships uses, are in
// kerneltest: pages_walk.cuh a thread alone (RW, RW-BM, CRW); pages_malloc.cuh several pages in a
// row, and requests smaller than a page.
//
// Invariants:
//
//   PAGE-ONCE   A page belongs to whoever changed its bit from 0 to 1, seen in what
//               the atomic returned, never in what was read before.
//   PAGE-KEPT   A thread changes only bits that it hands out, and changes back only
//               bits that it changed itself: no page is lost.
//   PAGE-TAIL   Bits past the last page are set at the start and belong to nobody,
//               so nobody clears them.
//   PAGE-ENDS   A thread looks at about step_limit words in a row without a page at most,
//               then at each word once, then answers PAGE_NONE.
//   PAGE-ORDER  What the last owner did to a page happens before the next one has it:
//               a bit is cleared by a release and set by an acquire, and where a lane
//               takes a page for another one, a barrier of the warp hands that on.
#pragma once

#include "device.cuh"

// No page.
constexpr uint32_t PAGE_NONE = 0xffffffff;

// Words in a line, and in a stretch.
constexpr uint32_t PAGE_LINE = 32;
constexpr uint32_t PAGE_STRETCH = 256;

// PagePool is the memory that pages come from; a kernel takes it by value.
struct PagePool {
  uint8_t* pages;       // the first page
  uint32_t* words;      // the bitmap, or the flags, filled up to whole stretches
  uint32_t* shares;     // of each page, how many small requests have a part in it; null: they get whole pages
  uint32_t count;       // pages
  uint32_t page_shift;  // log2 of the bytes of a page, 5 to 30
  uint32_t step_limit;  // words without a page after which memory is taken to be out, at least 1
  uint32_t sweep;       // 1: before it says so, a walker looks at every word
  uint32_t seed;        // of the random numbers; another one for each launch, else walks repeat
  uint32_t word_pages;  // of words: 32, a bitmap, or 1, flags
};

// PageWalk is the state of one thread between its calls.
struct PageWalk {
  uint32_t random;  // state of the generator
  uint32_t place;   // where its warp looks next, as a fraction of the pool in 2^-32
  uint32_t last;    // the page it got last, or PAGE_NONE
  uint32_t steps;   // made since the start; who does not read it pays nothing for it
};

// page_hash mixes the bits of x, all of which reach all of the result's.
__device__ __forceinline__ uint32_t page_hash(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// page_walk begins the walk of a thread, of threads that are numbered warp by warp.
// Its random numbers begin with a hash of seed and thread, as neighbours would walk
// side by side from neighbouring states.
//
// Its warp begins at a place that is random too, but as far from those of the other
// warps as can be: the bits of the warp's number, reversed, go evenly through the pool
// whatever the number of warps is (van der Corput's sequence), and all are shifted by a
// random distance. So a burst of many warps does not begin with some meeting at one
// stretch while others lie fallow.
__device__ __forceinline__ PageWalk page_walk(const PagePool& pool, uint32_t thread) {
  uint32_t place = __brev(thread / warpSize) + page_hash(pool.seed);
  return {page_hash(thread * 0x9e3779b9u + pool.seed), place, PAGE_NONE, 0};
}

// page_random is the next random number of a walk: PCG-RXS-M-XS-32 (O'Neill 2014),
// one multiplication to step and one to mix. All its 2^32 states lie on one cycle,
// of which each thread has another place.
__device__ __forceinline__ uint32_t page_random(PageWalk& walk) {
  walk.random = walk.random * 747796405u + 2891336453u;
  uint32_t x = ((walk.random >> ((walk.random >> 28) + 4)) ^ walk.random) * 277803737u;
  return (x >> 22) ^ x;
}

// page_below turns 32 random bits into a number below n; the lowest bits of x hardly
// matter to it. Off from uniform by n in 2^32 at most.
__device__ __forceinline__ uint32_t page_below(uint32_t x, uint32_t n) { return __umulhi(x, n); }

__device__ __forceinline__ uint32_t page_bits(uint32_t x) { return __popc(x); }
__device__ __forceinline__ uint32_t page_first(uint32_t x) { return __ffs(x) - 1; }

// page_lowest is the lowest set bit of x, or 0.
__device__ __forceinline__ uint32_t page_lowest(uint32_t x) { return x & (0u - x); }

// page_kth is the place, from 0, of the k-th set bit of x, counted from 1; x has so
// many. The paper's fks (Alg. 4), by halves: the lower half of what is left either
// has the bit or is left behind with its count.
__device__ __forceinline__ uint32_t page_kth(uint32_t x, uint32_t k) {
  uint32_t at = 0;
#pragma unroll
  for (uint32_t half = 16; half > 0; half /= 2) {
    uint32_t below = page_bits((x >> at) & ((1u << half) - 1));
    if (below < k) {
      at += half;
      k -= below;
    }
  }
  return at;
}

// page_pick is one set bit of x, the first at or above bit `from`, or else the first
// of all, or 0 if x is. Walkers who meet in a word and all picked its first bit would
// all but one get nothing.
__device__ __forceinline__ uint32_t page_pick(uint32_t x, uint32_t from) {
  uint32_t above = x & (~0u << (from % 32));
  return page_lowest(above == 0 ? x : above);
}

// PageBits is a bitmap.
struct PageBits {
  static constexpr uint32_t PAGES = 32;  // in a word

  // The words that have pages of the pool.
  static __device__ __forceinline__ uint32_t words(const PagePool& pool) { return (pool.count + PAGES - 1) / PAGES; }

  // The free pages of a word that was read, as set bits.
  static __device__ __forceinline__ uint32_t free_of(uint32_t word) { return ~word; }

  // Those of word i, perhaps out of date.
  static __device__ __forceinline__ uint32_t free(const PagePool& pool, uint32_t i) {
    return free_of(ld_relaxed(pool.words + i));
  }

  // Tries to take the pages of `wanted`, some of word i. Returns those it got
  // (PAGE-ONCE), and takes from `free` all that it now knows to be in use.
  //
  // One atomic does what the paper's lock map does with three: the lock keeps other
  // walkers off the word between reading and setting it, but Or sets any bits
  // whatever the word is by now, and its answer says which were free.
  static __device__ __forceinline__ uint32_t take(const PagePool& pool, uint32_t i, uint32_t wanted, uint32_t& free) {
    uint32_t used = or_acquire(pool.words + i, wanted);
    free &= ~(used | wanted);
    return wanted & ~used;
  }

  // Gives back pages of word i. Two threads may clear bits of one word at once, and
  // others set some, so that only an atomic keeps all of it.
  static __device__ __forceinline__ void give(const PagePool& pool, uint32_t i, uint32_t pages) {
    and_release(pool.words + i, ~pages);
  }
};

// PageFlags is a flag a page: 1 in use, 0 free. A flag has 32 bits to itself, since
// accesses of mixed sizes to one word have no order on the device.
struct PageFlags {
  static constexpr uint32_t PAGES = 1;

  static __device__ __forceinline__ uint32_t words(const PagePool& pool) { return pool.count; }

  static __device__ __forceinline__ uint32_t free_of(uint32_t word) { return word ^ 1; }

  static __device__ __forceinline__ uint32_t free(const PagePool& pool, uint32_t i) {
    return free_of(ld_relaxed(pool.words + i));
  }

  static __device__ __forceinline__ uint32_t take(const PagePool& pool, uint32_t i, uint32_t wanted, uint32_t& free) {
    free = 0;
    return wanted & ~or_acquire(pool.words + i, wanted);
  }

  // No atomic: while the flag is set nobody but the owner changes it.
  static __device__ __forceinline__ void give(const PagePool& pool, uint32_t i, uint32_t) {
    st_release(pool.words + i, 0u);
  }
};

// page_all_words is the words that the pool has memory for: whole stretches.
template <typename Store>
__device__ __forceinline__ uint32_t page_all_words(const PagePool& pool) {
  return (Store::words(pool) + PAGE_STRETCH - 1) / PAGE_STRETCH * PAGE_STRETCH;
}

// page_address is where a page begins.
__device__ __forceinline__ uint8_t* page_address(const PagePool& pool, uint32_t page) {
  return pool.pages + (uint64_t(page) << pool.page_shift);
}

// page_free gives a page back. The caller owns it, and no thread uses it any more.
template <typename Store>
__device__ __forceinline__ void page_free(const PagePool& pool, uint32_t page) {
  Store::give(pool, page / Store::PAGES, 1u << (page % Store::PAGES));
}
