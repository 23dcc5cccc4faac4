// A look: the lanes of a warp read a line or a stretch of words together, and share the
// pages that they find (Alg. 3 of paper 000).
//
// Who takes part: the lanes of `mask`, any set of lanes of one warp. All of them call
// with the same mask, whether or not they want a page: those that want none help. The
// ballots and shuffles hold exactly these lanes together; there are no barriers.
//
//   1. Each lane reads its words, and picks a page of the first that has any for itself,
//      if it wants one. What is left there, or in the last that has any, it can give.
//   2. Lanes that want a page and see none are idle, and are shared out among the lanes
//      that can give. Ballots tell all lanes who these are.
//   3. Each lane takes its page and its gifts, all lanes at once, and those who wait
//      fetch theirs by shuffles.
//   4. Again, if lanes are still in need and some lane has seen more.
//
// Where this differs from the paper:
//
//   - No lock map (PageBits::take).
//   - The paper's lanes give away one page in each of many rounds, and every lane that
//     sees a free page sets a bit, also those that no lane fetches: those pages would
//     be lost. Here all is settled by two ballots before anything is taken.
//   - The words of a warp lie together, where the paper has 32 random places: one read of
//     the warp, and pages of a warp near each other. If free pages are spread evenly it
//     is the same to them where the words are.
#pragma once

#include "pages.cuh"

// page_rank is how many lanes of the mask are below this one.
__device__ __forceinline__ uint32_t page_rank(uint32_t mask) { return page_bits(mask & lanes_below()); }

// PageSight is what a lane sees: the pages of two of its words.
struct PageSight {
  uint32_t first, first_at;  // the free pages of its first word that has any, and its index; 0: none has
  uint32_t last, last_at;    // those of the last one, perhaps the same
  bool between;              // other words have free pages too
};

// page_see reads the words of this lane in a look that begins at word `start`, and goes
// on from the pool's end at its beginning: with WORDS = 1 each lane has a word, with
// WORDS = 8 two times four.
template <typename Store, uint32_t WORDS>
__device__ __forceinline__ PageSight page_see(const PagePool& pool, uint32_t mask, uint32_t start) {
  static_assert(WORDS == 1 || WORDS == 8, "a line or a stretch");
  uint32_t end = page_all_words<Store>(pool);
  uint32_t rank = mask == FULL_MASK ? lane_id() : page_rank(mask);
  uint32_t at = start + rank * (WORDS == 1 ? 1 : 4);
  if (at >= end) at -= end;
  if (WORDS == 1) {
    uint32_t free = Store::free(pool, at);
    return {free, at, free, at, false};
  }
  uint32_t further = start + (rank + page_bits(mask)) * 4;
  if (further >= end) further -= end;
  uint32_t words[2][4];
  ld_relaxed4(pool.words + at, words[0]);
  ld_relaxed4(pool.words + further, words[1]);
  further -= at;
  PageSight sight = {};
  uint32_t seen = 0;
#pragma unroll
  for (uint32_t j = 0; j < 8; j++) {
    uint32_t free = Store::free_of(words[j / 4][j % 4]);
    if (free == 0) continue;
    sight.last = free;
    sight.last_at = j < 4 ? j : further + j % 4;
    seen++;
  }
#pragma unroll
  for (uint32_t j = 8; j-- > 0;) {
    uint32_t free = Store::free_of(words[j / 4][j % 4]);
    if (free == 0) continue;
    sight.first = free;
    sight.first_at = j < 4 ? j : further + j % 4;
  }
  sight.first_at += at;
  sight.last_at += at;
  sight.between = seen > 2;
  return sight;
}

// PageShares is how idle lanes are shared out among givers: the first giver serves the
// first of them, the second the second, and if there are more than givers, round by
// round: lane r by rank is served by giver r % givers in round r / givers.
struct PageShares {
  uint32_t givers;
  uint32_t rounds;  // of which each giver has one
  uint32_t more;    // so many givers have one more
};

__device__ __forceinline__ PageShares page_shares(uint32_t idle, uint32_t givers) {
  if (givers == 0 || idle <= givers) return {givers, 0, idle};
  return {givers, idle / givers, idle % givers};
}

