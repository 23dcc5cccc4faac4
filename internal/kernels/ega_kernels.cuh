// The kernels of aggregation, for one shape. A file ega_<shape>.cu has
//
//   EGA_KERNELS(<shape>, <type of the shape>)
//
// Rows are read in turns: thread i of T takes rows i, i + T, ..., so any number of blocks will do,
// of a multiple of 32 threads, at most 1024 for shared, else 256. Only what says so has barriers.
//
//   clear    empties a table
//   probe    combines n rows into a table, linear probing from the slot of their hash on
//   collect  makes the groups of a table dense (barriers: ega_gather.cuh)
//   shared   combines n rows in a table a block has in shared memory, of `slots` slots in `parts`
//            parts; a row that finds no slot there within `probes` goes to the table in device
//            memory at once, the others' groups go there at the end
//
// probe and shared take nothing where the rest says stop.
//
// Dynamic shared memory of shared: (slots + 1) * stride words of 8 bytes, and 4 bytes a slot for
// keys of several words, 4 bytes in all for keys of one.
//
// The other kernels of paper 003, which no query launches, are in kerneltest/ega_reference.cuh.
#pragma once

#include "ega_gather.cuh"
#include "ega_local.cuh"

template <class Shape>
__device__ __forceinline__ void ega_clear(const EgaLayout& layout, const EgaTable& table) {
  const uint64_t slots = uint64_t(table.slots) + 1;
  if constexpr (__is_same(Shape, EgaPair)) {
    for (uint64_t slot = global_thread(); slot < slots; slot += global_threads()) {
      reinterpret_cast<EgaTwo*>(table.rows)[slot] = EgaTwo{EGA_EMPTY, 0};
    }
  } else {  // neighbors write neighboring words, of which each thread knows the place in its row
    const uint32_t stride = ega_stride<Shape>(layout), step = static_cast<uint32_t>(global_threads() % stride);
    uint32_t w = static_cast<uint32_t>(global_thread() % stride);
    for (uint64_t i = global_thread(); i < slots * stride; i += global_threads()) {
      table.rows[i] = ega_fresh<Shape>(layout, w);
      w += step;
      if (w >= stride) w -= stride;
    }
  }
  for (uint64_t tag = global_thread(); tag < (Shape::SINGLE ? 1 : table.slots); tag += global_threads()) table.tags[tag] = 0;
}

template <class Shape>
__device__ __forceinline__ void ega_probe(const EgaLayout& layout, const uint64_t* rows, uint64_t n,
                                          const EgaTable& table, const EgaRest& rest) {
  if (ega_stopped(rest)) return;
  EgaGlobal place(table, ega_stride<Shape>(layout));
  ega_each<Shape>(layout, rows, global_thread(), n, global_threads(), [&](const EgaRow<Shape>* batch, uint32_t there) EGA_INLINE {
    ega_send_batch(layout, place, rest, batch, there);
    return true;
  });
}

// ega_share combines rows from, from + step, ... of each thread, below `to`, in the table of its
// block, whose groups then go to the table in device memory. Barriers: the block's table is empty,
// all rows are in it. What goes there, rows that found no slot and groups, is counted where
// rest.sent says: as much as there were rows if no two of a block's met.
template <class Shape>
__device__ __forceinline__ void ega_share(const EgaLayout& layout, const uint64_t* rows, uint64_t from, uint64_t to,
                                          uint64_t step, const EgaLocal& local, const EgaTable& table,
                                          const EgaRest& rest) {
  EgaGlobal place(table, ega_stride<Shape>(layout));
  uint32_t sent = 0;  // by this thread
  ega_clear_local<Shape>(layout, local);
  __syncthreads();
  ega_each<Shape>(layout, rows, from, to, step, [&](const EgaRow<Shape>* batch, uint32_t there) EGA_INLINE {
    uint32_t found[Shape::BATCH], missed = 0;
    ega_find_batch(layout, local, batch, there, found);
#pragma unroll
    for (uint32_t b = 0; b < Shape::BATCH; b++) {
      if ((there >> b & 1) == 0) continue;
      if (found[b] != EGA_NONE) {
        ega_combine(layout, local, found[b], batch[b]);
      } else {
        missed |= 1u << b;
      }
    }
    if (__any_sync(FULL_MASK, missed != 0)) ega_send_batch(layout, place, rest, batch, missed);
    sent += __popc(missed);
    return true;
  });
  __syncthreads();
  for (uint32_t first = 0; first <= local.slots; first += blockDim.x) {
    uint32_t slot = first + threadIdx.x;
    EgaRow<Shape> group[Shape::BATCH];
    uint32_t there = slot <= local.slots && ega_used<Shape>(layout, local, slot) ? 1 : 0;
    if (there != 0) group[0] = ega_taken<Shape>(layout, local, slot);
    ega_send_batch(layout, place, rest, group, there);
    sent += there;
  }
  if (rest.sent != nullptr) ega_add_up(rest.sent, sent);
}

template <class Shape>
__device__ __forceinline__ void ega_shared(const EgaLayout& layout, const uint64_t* rows, uint64_t n, uint32_t slots,
                                           uint32_t probes, uint32_t parts, const EgaTable& table,
                                           const EgaRest& rest) {
  if (ega_stopped(rest)) return;
  DYNAMIC_SHARED(uint64_t, memory);
  EgaLocal local(memory, ega_stride<Shape>(layout), slots, table.skip, probes, parts);
  ega_share<Shape>(layout, rows, global_thread(), n, global_threads(), local, table, rest);
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
      ega_##name##_collect(EgaLayout layout, EgaTable table, EgaDense out, EgaScan scan) {                             \
    ega_gather<Shape>(layout, EgaSlots<Shape>{EgaGlobal(table, ega_stride<Shape>(layout))}, out, scan);                \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024)                                                                   \
      ega_##name##_shared(EgaLayout layout, const uint64_t* rows, uint64_t n, uint32_t slots, uint32_t probes,         \
                          uint32_t parts, EgaTable table, EgaRest rest) {                                              \
    ega_shared<Shape>(layout, rows, n, slots, probes, parts, table, rest);                                             \
  }
