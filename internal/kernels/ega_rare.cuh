// How words combine that few queries need: only the shapes EgaRare and EgaAny have the code, which
// would make the others a fifth longer to load. As in ega_state.cuh, any number of threads combine
// rows into a group at once.
//
//   sums of more than two words
//              The words are added one by one, each with the carry out of the addition below.
//              Between these the sum in memory is not that of any set of rows; once all have been
//              added it is that of all, since each carry went up once.
//   SUM_FINE   A sum of doubles with twice their digits. Each addition takes over what has gathered
//              in the mate and adds it up with its own, so that the mate never holds more than the
//              errors of those additions that are under way: k of them round it off by k * 2^-107
//              of the sum each. (In a SUM the mate grows, and is rounded, with the number of rows:
//              variances, which subtract almost equal sums, would see it.)
//   LEAST      The n least values, in order. A value goes from word to word: each keeps the lesser
//              of what it has and what comes, and the greater goes on. So the first word ends up
//              with the least of all values; every other one has gone on to the second, which ends
//              up with the least of those; and so on. A value that is no less than the last word
//              may be left out: words only get smaller, and that one has met n - 1 others on its
//              way that are no greater.
//   texts      Equal texts have one ref (TEXT-ONCE), so that a compare-and-swap of a word puts one
//              in another's place. The prefix goes first, by a min or max of its own: the least
//              text has the least prefix.
//
// PREFIX-FIRST: who finds a better prefix in the place of its own leaves its text out, since who
// brought that prefix combines its ref too, now or soon. So the two words are those of one text
// once all threads have ended.
#pragma once

#include "ega_placed.cuh"

// ega_is_rare says whether state word s, with its mates, is ega_combine_rare's.
template <class Shape>
__device__ __forceinline__ bool ega_is_rare(const EgaLayout& layout, uint32_t op, uint32_t s) {
  if constexpr (!Shape::RARE) return false;
  if (op == EGA_SUM_FINE || op == EGA_LEAST || op == EGA_LEAST_TEXT || op == EGA_GREATEST_TEXT || ega_is_placed(op)) return true;
  return (op == EGA_ADD_LO || op == EGA_ADD_LO_I) && Shape::op(layout, layout.mates[s]) == EGA_ADD_MID;
}

// ega_combine_long combines a sum of more than two words, of which state word s is the lowest. A
// signed lowest word may take one away from those above, which is adding words of ones to all of
// them.
template <class Shape, class Place>
__device__ __forceinline__ void ega_combine_long(const EgaLayout& layout, const Place& place, uint32_t slot,
                                                 const EgaRow<Shape>& row, uint32_t op, uint32_t s) {
  uint32_t before = Shape::hashes(layout) + Shape::keys(layout);
  uint64_t up = ega_add_low(place.word(slot, before + s), row.state(s), op == EGA_ADD_LO_I);
  uint64_t sign = static_cast<uint64_t>(static_cast<int64_t>(up) >> 63), carry = 0;
  do {
    s = layout.mates[s];
    uint64_t sum = row.state(s) + up, addend = sum + carry;
    carry = (sum < up) + (addend < carry);
    if (addend != 0) carry += atomicAdd(place.word(slot, before + s), addend) + addend < addend;
    up = sign;
  } while (Shape::op(layout, s) == EGA_ADD_MID);
}

// ega_combine_fine combines state word s, an EGA_SUM_FINE, and its mate.
template <class Shape, class Place>
__device__ __forceinline__ void ega_combine_fine(const EgaLayout& layout, const Place& place, uint32_t slot,
                                                 const EgaRow<Shape>& row, uint32_t s) {
  uint32_t before = Shape::hashes(layout) + Shape::keys(layout), mate = layout.mates[s];
  uint64_t* rest = place.word(slot, before + mate);
  double v = __builtin_bit_cast(double, row.state(s));
  double error = __builtin_bit_cast(double, row.state(mate));
  double taken = __builtin_bit_cast(double, atomicExch(rest, uint64_t(0)));
  error += ega_two_sum(v, taken);
  error += ega_add_double(reinterpret_cast<double*>(place.word(slot, before + s)), v + taken);
  if (error != 0) atomicAdd(reinterpret_cast<double*>(rest), error);
}

// ega_combine_least combines state word s, an EGA_LEAST, and those behind it. Those of the row are
// in order.
template <class Shape, class Place>
__device__ __forceinline__ void ega_combine_least(const EgaLayout& layout, const Place& place, uint32_t slot,
                                                  const EgaRow<Shape>& row, uint32_t s) {
  uint32_t before = Shape::hashes(layout) + Shape::keys(layout), last = s;
  while (Shape::op(layout, last) != EGA_LEAST_LAST) last = layout.mates[last];
  for (uint32_t from = s;; from = layout.mates[from]) {
    int64_t v = static_cast<int64_t>(row.state(from));
    if (v >= static_cast<int64_t>(ld_relaxed(place.word(slot, before + last)))) return;
    for (uint32_t to = s;; to = layout.mates[to]) {
      int64_t old = atomicMin(reinterpret_cast<int64_t*>(place.word(slot, before + to)), v);
      v = old > v ? old : v;
      if (to == last) break;
    }
    if (from == last) return;
  }
}

// ega_combine_text combines state word s, the prefix of a least or greatest text, and its mate.
template <class Shape, class Place>
__device__ __forceinline__ void ega_combine_text(const EgaLayout& layout, const Place& place, uint32_t slot,
                                                 const EgaRow<Shape>& row, uint32_t op, uint32_t s) {
  const uint32_t before = Shape::hashes(layout) + Shape::keys(layout), mate = layout.mates[s];
  const uint64_t prefix = row.state(s), ref = row.state(mate);
  if (ref == 0) return;
  uint64_t* first = place.word(slot, before + s);
  const uint64_t best = ld_relaxed(first);
  if (prefix != best) {
    if ((prefix < best) != (op == EGA_LEAST_TEXT)) return;  // PREFIX-FIRST
    if (op == EGA_LEAST_TEXT) {
      atomicMin(first, prefix);
    } else {
      atomicMax(first, prefix);
    }
  }
  uint64_t* word = place.word(slot, before + mate);
  for (uint64_t now = ld_relaxed(word); now != ref;) {
    if (now != 0 && ega_text_before(layout.texts, op == EGA_LEAST_TEXT ? now : ref, op == EGA_LEAST_TEXT ? ref : now)) return;
    const uint64_t met = atomicCAS(word, now, ref);
    if (met == now) return;
    now = met;
  }
}

template <class Shape, class Place>
__device__ __forceinline__ void ega_combine_rare(const EgaLayout& layout, const Place& place, uint32_t slot,
                                                 const EgaRow<Shape>& row, uint32_t op, uint32_t s) {
  if (op == EGA_SUM_FINE) {
    ega_combine_fine(layout, place, slot, row, s);
  } else if (op == EGA_LEAST) {
    ega_combine_least(layout, place, slot, row, s);
  } else if (op == EGA_LEAST_TEXT || op == EGA_GREATEST_TEXT) {
    ega_combine_text(layout, place, slot, row, op, s);
  } else if (ega_is_placed(op)) {
    ega_combine_placed(layout, place, slot, row, op, s);
  } else {
    ega_combine_long(layout, place, slot, row, op, s);
  }
}
