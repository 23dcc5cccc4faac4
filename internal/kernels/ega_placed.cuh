// Values of the row that comes first, last, or with the best key: several words, which change
// together.
//
//   EGA_FIRST, EGA_LAST    position | value
//   EGA_BEST               key | position | value           equal keys: the first position
//   EGA_LEAST_BY, _GREATEST_BY  prefix of a text | ref | position | value
//
// The position decides, or the key and then the position; no two rows have one position. It is the
// lock of the words too: a thread that has a better row puts its own position there with
// PLACED_LOCK set, writes the others, and then the position alone. Who meets a lock looks again
// until it is open: it waits for a thread that runs and waits for nobody (WAIT-ENDS). Whatever a
// thread does while it has the lock it does in one turn of its loop, so that it is not kept from
// going on by threads of its warp that wait.
//
// Mostly a row is not the best, which is seen without the lock: a position or key only gets better,
// and who has written a better one is done, or about to be. A key is that of the position beside it
// if the position was read before it and is the same after it, and has no lock.
#pragma once

#include "ega_state.cuh"
#include "ega_text.cuh"

// Positions of rows are less: internal/agg's mostPosition.
constexpr uint64_t PLACED_LOCK = uint64_t(1) << 62;

// EgaPlaced is how a state word and its mates combine of which the last is a value. None of its
// pointers is null: machine code of ptxas 11.8 has read a key that was, where none was to be read.
template <class Place>
struct EgaPlaced {
  uint64_t* key;  // the position: it alone decides
  uint64_t* ref;  // of a text whose prefix the key is; the position: the key is a number
  uint64_t* position;
  uint64_t* value;
  const uint64_t* texts;
  bool keyed;     // there is a key
  bool text;      // there is a ref
  bool greatest;  // the greatest position, or the greatest text, is the best

  static __device__ __forceinline__ bool locked(uint64_t position, uint64_t never) {
    return position != never && (position & PLACED_LOCK) != 0;
  }

  // Whether a key is better than another (below 0), as good (0) or worse (above 0). A ref of 0 is
  // worse than any, and the prefix beside it is the worst, since the two may not be read at once.
  __device__ __forceinline__ int32_t compare(uint64_t a, uint64_t a_ref, uint64_t b, uint64_t b_ref) const {
    if (!text) return a == b ? 0 : static_cast<int64_t>(a) < static_cast<int64_t>(b) ? -1 : 1;
    if (b_ref == 0 || a_ref == b_ref) return b_ref == 0 ? -1 : 0;
    if (a != b) return (a < b) != greatest ? -1 : 1;
    return ega_text_before(texts, a_ref, b_ref) != greatest ? -1 : 1;
  }

  // combine combines a row: its key, the ref of it, its position and its value.
  __device__ __forceinline__ void combine(uint64_t k, uint64_t r, uint64_t p, uint64_t v) const {
    const uint64_t never = !keyed && greatest ? ~uint64_t(0) : 0x7fffffffffffffff;
    if (p == never) return;
    for (;;) {
      if (keyed && !text && static_cast<int64_t>(k) > static_cast<int64_t>(ld_relaxed(key))) return;
      const uint64_t now = ld_relaxed(position);
      const bool waits = locked(now, never);
      if (!keyed) {
        const uint64_t there = waits ? now & ~PLACED_LOCK : now;
        if (greatest ? static_cast<int64_t>(p) <= static_cast<int64_t>(there) : p >= there) return;
      }
      if (waits) continue;
      Place::fence();
      if (keyed) {
        const uint64_t other = ld_relaxed(key);
        const int32_t order = compare(k, r, other, text ? ld_relaxed(ref) : 0);
        if (order > 0) return;
        Place::fence();
        if (order == 0 && ld_relaxed(position) == now && p >= now) return;
      }
      if (atomicCAS(position, now, p | PLACED_LOCK) != now) continue;
      Place::fence();
      if (keyed) st_relaxed(key, k);
      if (text) st_relaxed(ref, r);
      st_relaxed(value, v);
      Place::fence();
      st_relaxed(position, p);
      return;
    }
  }
};

// ega_is_placed says whether state words are combined that way which begin with that operation.
__device__ __forceinline__ bool ega_is_placed(uint32_t op) {
  return op == EGA_FIRST || op == EGA_LAST || op == EGA_BEST || op == EGA_LEAST_BY || op == EGA_GREATEST_BY;
}

// ega_combine_placed combines state word s and its mates.
template <class Shape, class Place>
__device__ __forceinline__ void ega_combine_placed(const EgaLayout& layout, const Place& place, uint32_t slot,
                                                   const EgaRow<Shape>& row, uint32_t op, uint32_t s) {
  const uint32_t before = Shape::hashes(layout) + Shape::keys(layout);
  const bool keyed = op != EGA_FIRST && op != EGA_LAST, text = op == EGA_LEAST_BY || op == EGA_GREATEST_BY;
  const uint32_t r = keyed ? layout.mates[s] : s, p = text ? layout.mates[r] : r, v = layout.mates[p];
  const EgaPlaced<Place> words = {place.word(slot, before + s), place.word(slot, before + r), place.word(slot, before + p),
                                  place.word(slot, before + v), layout.texts, keyed, text, op == EGA_LAST || op == EGA_GREATEST_BY};
  words.combine(row.state(s), row.state(r), row.state(p), row.state(v));
}
