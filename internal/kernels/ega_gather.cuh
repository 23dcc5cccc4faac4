// Makes rows dense in one pass over what they are chosen from: slots of a table (or rows of an
// array: kerneltest/ega_reference.cuh).
//
// A block takes a tile of EGA_TILE_ITEMS elements a thread; a warp takes 32 * EGA_TILE_ITEMS next
// to each other. The place of a row is the number of chosen elements before it. Within a tile they
// are counted by ballots; how many there are in all tiles before is found by decoupled look-back
// (Merrill and Garland 2016): a block tells its count at once, and adds up the counts told by the
// tiles before it until it meets a tile that knows its sum. So the elements are read once, and the
// rows keep their order: those of a table come out in the order of their slots (HASH-ORDER).
//
// A tile's word in EgaScan goes from 0 to SCAN_COUNT + its count to SCAN_SUM + the sum up to its
// end. Flag and number are one word, which needs no fence. A block waits for blocks before it only
// (RESIDENT-ORDER), of which the first waits for none.
#pragma once

#include "ega_table.cuh"

// Elements a thread looks at.
constexpr uint32_t EGA_TILE_ITEMS = 8;

constexpr uint64_t SCAN_COUNT = uint64_t(1) << 62, SCAN_SUM = uint64_t(2) << 62, SCAN_NUMBER = SCAN_COUNT - 1;

// EgaScan is the memory of one pass.
struct EgaScan {
  uint64_t* tiles;  // a word a block, 0 before
  uint64_t* total;  // becomes the number of rows that were chosen
};

// EgaDense is where they go: the k-th, from 0, becomes row at + k, or row at - 1 - k.
struct EgaDense {
  uint64_t* rows;
  uint64_t at;
  uint32_t down;  // 1: the latter
};

// ega_look_back returns the sum of the counts of all tiles before this one. The lanes of one full
// warp call it.
__device__ __forceinline__ uint64_t ega_look_back(uint64_t* tiles, uint32_t tile, uint64_t count) {
  if (lane_id() == 0) st_relaxed(tiles + tile, (tile == 0 ? SCAN_SUM : SCAN_COUNT) + count);
  if (tile == 0) return 0;
  uint64_t before = 0;
  for (uint32_t end = tile;; end -= warpSize) {
    uint64_t state = SCAN_SUM;  // of what is before the first tile
    if (lane_id() < end) {
      do state = ld_relaxed(tiles + end - 1 - lane_id());
      while (state == 0);
    }
    uint32_t sums = __ballot_sync(FULL_MASK, state >= SCAN_SUM);
    uint32_t nearest = sums == 0 ? warpSize - 1 : __ffs(sums) - 1;
    uint64_t part = lane_id() <= nearest ? state & SCAN_NUMBER : 0;
    for (uint32_t distance = 16; distance > 0; distance /= 2) part += __shfl_xor_sync(FULL_MASK, part, distance);
    before += part;
    if (sums != 0) break;
  }
  if (lane_id() == 0) st_relaxed(tiles + tile, SCAN_SUM + before + count);
  return before;
}

// EgaSlots chooses the slots in use of a table.
template <class Shape>
struct EgaSlots {
  EgaGlobal place;

  __device__ __forceinline__ uint32_t chosen(const EgaLayout& layout, uint64_t first) const {
    uint64_t slot = first + lane_id();
    bool used = slot <= place.table.slots && ega_used<Shape>(layout, place, static_cast<uint32_t>(slot));
    return __ballot_sync(FULL_MASK, used);
  }
  __device__ __forceinline__ EgaRow<Shape> row(const EgaLayout& layout, uint64_t i) const {
    return ega_taken<Shape>(layout, place, static_cast<uint32_t>(i));
  }
};

// ega_gather is the whole pass. Threads a block: a multiple of 32; blocks: one a tile, and none
// without. The first barrier is for the counts of the warps, the second for what comes before the
// block.
template <class Shape, class Source>
__device__ __forceinline__ void ega_gather(const EgaLayout& layout, const Source& source, const EgaDense& out,
                                           const EgaScan& scan) {
  __shared__ uint32_t counts[32];
  __shared__ uint64_t before;
  uint32_t warps = blockDim.x / warpSize;
  uint64_t first = (uint64_t(blockIdx.x) * warps + warp_id()) * (warpSize * EGA_TILE_ITEMS);
  uint32_t masks[EGA_TILE_ITEMS], count = 0;
#pragma unroll
  for (uint32_t j = 0; j < EGA_TILE_ITEMS; j++) {
    masks[j] = source.chosen(layout, first + j * warpSize);
    count += __popc(masks[j]);
  }
  if (lane_id() == 0) counts[warp_id()] = count;
  __syncthreads();
  if (warp_id() == 0) {
    uint32_t own = lane_id() < warps ? counts[lane_id()] : 0, through = own;
    for (uint32_t distance = 1; distance < warpSize; distance *= 2) {
      uint32_t left = __shfl_up_sync(FULL_MASK, through, distance);
      if (lane_id() >= distance) through += left;
    }
    counts[lane_id()] = through - own;
    uint32_t all = __shfl_sync(FULL_MASK, through, warpSize - 1);
    uint64_t sum = ega_look_back(scan.tiles, blockIdx.x, all);
    if (lane_id() == 0) before = sum;
    if (lane_id() == 0 && blockIdx.x + 1 == gridDim.x) *scan.total = sum + all;
  }
  __syncthreads();
  uint64_t at = before + counts[warp_id()];
#pragma unroll
  for (uint32_t j = 0; j < EGA_TILE_ITEMS; j++) {
    if ((masks[j] >> lane_id() & 1) != 0) {
      uint64_t k = at + __popc(masks[j] & lanes_below());
      k = out.down != 0 ? out.at - 1 - k : out.at + k;
      ega_write(layout, out.rows, k, source.row(layout, first + j * warpSize + lane_id()));
    }
    at += __popc(masks[j]);
  }
}