// page_lowest_of is the lowest n set bits of x, all of them if there are fewer.
__device__ __forceinline__ uint32_t page_lowest_of(uint32_t x, uint32_t n) {
  if (n == 0) return 0;
  if (n == 1) return page_lowest(x);
  return n >= page_bits(x) ? x : x & ((1u << page_kth(x, n + 1)) - 1);
}

// page_fetch gives the page that this lane waits for, by shuffle: of the lanes of givers,
// which have taken the pages `given` of word `at`. PAGE_NONE if its giver has too few.
template <typename Store>
__device__ __forceinline__ uint32_t page_fetch(uint32_t mask, uint32_t idle, uint32_t givers, const PageShares& shares,
                                               uint32_t given, uint32_t at) {
  bool waits = (idle >> lane_id()) & 1;
  uint32_t rank = page_rank(idle);
  uint32_t round = 0;
  if (shares.rounds > 0) {
    round = rank / shares.givers;
    rank %= shares.givers;
  }
  uint32_t from = waits ? page_kth(givers, rank + 1) : lane_id();
  uint32_t its = __shfl_sync(mask, given, from);
  uint32_t word = __shfl_sync(mask, at, from);
  if (!waits || page_bits(its) <= round) return PAGE_NONE;
  return word * Store::PAGES + (round == 0 ? page_first(its) : page_kth(its, round + 1));
}

// page_look is a look of the lanes of mask (above) that begins at word `start`, with
// WORDS = 8 a multiple of 4, for the lanes of `need`; `turn` says which page of a word
// they prefer. Sets `page` of each lane that gets one; returns the lanes still in need.
// It ends: each time round some lane takes a page, or another thread has taken one that
// was seen here.
template <typename Store, uint32_t WORDS>
__device__ __forceinline__ uint32_t page_look(const PagePool& pool, uint32_t mask, uint32_t need, uint32_t start,
                                              uint32_t turn, uint32_t& page) {
  for (;;) {
    PageSight sight = page_see<Store, WORDS>(pool, mask, start);
    uint32_t seers = __ballot_sync(mask, sight.first != 0);
    // On a line that few lanes see pages on it is better to look at once at the whole stretch.
    if (WORDS == 1 && page_bits(seers) * 2 < page_bits(mask)) return need;
    bool asks = (need >> lane_id()) & 1;
    uint32_t mine = asks ? page_pick(sight.first, turn) : 0;
    uint32_t rest = sight.first ^ mine;
    uint32_t other = sight.first_at == sight.last_at ? 0 : sight.last;
    bool same = !asks || other == 0;  // gifts are of the first word too
    uint32_t spare = same ? rest : other;

    uint32_t idle = need & ~seers;
    uint32_t givers = idle == 0 ? 0 : __ballot_sync(mask, spare != 0);
    PageShares shares = page_shares(page_bits(idle), page_bits(givers));
    uint32_t gift = 0;
    if (givers != 0 && spare != 0) gift = page_lowest_of(spare, shares.rounds + (page_rank(givers) < shares.more));

    uint32_t wanted = mine | (same ? gift : 0);
    uint32_t unused;
    uint32_t got = wanted != 0 ? Store::take(pool, sight.first_at, wanted, unused) : 0;
    uint32_t given = got & gift;
    if (!same) given = gift != 0 ? Store::take(pool, sight.last_at, gift, unused) : 0;
    uint32_t found = (got & mine) != 0 ? sight.first_at * Store::PAGES + page_first(mine) : PAGE_NONE;
    if (givers != 0) {
      uint32_t fetched = page_fetch<Store>(mask, idle, givers, shares, given, same ? sight.first_at : sight.last_at);
      if (fetched != PAGE_NONE) found = fetched;
    }

    if (found != PAGE_NONE) page = found;
    need = __ballot_sync(mask, asks && found == PAGE_NONE);
    if (need == 0) return 0;
    bool lost = (mine != 0 && found == PAGE_NONE) || given != gift;
    bool left = (same ? (rest ^ gift) | other : rest | (other ^ gift)) != 0;
    if (!__any_sync(mask, sight.between || left || lost)) return need;
  }
}
