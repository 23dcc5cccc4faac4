// The lanes of a warp whose rows belong to one group combine them first, so that the group's words
// see one atomic and not up to 32 that take turns: for keys that are frequent, or come in runs.
//
// It costs a few dozen instructions a warp, so the lanes first ask whether any has the slot of its
// neighbour. A key that has a tenth of all rows is found so in one of four warps, one that has a
// third in nearly all.
#pragma once

#include "../ega_table.cuh"

// ega_fold combines a state word and its mate, both in registers, with another's: what
// ega_combine_word does, alone.
__device__ __forceinline__ void ega_fold(uint32_t op, uint64_t& v, uint64_t& mate, uint64_t w, uint64_t other_mate) {
  switch (op) {
    case EGA_ADD: v += w; return;
    case EGA_ADD_LO:
      v += w;
      mate += other_mate + (v < w);
      return;
    case EGA_ADD_LO_I: {
      uint64_t sum = v + w;
      bool over = static_cast<int64_t>((v ^ sum) & (w ^ sum)) < 0;
      mate += other_mate + (!over ? 0 : static_cast<int64_t>(w) < 0 ? ~uint64_t(0) : 1);
      v = sum;
      return;
    }
    case EGA_SUM: {
      double a = __builtin_bit_cast(double, v), b = __builtin_bit_cast(double, w), sum = a + b, rest = sum - a;
      double error = (a - (sum - rest)) + (b - rest);
      if (error - error != 0) error = 0;
      error += __builtin_bit_cast(double, mate) + __builtin_bit_cast(double, other_mate);
      v = __builtin_bit_cast(uint64_t, sum);
      mate = __builtin_bit_cast(uint64_t, error);
      return;
    }
    case EGA_MIN_I: v = static_cast<int64_t>(w) < static_cast<int64_t>(v) ? w : v; return;
    case EGA_MAX_I: v = static_cast<int64_t>(w) > static_cast<int64_t>(v) ? w : v; return;
    case EGA_MIN_U: v = w < v ? w : v; return;
    case EGA_MAX_U: v = w > v ? w : v; return;
    case EGA_MIN_F:
      v = ega_canonical(v), w = ega_canonical(w);
      if (ega_order(w) < ega_order(v)) v = w;
      return;
    case EGA_MAX_F:
      v = ega_canonical(v), w = ega_canonical(w);
      if (ega_order(w) > ega_order(v)) v = w;
      return;
    case EGA_AND: v &= w; return;
    case EGA_OR: v |= w; return;
    case EGA_XOR: v ^= w; return;
  }
}

// ega_fold_peers leaves in the first lane of each set of peers the combination of all of theirs.
// All lanes of a warp call, each with the mask of its peers. In every round each second of those
// that are left takes over the next one's, so that five rounds suffice.
__device__ __forceinline__ void ega_fold_peers(uint32_t op, uint32_t peers, uint64_t& v, uint64_t& mate) {
  uint32_t rank = __popc(peers & lanes_below());
  uint32_t left = peers & ~lanes_below() & ~(1u << lane_id());  // peers behind this lane
  while (__any_sync(FULL_MASK, left != 0)) {
    uint32_t next = left == 0 ? lane_id() : __ffs(left) - 1;
    uint64_t w = __shfl_sync(FULL_MASK, v, next), other_mate = __shfl_sync(FULL_MASK, mate, next);
    if (left != 0) ega_fold(op, v, mate, w, other_mate);
    left &= ~__ballot_sync(FULL_MASK, (rank & 1) != 0);  // those have been taken over
    rank /= 2;
  }
}

// ega_combine_warp combines the rows of a warp's lanes into their slots. All lanes call; `there`
// says who has a row.
template <class Shape>
__device__ __forceinline__ void ega_combine_warp(const EgaLayout& layout, const EgaGlobal& place, uint32_t slot,
                                                 const EgaRow<Shape>& row, bool there) {
  if (!there) slot = EGA_NONE;
  uint32_t neighbour = __shfl_down_sync(FULL_MASK, slot, 1);
  if (!__any_sync(FULL_MASK, there && lane_id() + 1 < warpSize && slot == neighbour)) {
    if (there) ega_combine(layout, place, slot, row);
    return;
  }
  uint32_t peers = __match_any_sync(FULL_MASK, slot), before = Shape::hashes(layout) + Shape::keys(layout);
  bool leads = there && (peers & lanes_below()) == 0;
  for (uint32_t s = 0; s < Shape::states(layout); s++) {
    uint32_t op = Shape::op(layout, s);
    uint32_t mate = ega_paired(op) ? layout.mates[s] : s;
    if (ega_is_rare<Shape>(layout, op, s)) {  // the same for all lanes; not worth handing around
      if (there) ega_combine_rare(layout, place, slot, row, op, s);
      continue;
    }
    uint64_t v = there ? row.state(s) : 0, mate_v = there && ega_paired(op) ? row.state(mate) : 0;
    ega_fold_peers(op, peers, v, mate_v);
    if (!leads) continue;
    ega_combine_word<EgaGlobal>(op, place.word(slot, before + s), v, place.word(slot, before + mate), mate_v);
  }
}
