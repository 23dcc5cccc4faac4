// Aggregates buckets, each by one block in shared memory.
//
// A bucket is rows next to each other that hold all rows of their keys. Its block combines them in
// a table of its own, counts the groups, takes room for them with one atomic, and writes them. A
// bucket with more rows than one block should read, or more groups than its table holds, is left:
// its number is noted, its rows are as they were, none of its groups is written. So it can go
// another way as a whole.
#pragma once

#include "../ega_local.cuh"

// EgaBuckets is what the kernel works on.
struct EgaBuckets {
  const uint64_t* rows;
  const uint32_t* offsets;  // bucket b is rows [offsets[b], offsets[b + 1])
  uint32_t buckets;
  uint32_t skip;        // top bits of the hash that chose the bucket, below 32
  uint32_t slots;       // of the table
  uint32_t probes;      // slots that are looked at, 1 to slots
  uint64_t most;        // rows of a bucket
  uint64_t* out;        // room for as many rows as there are
  uint64_t* out_count;  // groups
  uint32_t* left;       // numbers of buckets; room for all
  uint32_t* left_count;
};

// ega_combine_bucket combines the rows of a bucket in the block's table. *full becomes 1 when a key
// finds no slot, and the warps stop. They read it without a barrier: a warp that sees it late has
// read rows for nothing. What becomes of the bucket is decided behind the barrier that the caller
// has, where all see the same.
template <class Shape>
__device__ __forceinline__ void ega_combine_bucket(const EgaLayout& layout, const EgaBuckets& in, const EgaLocal& table,
                                                   uint64_t from, uint64_t to, uint32_t* full) {
  ega_each<Shape>(layout, in.rows, from + threadIdx.x, to, blockDim.x, [&](const EgaRow<Shape>* batch, uint32_t there) EGA_INLINE {
    uint32_t slots[Shape::BATCH];
    ega_find_batch(layout, table, batch, there, slots);
    bool none = false;
#pragma unroll
    for (uint32_t b = 0; b < Shape::BATCH; b++) {
      if ((there >> b & 1) == 0) continue;
      none |= slots[b] == EGA_NONE;
      if (slots[b] != EGA_NONE) ega_combine(layout, table, slots[b], batch[b]);
    }
    if (none) st_relaxed(full, 1u);
    return !__any_sync(FULL_MASK, ld_relaxed(full) != 0);
  });
}

// ega_write_bucket appends the groups of the block's table to the output. Each warp has a stretch
// of slots, which it looks at twice: to count, and to write. The first barrier is for the counts,
// the second for the place of the block.
template <class Shape>
__device__ __forceinline__ void ega_write_bucket(const EgaLayout& layout, const EgaBuckets& in, const EgaLocal& table) {
  __shared__ uint32_t counts[32];
  __shared__ uint64_t place;
  uint32_t warps = blockDim.x / warpSize, rounds = (table.slots + warps * warpSize) / (warps * warpSize);
  uint32_t first = warp_id() * rounds * warpSize + lane_id(), count = 0;
  auto used = [&](uint32_t slot) {
    return __ballot_sync(FULL_MASK, slot <= table.slots && ega_used<Shape>(layout, table, slot));
  };
  for (uint32_t r = 0; r < rounds; r++) count += __popc(used(first + r * warpSize));
  if (lane_id() == 0) counts[warp_id()] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t sum = 0;
    for (uint32_t w = 0; w < warps; w++) {
      uint32_t own = counts[w];
      counts[w] = sum;
      sum += own;
    }
    place = atomicAdd(in.out_count, uint64_t(sum));
  }
  __syncthreads();
  uint64_t at = place + counts[warp_id()];
  for (uint32_t r = 0; r < rounds; r++) {
    uint32_t slot = first + r * warpSize, mask = used(slot);
    if ((mask >> lane_id() & 1) != 0) {
      ega_write(layout, in.out, at + __popc(mask & lanes_below()), ega_taken<Shape>(layout, table, slot));
    }
    at += __popc(mask);
  }
}

// ega_buckets is the kernel. Threads a block: a multiple of 32; any number of blocks, which take
// buckets in turn. Barriers: the table is empty, all rows are in it, and the last bucket has been
// written before its table is emptied.
template <class Shape>
__device__ __forceinline__ void ega_buckets(const EgaLayout& layout, const EgaBuckets& in) {
  DYNAMIC_SHARED(uint64_t, memory);
  __shared__ uint32_t full;
  EgaLocal table(memory, ega_stride<Shape>(layout), in.slots, in.skip, in.probes, 1);
  for (uint32_t b = blockIdx.x; b < in.buckets; b += gridDim.x) {
    uint64_t from = in.offsets[b], to = in.offsets[b + 1];
    if (from == to) continue;
    bool long_one = to - from > in.most;
    if (!long_one) {
      ega_clear_local<Shape>(layout, table);
      if (threadIdx.x == 0) full = 0;
      __syncthreads();
      ega_combine_bucket<Shape>(layout, in, table, from, to, &full);
      __syncthreads();
    }
    if (long_one || full != 0) {
      if (threadIdx.x == 0) in.left[atomicAdd(in.left_count, 1u)] = b;
    } else {
      ega_write_bucket<Shape>(layout, in, table);
    }
    __syncthreads();
  }
}
