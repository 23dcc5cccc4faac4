// The page pool on the device: pages of one size that any thread may take and
// give back inside a kernel, found by a random walk (paper 000).
//
// Terms:
//
//   page    1 << page_shift bytes; page p begins at pages + (p << page_shift)
//   word    what a walker looks at in one step. A store says what a word is:
//           PageFlags      a flag of 32 bits, 1 page a word    (RW)
//           PageBits<T>    a bitmap, 32 or 64 pages a word     (RW-BM, CoRW, CRW)
//   line    32 words one after another, which a warp reads at once
//   step    a visit to one word
//   walk    the state of one thread: its random numbers, its last page, its steps
//
// Layout of a bitmap; a set bit is a page in use. Flags likewise, a word each:
//
//   words   | word 0: pages 0..31 | word 1: pages 32..63 | … | last line, filled up with set bits |
//
// Files: this one has the pool and the stores; pages_walk.cuh a thread alone (RW,
// RW-BM, CRW); pages_share.cuh the warp together (CoRW, the sweep);
// pages_malloc.cuh several pages in a row, and requests smaller than a page.
//
// Invariants:
//
//   PAGE-ONCE   A page belongs to whoever changed its bit from 0 to 1, seen in what
//               the atomic returned, never in what was read before.
//   PAGE-KEPT   A thread changes only bits that it hands out, and changes back only
//               bits that it changed itself: no page is lost.
//   PAGE-TAIL   Bits past the last page are set at the start and belong to nobody,
//               so nobody clears them.
//   PAGE-ENDS   A call makes step_limit steps in a row without a page at most, then
//               looks at each word once, then answers PAGE_NONE.
//   PAGE-ORDER  What the last owner did to a page happens before the next one has
//               it: a fence before the bit is cleared, and one after it was set.
#pragma once

#include "device.cuh"

// No page.
constexpr uint32_t PAGE_NONE = 0xffffffff;

// Words in a line.
constexpr uint32_t PAGE_LINE = 32;

// PagePool is the memory that pages come from; a kernel takes it by value.
struct PagePool {
  uint8_t* pages;       // the first page
  uint32_t* words;      // the bitmap, or the flags, filled up to a multiple of 64
  uint32_t* shares;     // of each page, how many small requests have a part in it; null: they get whole pages
  uint32_t count;       // pages
  uint32_t page_shift;  // log2 of the bytes of a page, 5 to 30
  uint32_t step_limit;  // steps without a page after which memory is taken to be out, at least 1
  uint32_t sweep;       // 1: before it says so, a walker looks at every word
  uint32_t seed;        // of the random numbers; another one for each launch, else walks repeat
  uint32_t word_pages;  // of words: 32, a bitmap, or 1, flags
};

// PageWalk is the state of one thread between its calls.
struct PageWalk {
  uint32_t random;  // state of the generator
  uint32_t last;    // the page it got last, or PAGE_NONE
  uint32_t steps;   // made since the start; who does not read it pays nothing for it
};

