// The kernels of the roads that no query takes (package ega/reference), for one shape. A file
// ega_reference_<shape>.cu has
//
//   EGA_REFERENCE_KERNELS(<shape>, <type of the shape>)
//
// Rows are read in turns, as in ega_kernels.cuh, and any number of blocks will do, of a multiple of
// 32 threads, at most 1024 for spans and buckets, else 256.
//
//   place    phase 1 of SP-EGA: combines those of n rows whose first slot is free or theirs, and
//            sets the bits of all others; bits has a word for 32 rows
//   pick     phase 3: makes the rows whose bits are set dense (barriers: ega_gather.cuh)
//   spans    shared of ega_kernels.cuh for rows spans[2 * b] to spans[2 * b + 1] in block b, for
//            the buckets that were left
//   buckets  ega_buckets.cuh
//
// Dynamic shared memory of spans and buckets: as that of shared.
#pragma once

#include "../ega_kernels.cuh"
#include "ega_buckets.cuh"
#include "ega_warp.cuh"

// EgaBits chooses the rows whose bits are set, 32 a word.
template <class Shape>
struct EgaBits {
  const uint64_t* rows;
  uint64_t n;
  const uint32_t* bits;

  __device__ __forceinline__ uint32_t chosen(const EgaLayout&, uint64_t first) const {
    return first < n ? bits[first / warpSize] : 0;
  }
  __device__ __forceinline__ EgaRow<Shape> row(const EgaLayout& layout, uint64_t i) const {
    return ega_row<Shape>(layout, rows, i);
  }
};

template <class Shape>
__device__ __forceinline__ void ega_place(const EgaLayout& layout, const uint64_t* rows, uint64_t n,
                                          const EgaTable& table, uint32_t* bits) {
  EgaGlobal place(table, ega_stride<Shape>(layout));
  uint64_t rounded = (n + warpSize - 1) / warpSize * warpSize;
  for (uint64_t i = global_thread(); i < rounded; i += global_threads()) {
    EgaRow<Shape> row;
    uint32_t slot = EGA_NONE;
    bool refused = false;
    if (i < n) {
      row = ega_row<Shape>(layout, rows, i);
      slot = place.start(row.hash);
      refused = (Shape::SINGLE && row.key[0] == EGA_EMPTY) || !ega_claim(layout, place, slot, row);
    }
    ega_combine_warp(layout, place, slot, row, i < n && !refused);
    uint32_t word = __ballot_sync(FULL_MASK, refused);
    if (lane_id() == 0) bits[i / warpSize] = word;
  }
}

template <class Shape>
__device__ __forceinline__ void ega_spans(const EgaLayout& layout, const uint64_t* rows, const uint32_t* spans,
                                          uint32_t slots, uint32_t probes, const EgaTable& table, const EgaRest& rest) {
  DYNAMIC_SHARED(uint64_t, memory);
  EgaLocal local(memory, ega_stride<Shape>(layout), slots, table.skip, probes, 1);
  uint64_t from = spans[2 * blockIdx.x], to = spans[2 * blockIdx.x + 1];
  ega_share<Shape>(layout, rows, from + threadIdx.x, to, blockDim.x, local, table, rest);
}

#define EGA_REFERENCE_KERNELS(name, Shape)                                                                             \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
      ega_reference_##name##_place(EgaLayout layout, const uint64_t* rows, uint64_t n, EgaTable table, uint32_t* bits) {\
    ega_place<Shape>(layout, rows, n, table, bits);                                                                    \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) ega_reference_##name##_pick(                                       \
      EgaLayout layout, const uint64_t* rows, uint64_t n, const uint32_t* bits, EgaDense out, EgaScan scan) {          \
    ega_gather<Shape>(layout, EgaBits<Shape>{rows, n, bits}, out, scan);                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024)                                                                   \
      ega_reference_##name##_spans(EgaLayout layout, const uint64_t* rows, const uint32_t* spans, uint32_t slots,      \
                                   uint32_t probes, EgaTable table, EgaRest rest) {                                    \
    ega_spans<Shape>(layout, rows, spans, slots, probes, table, rest);                                                 \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024) ega_reference_##name##_buckets(EgaLayout layout, EgaBuckets in) { \
    ega_buckets<Shape>(layout, in);                                                                                    \
  }
