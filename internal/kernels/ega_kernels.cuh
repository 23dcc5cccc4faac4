// The kernels of aggregation, for one shape. A file ega_<shape>.cu has
//
//   EGA_KERNELS(<shape>, <type of the shape>)
//
// Rows are read in turns: thread i of T takes rows i, i + T, ..., so any number of blocks will do, of a multiple of 32
// threads, at most 1024 for shared and buckets, else 256. Only what says so has barriers.
//
//   clear    empties a table
//   probe    combines n rows into a table, linear probing from the slot of their hash on
//   place    phase 1 of SP-EGA: combines those of n rows whose first slot is free or theirs, and sets the bits of all
//            others; bits has a word for 32 rows
//   collect  phases 2 and 5: makes the groups of a table dense (barriers: ega_gather.cuh)
//   pick     phase 3: makes the rows whose bits are set dense (the same)
//   shared   combines n rows in a table a block has in shared memory, of `slots` slots in `parts` parts; a row that
//            finds no slot there within `probes` goes to the table in device memory at once, the others' groups go
//            there at the end
//   buckets  ega_buckets.cuh
//
// Dynamic shared memory of shared and buckets: (slots + 1) * stride words of 8 bytes, and 4 bytes a slot for keys of
// several words, 4 bytes in all for keys of one.
#pragma once

#include "ega_buckets.cuh"
#include "ega_gather.cuh"
#include "ega_warp.cuh"

template <class Shape>
__device__ __forceinline__ void ega_clear(const EgaLayout& layout, const EgaTable& table) {
  uint32_t stride = ega_stride<Shape>(layout);
  for (uint64_t slot = global_thread(); slot <= table.slots; slot += global_threads()) {
    if constexpr (__is_same(Shape, EgaPair)) {
      reinterpret_cast<EgaTwo*>(table.rows)[slot] = EgaTwo{EGA_EMPTY, 0};
    } else {
      for (uint32_t w = 0; w < stride; w++) table.rows[slot * stride + w] = ega_fresh<Shape>(layout, w);
    }
    if (slot < (Shape::SINGLE ? 1 : table.slots)) table.tags[slot] = 0;
  }
}

template <class Shape>
__device__ __forceinline__ void ega_probe(const EgaLayout& layout, const uint64_t* rows, uint64_t n,
                                          const EgaTable& table, const EgaRest& rest) {
  EgaGlobal place(table, ega_stride<Shape>(layout));
  ega_each<Shape>(layout, rows, global_thread(), n, global_threads(), [&](const EgaRow<Shape>& row) {
    ega_send(layout, place, rest, row);
    return true;
  });
}

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

// Barriers: the block's table is empty, all rows are in it.
template <class Shape>
__device__ __forceinline__ void ega_shared(const EgaLayout& layout, const uint64_t* rows, uint64_t n, uint32_t slots,
                                           uint32_t probes, uint32_t parts, const EgaTable& table,
                                           const EgaRest& rest) {
  DYNAMIC_SHARED(uint64_t, memory);
  EgaLocal local(memory, ega_stride<Shape>(layout), slots, table.skip, probes, parts);
  EgaGlobal place(table, ega_stride<Shape>(layout));
  ega_clear_local<Shape>(layout, local);
  __syncthreads();
  ega_each<Shape>(layout, rows, global_thread(), n, global_threads(), [&](const EgaRow<Shape>& row) {
    uint32_t slot = ega_find(layout, local, row);
    if (slot != EGA_NONE) {
      ega_combine(layout, local, slot, row);
    } else {
      ega_send(layout, place, rest, row);
    }
    return true;
  });
  __syncthreads();
  for (uint32_t slot = threadIdx.x; slot <= slots; slot += blockDim.x) {
    if (ega_used<Shape>(layout, local, slot)) ega_send(layout, place, rest, ega_taken<Shape>(layout, local, slot));
  }
}

#define EGA_KERNELS(name, Shape)                                                                                       \
  extern "C" __global__ void __launch_bounds__(256) ega_##name##_clear(EgaLayout layout, EgaTable table) {             \
    ega_clear<Shape>(layout, table);                                                                                   \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
      ega_##name##_probe(EgaLayout layout, const uint64_t* rows, uint64_t n, EgaTable table, EgaRest rest) {           \
    ega_probe<Shape>(layout, rows, n, table, rest);                                                                    \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
      ega_##name##_place(EgaLayout layout, const uint64_t* rows, uint64_t n, EgaTable table, uint32_t* bits) {         \
    ega_place<Shape>(layout, rows, n, table, bits);                                                                    \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
      ega_##name##_collect(EgaLayout layout, EgaTable table, EgaDense out, EgaScan scan) {                             \
    ega_gather<Shape>(layout, EgaSlots<Shape>{EgaGlobal(table, ega_stride<Shape>(layout))}, out, scan);                \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) ega_##name##_pick(                                                 \
      EgaLayout layout, const uint64_t* rows, uint64_t n, const uint32_t* bits, EgaDense out, EgaScan scan) {          \
    ega_gather<Shape>(layout, EgaBits<Shape>{rows, n, bits}, out, scan);                                               \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024)                                                                   \
      ega_##name##_shared(EgaLayout layout, const uint64_t* rows, uint64_t n, uint32_t slots, uint32_t probes,         \
                          uint32_t parts, EgaTable table, EgaRest rest) {                                              \
    ega_shared<Shape>(layout, rows, n, slots, probes, parts, table, rest);                                             \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024) ega_##name##_buckets(EgaLayout layout, EgaBuckets in) {           \
    ega_buckets<Shape>(layout, in);                                                                                    \
  }
