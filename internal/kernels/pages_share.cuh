// The lanes of a warp look for pages together and share what they find: CoRW of paper
// 000 (Alg. 3), and the sweep over the whole pool that ends every search.
//
// Who takes part: the lanes of `mask`, any set of lanes of one warp. All of them call
// with the same mask, whether or not they want a page: those that want none help. The
// ballots and shuffles hold exactly these lanes together; the one barrier is
// page_settle's __syncwarp.
//
// Where this differs from the paper:
//
//   - No lock map (PageBits::take).
//   - A lane takes all the pages that the warp can use of its word by one atomic, and
//     no more. The paper hands out one page a lane and round, and as printed keeps
//     the others' bits set: in a word with 16 free pages 16 rounds, here one.
//   - Which lane takes how many is agreed on before, by a prefix sum over ballots.
//     The paper lets every lane that sees a free page set a bit, also those that no
//     lane fetches: those pages would be lost.
//   - The lanes' words may lie in one line, one read for the warp, rather than in 32
//     random places. If free pages are spread evenly it is the same to them where
//     the words are, and pages of a warp come to lie near each other.
#pragma once

#include "pages.cuh"

// PageSpread is where the lanes of a warp look in one step.
enum PageSpread {
  PAGE_IN_LINE,     // at words of one line
  PAGE_EVERYWHERE,  // each at a random word, as in the paper
};

// page_rank is how many lanes of the mask are below this one.
__device__ __forceinline__ uint32_t page_rank(uint32_t mask) { return page_bits(mask & lanes_below()); }

// page_sum_before is the sum of n over the lanes of mask below this one, for any mask;
// n is below 1 << bits, bits the same in all lanes. One ballot a bit.
__device__ __forceinline__ uint32_t page_sum_before(uint32_t mask, uint32_t n, uint32_t bits) {
  uint32_t sum = 0;
  for (uint32_t b = 0; b < bits; b++) {
    sum += page_rank(__ballot_sync(mask, (n >> b) & 1)) << b;
  }
  return sum;
}

// page_settle is PAGE-ORDER where a lane takes a page for another one: what the lane
// that set the bit may see, all lanes of mask may see.
__device__ __forceinline__ void page_settle(uint32_t mask) {
  __threadfence();
  __syncwarp(mask);
}

// page_rotate turns x right by n places.
template <typename Word>
__device__ __forceinline__ Word page_rotate(Word x, uint32_t n) {
  constexpr uint32_t BITS = sizeof(Word) * 8;
  return (x >> (n % BITS)) | (x << ((BITS - n) % BITS));
}

// page_hand_out gives the pages that the lanes took in their words i, `got`, to the
// lanes of need in order: the first lane the first page of the first lane that took
// some, and so on. All lanes of mask call; got has no more bits in all than need.
// Returns this lane's page, or PAGE_NONE.
//
// One round for each lane that took something. Example: lanes 3, 5, 9 need; lane 5
// got two pages, lane 8 one. Ranks are 0, 1, 2. Round 1, lane 5: ranks 0 and 1 are
// below 2, so lanes 3 and 5 remember lane 5, and its 1st and 2nd page. Round 2, lane
// 8: lane 9's rank less 2 is below 1, and it remembers lane 8's 1st.
template <typename Store>
__device__ __forceinline__ uint32_t page_hand_out(uint32_t mask, uint32_t need, uint32_t i, typename Store::Word got) {
  using Word = typename Store::Word;
  bool waiting = (need >> lane_id()) & 1;
  uint32_t rank = page_rank(need);
  uint32_t from = lane_id();
  uint32_t kth = 0;
  Word pages = 0;
  for (uint32_t givers = __ballot_sync(mask, got != 0); givers != 0; givers &= givers - 1) {
    uint32_t giver = __ffs(givers) - 1;
    Word its = __shfl_sync(mask, got, giver);
    uint32_t n = page_bits(its);
    if (waiting && rank < n) {
      waiting = false;
      from = giver;
      kth = rank + 1;
      pages = its;
    }
    rank -= n;  // below 0 it is larger than any n, for lanes that no longer wait
  }
  uint32_t word = __shfl_sync(mask, i, from);
  return kth == 0 ? PAGE_NONE : word * Store::PAGES + page_kth(pages, kth);
}

