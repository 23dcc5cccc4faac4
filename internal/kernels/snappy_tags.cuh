// Where the tags of a page are: what the first three kernels of parquet_snappy.cu look for by
// chain_page.cuh.
#pragma once

#include "snappy_page.cuh"

// SnappyElements is the elements of a block, as chain_page.cuh wants them.
struct SnappyElements {
  static constexpr uint32_t NEAR = 64;

  __device__ __forceinline__ uint32_t bytes(const uint8_t* at) const { return snappy_bytes(at); }

  __device__ __forceinline__ uint32_t behind(const uint8_t* at, uint32_t left) const {
    const uint32_t bytes = snappy_bytes(at);
    return bytes <= left ? bytes : CHAIN_NONE;
  }

  // The elements end where the page does (parquet_snappy_walk): each is in it as a whole.
  __device__ __forceinline__ uint32_t length(const uint8_t* at, uint32_t) const { return snappy_element(at).length; }

  __device__ __forceinline__ uint32_t most() const { return CHAIN_ENDLESS; }
};

// SnappyFront is what a page begins with: `count` literals of as many bytes each, tag included.
// Numbers come to little else: no four bytes of them are as before, and encoders that take 64 KiB
// at once leave a literal of each.
struct SnappyFront {
  uint32_t bytes, count;

  // covers tells whether no tag is in a window since it lies within one of the literals.
  __device__ __forceinline__ bool covers(uint32_t window) const {
    if (count == 0) return false;
    const uint32_t begin = window * CHAIN_WINDOW, literal = begin / bytes, from = begin % bytes;
    return literal < count && from != 0 && from + CHAIN_WINDOW <= bytes;
  }
};

// snappy_front finds the front of a page, of as many literals as a warp has lanes: each looks where
// one is if all before it are as the first. Shorter ones than two windows do not count. All lanes
// of a warp call.
static __device__ __forceinline__ SnappyFront snappy_front(const SnappyPage& page) {
  const uint32_t bytes = snappy_bytes(page.elements);
  if (bytes < 2 * CHAIN_WINDOW) return {0, 0};
  const uint64_t at = uint64_t(lane_id()) * bytes;
  const uint32_t others = ~__ballot_sync(FULL_MASK, at < page.n && snappy_bytes(page.elements + at) == bytes);
  return {bytes, others == 0 ? warpSize : uint32_t(__ffs(others)) - 1};
}