// page_walk begins the walk of a thread. The state is a hash of seed and thread,
// as neighbours would walk side by side from neighbouring states.
__device__ __forceinline__ PageWalk page_walk(const PagePool& pool, uint32_t thread) {
  uint32_t x = thread * 0x9e3779b9u + pool.seed;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return {x ^ (x >> 16), PAGE_NONE, 0};
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
__device__ __forceinline__ uint32_t page_bits(uint64_t x) { return __popcll(x); }
__device__ __forceinline__ uint32_t page_first(uint32_t x) { return __ffs(x) - 1; }
__device__ __forceinline__ uint32_t page_first(uint64_t x) { return __ffsll(x) - 1; }

// page_kth is the place, from 0, of the k-th set bit of x, counted from 1; x has so
// many. The paper's fks (Alg. 4), by halves: the lower half of what is left either
// has the bit or is left behind with its count.
template <typename Word>
__device__ __forceinline__ uint32_t page_kth(Word x, uint32_t k) {
  uint32_t at = 0;
#pragma unroll
  for (uint32_t half = sizeof(Word) * 4; half > 0; half /= 2) {
    uint32_t below = page_bits(Word((x >> at) & ((Word(1) << half) - 1)));
    if (below < k) {
      at += half;
      k -= below;
    }
  }
  return at;
}

// page_lowest is the lowest n set bits of x, all of them if there are fewer.
template <typename Word>
__device__ __forceinline__ Word page_lowest(Word x, uint32_t n) {
  if (n >= page_bits(x)) return x;
  return x & ((Word(1) << page_kth(x, n + 1)) - 1);
}

// page_pick is one set bit of x, the first at or above bit `from`, or else the first
// of all. x is not 0. Walkers who meet in a word and all picked its first bit would
// all but one get nothing.
template <typename Word>
__device__ __forceinline__ Word page_pick(Word x, uint32_t from) {
  Word above = x & (~Word(0) << from);
  if (above == 0) above = x;
  return above & (~above + 1);
}

// PageBits is a bitmap with words of 32 or 64 bits.
template <typename T>
struct PageBits {
  using Word = T;
  static constexpr uint32_t PAGES = sizeof(T) * 8;  // in a word

  // The words that have pages of the pool.
  static __device__ __forceinline__ uint32_t words(const PagePool& pool) { return (pool.count + PAGES - 1) / PAGES; }

  // The free pages of word i, as set bits, perhaps out of date.
  static __device__ __forceinline__ Word free(const PagePool& pool, uint32_t i) { return ~ld_relaxed(at(pool, i)); }

  // Tries to take the pages of `wanted`, some of word i. Returns those it got
  // (PAGE-ONCE), and takes from `free` all that it now knows to be in use.
  //
  // One atomic does what the paper's lock map does with three: the lock keeps other
  // walkers off the word between reading and setting it, but Or sets any bits
  // whatever the word is by now, and its answer says which were free.
  static __device__ __forceinline__ Word take(const PagePool& pool, uint32_t i, Word wanted, Word& free) {
    Word used = atomicOr(at(pool, i), wanted);
    free &= ~(used | wanted);
    return wanted & ~used;
  }

  // Gives back pages of word i. Two threads may clear bits of one word at once, and
  // others set some, so that only an atomic keeps all of it.
  static __device__ __forceinline__ void give(const PagePool& pool, uint32_t i, Word pages) {
    atomicAnd(at(pool, i), ~pages);
  }

  static __device__ __forceinline__ Word* at(const PagePool& pool, uint32_t i) {
    return reinterpret_cast<Word*>(pool.words) + i;
  }
};

// PageFlags is a flag a page: 1 in use, 0 free. A flag has 32 bits to itself, since
// accesses of mixed sizes to one word have no order on the device.
struct PageFlags {
  using Word = uint32_t;
  static constexpr uint32_t PAGES = 1;

  static __device__ __forceinline__ uint32_t words(const PagePool& pool) { return pool.count; }

  static __device__ __forceinline__ Word free(const PagePool& pool, uint32_t i) {
    return ld_relaxed(pool.words + i) ^ 1;
  }

  static __device__ __forceinline__ Word take(const PagePool& pool, uint32_t i, Word wanted, Word& free) {
    free = 0;
    return atomicExch(pool.words + i, 1u) ^ wanted;
  }

  // A plain store, no atomic: while the flag is set nobody but the owner changes it.
  static __device__ __forceinline__ void give(const PagePool& pool, uint32_t i, Word) {
    st_relaxed(pool.words + i, 0u);
  }
};

// page_address is where a page begins.
__device__ __forceinline__ uint8_t* page_address(const PagePool& pool, uint32_t page) {
  return pool.pages + (uint64_t(page) << pool.page_shift);
}

// page_free gives a page back. The caller owns it, and no thread uses it any more.
// FENCE false leaves out PAGE-ORDER: for pages that nobody gets again before the
// kernel ends.
template <typename Store, bool FENCE = true>
__device__ __forceinline__ void page_free(const PagePool& pool, uint32_t page) {
  if (FENCE) __threadfence();
  typename Store::Word bit = typename Store::Word(1) << (page % Store::PAGES);
  Store::give(pool, page / Store::PAGES, bit);
}
