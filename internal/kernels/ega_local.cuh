// What the kernels with tables in shared memory have in common: rows are read in batches, and the
// table of a block is emptied by all of its threads.
#pragma once

#include "ega_table.cuh"

// EGA_INLINE stands behind the parameters of a lambda: the compiler makes no function of it,
// whatever its size.
#define EGA_INLINE __attribute__((always_inline))

// ega_each calls f(batch, there) for rows from, from + step, ... below `to`, with several reads
// under way at once: bit b of `there` says whether batch[b] is a row. f says whether to go on. The
// lanes of a full warp call, with `from` one after the other, and make as many rounds, so that f
// may have them meet: lanes that once went different ways through a loop do not meet again by
// themselves before its end, and until then each goes its own way for all rows
// (docs/experiments/0006). f is an EGA_INLINE: a call of it would have the layout, the rest and the
// batch in local memory, some 300 bytes a thread.
template <class Shape, class F>
__device__ __forceinline__ void ega_each(const EgaLayout& layout, const uint64_t* rows, uint64_t from, uint64_t to,
                                         uint64_t step, const F& f) {
  uint64_t warp = from - lane_id();
  for (; warp < to; warp += Shape::BATCH * step, from += Shape::BATCH * step) {
    EgaRow<Shape> batch[Shape::BATCH];
    uint32_t there = 0;
#pragma unroll
    for (uint32_t b = 0; b < Shape::BATCH; b++) {
      if (from + b * step >= to) continue;
      batch[b] = ega_row<Shape>(layout, rows, from + b * step);
      there |= 1u << b;
    }
    if (!f(batch, there)) return;
    __syncwarp(FULL_MASK);
  }
}

// ega_clear_local empties a table in shared memory. The caller has a barrier behind it.
template <class Shape>
__device__ __forceinline__ void ega_clear_local(const EgaLayout& layout, const EgaLocal& table) {
  for (uint32_t w = 0; w < ega_stride<Shape>(layout); w++) {
    uint64_t fresh = ega_fresh<Shape>(layout, w);
    for (uint32_t slot = threadIdx.x; slot <= table.slots; slot += blockDim.x) *table.word(slot, w) = fresh;
  }
  uint32_t tags = Shape::SINGLE ? 1 : table.slots;
  for (uint32_t slot = threadIdx.x; slot < tags; slot += blockDim.x) *table.tag(slot) = 0;
}