// page_share takes pages out of the words that the lanes of mask look at, word i of
// which shows the pages in `free`, and gives them to the lanes whose `page` is
// PAGE_NONE and that want one, which `need` is the mask of. `turn` says where in the
// word to begin. Returns the lanes still in need. Ends as in each round the lanes
// that take anything, at least one, have fewer bits left in free.
template <typename Store>
__device__ __forceinline__ uint32_t page_share(const PagePool& pool, uint32_t mask, uint32_t need, uint32_t i,
                                               typename Store::Word free, uint32_t turn, uint32_t& page) {
  using Word = typename Store::Word;
  while (need != 0 && __any_sync(mask, free != 0)) {
    uint32_t wanted = page_bits(need);
    uint32_t have = page_bits(free);
    if (have > wanted) have = wanted;
    uint32_t before = page_sum_before(mask, have, 6);  // have is 32 at most
    uint32_t quota = before >= wanted ? 0 : wanted - before;
    if (quota > have) quota = have;
    Word got = 0;
    if (quota > 0) {
      Word claim = Store::PAGES == 1 ? free : page_rotate(page_lowest(page_rotate(free, turn), quota), 0u - turn);
      got = Store::take(pool, i, claim, free);
    }
    uint32_t given = page_hand_out<Store>(mask, need, i, got);
    if (given != PAGE_NONE) page = given;
    need = __ballot_sync(mask, ((need >> lane_id()) & 1) && given == PAGE_NONE);
  }
  return need;
}

// page_sweep looks at every word of the pool once, from a random one on, and returns a
// page for each lane of mask that wants one, as long as there are any. PAGE_NONE: each
// page was in use when it was looked at. If meanwhile no thread gives pages back,
// this means that none is left.
template <typename Store>
__device__ __forceinline__ uint32_t page_sweep(const PagePool& pool, PageWalk& walk, uint32_t mask, bool want) {
  uint32_t words = Store::words(pool);
  uint32_t lanes = page_bits(mask);
  uint32_t random = page_random(walk);
  uint32_t start = page_below(__shfl_sync(mask, random, __ffs(mask) - 1), words);
  uint32_t need = __ballot_sync(mask, want);
  uint32_t page = PAGE_NONE;
  for (uint32_t done = 0; done < words && need != 0; done += lanes) {
    uint32_t k = done + page_rank(mask);
    uint32_t i = 0;
    typename Store::Word free = 0;
    if (k < words) {
      i = k < words - start ? start + k : k - (words - start);
      free = Store::free(pool, i);
      walk.steps++;
    }
    need = page_share<Store>(pool, mask, need, i, free, random, page);
  }
  page_settle(mask);
  return page;
}

// page_get_together returns a free page to each lane of mask that wants one, as long
// as there are any, else PAGE_NONE. All these lanes make the same steps: one step of
// the warp is one of each lane.
template <typename Store, PageSpread SPREAD = PAGE_IN_LINE, bool FENCE = true>
__device__ __forceinline__ uint32_t page_get_together(const PagePool& pool, PageWalk& walk, uint32_t mask, bool want) {
  uint32_t words = Store::words(pool);
  uint32_t lanes = page_bits(mask);
  uint32_t need = __ballot_sync(mask, want);
  uint32_t page = PAGE_NONE;
  for (uint32_t idle = 0; need != 0 && idle < pool.step_limit;) {
    uint32_t random = page_random(walk);
    uint32_t i = page_below(random, words);
    if (SPREAD == PAGE_IN_LINE) {
      uint32_t shared = __shfl_sync(mask, random, __ffs(mask) - 1);
      uint32_t line = page_below(shared, (words + PAGE_LINE - 1) / PAGE_LINE);
      i = line * PAGE_LINE + (shared + page_rank(mask)) % PAGE_LINE;
    }
    uint32_t needed = need;
    need = page_share<Store>(pool, mask, need, i, Store::free(pool, i), random, page);
    walk.steps++;
    idle = need == needed ? idle + lanes : 0;
  }
  if (need != 0 && pool.sweep != 0) {
    uint32_t found = page_sweep<Store>(pool, walk, mask, (need >> lane_id()) & 1);
    if (found != PAGE_NONE) page = found;
  }
  if (FENCE) page_settle(mask);
  return page;
}
