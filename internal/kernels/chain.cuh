// Chains of elements that say themselves where the next one begins: the tags of a Snappy block,
// strings with their length in front. Where the elements are is found without walking from one to
// the next.
//
// Terms: a window is bytes at the positions 0 to blockDim.x * SEGMENTS - 1, a segment 32 of them,
// which a warp holds in one register a lane; a warp has SEGMENTS segments next to each other.
// next(p) is where an element that begins at p ends, p + 1 or more, whether or not one does begin
// there. What is not a position of the window, up to 65535, ends the chain there and may mean what
// the caller likes.
//
// Phases (pointer jumping, Wyllie 1979; JáJá 1992, section 2.2; here in three levels):
//
//  1. For each position: where the chain through it leaves its segment, and which positions of it
//     it comes by, by rounds of shuffles, each of which doubles the steps.
//  2. For each position: where that chain leaves the positions of its warp, by further shuffles. It
//     goes to `exits`.
//  3. Each warp goes from the first element through the exits until it comes to its own positions,
//     a step a warp at most, and then from segment to segment, where phase 1 knows the elements.
//  4. The warps' numbers of elements are added up, which gives each element its number.
//
// Cost, with four segments: some 40 instructions a position for 1 and 2, and 20 for 3 and 4, beside
// next, no matter how many elements there are; and as many reads of shared memory one after the
// other as the block has warps.
#pragma once

#include "device.cuh"

#include "scan.cuh"

// ChainLinks is what a lane knows of its positions, one in each segment of its warp.
template <uint32_t SEGMENTS>
struct ChainLinks {
  uint32_t leave[SEGMENTS];  // where the chain from there leaves the segment
  uint32_t seen[SEGMENTS];   // the positions of the segment on that chain, itself among them, a bit each
};

// chain_link is phase 1. ROUNDS is such that no more than 2^ROUNDS elements begin in 32 positions:
// 4 if they are 2 bytes long or longer, 3 if 4. Without SEEN, nothing is said of what chains come
// by.
template <uint32_t SEGMENTS, uint32_t ROUNDS, bool SEEN, class Next>
__device__ __forceinline__ void chain_link(const Next& next, ChainLinks<SEGMENTS>& links) {
#pragma unroll
  for (uint32_t s = 0; s < SEGMENTS; s++) {
    const uint32_t segment = warp_id() * SEGMENTS + s;
    uint32_t at = next(segment * warpSize + lane_id()), seen = 1u << lane_id();
#pragma unroll
    for (uint32_t r = 0; r < ROUNDS; r++) {
      const bool inside = at / warpSize == segment;
      if constexpr (SEEN) {
        const uint32_t more = __shfl_sync(FULL_MASK, seen, at % warpSize);
        seen |= inside ? more : 0;
      }
      const uint32_t there = __shfl_sync(FULL_MASK, at, at % warpSize);
      at = inside ? there : at;
    }
    links.leave[s] = at;
    links.seen[s] = seen;
  }
}

// chain_exits is phase 2: from the last segment of the warp to the first, since those behind are
// then known.
template <uint32_t SEGMENTS>
__device__ __forceinline__ void chain_exits(const ChainLinks<SEGMENTS>& links, uint16_t* exits) {
  const uint32_t first = warp_id() * SEGMENTS;
  uint32_t leave[SEGMENTS];
#pragma unroll
  for (uint32_t s = SEGMENTS; s-- > 0;) {
    const uint32_t at = links.leave[s];
    leave[s] = at;
#pragma unroll
    for (uint32_t behind = s + 1; behind < SEGMENTS; behind++) {
      const uint32_t there = __shfl_sync(FULL_MASK, leave[behind], at % warpSize);
      if (at / warpSize == first + behind) leave[s] = there;
    }
    exits[(first + s) * warpSize + lane_id()] = static_cast<uint16_t>(leave[s]);
  }
}

// chain_visit is phase 3, for the chain from `entry` on: seen[s] becomes the elements that begin in
// segment s, a bit each, the same for all lanes. It returns how many begin in the segments of this
// warp.
template <uint32_t SEGMENTS>
__device__ __forceinline__ uint32_t chain_visit(const ChainLinks<SEGMENTS>& links, const uint16_t* exits, uint32_t entry,
                                                uint32_t (&seen)[SEGMENTS]) {
  const uint32_t first = warp_id() * SEGMENTS;
  uint32_t count = 0;
  while (entry < first * warpSize) entry = exits[entry];
#pragma unroll
  for (uint32_t s = 0; s < SEGMENTS; s++) {
    const uint32_t lane = entry % warpSize;
    const uint32_t there = __shfl_sync(FULL_MASK, links.leave[s], lane), all = __shfl_sync(FULL_MASK, links.seen[s], lane);
    const bool enters = entry / warpSize == first + s;
    seen[s] = enters ? all : 0;
    if (enters) entry = there;
    count += __popc(seen[s]);
  }
  return count;
}

// chain_find writes the positions of the elements on the chain from `entry` on to positions, in
// order, and returns how many there are in the window.
//
// All threads of the block call, whole warps. ROUNDS: see chain_link. exits is shared memory for a
// word a position, counts is SCAN_SCRATCH words of it. The barriers: behind the exits, behind the
// counts of the warps, and behind the positions, so that they can be read and the rest be used
// again.
template <uint32_t SEGMENTS, uint32_t ROUNDS, class Next>
__device__ __forceinline__ uint32_t chain_find(const Next& next, uint32_t entry, uint16_t* exits, uint32_t* counts,
                                               uint16_t* positions) {
  ChainLinks<SEGMENTS> links;
  uint32_t seen[SEGMENTS];
  chain_link<SEGMENTS, ROUNDS, true>(next, links);
  chain_exits(links, exits);
  __syncthreads();
  const uint32_t own = chain_visit(links, exits, entry, seen);
  if (lane_id() == 0) counts[warp_id()] = own;
  __syncthreads();
  const uint32_t through = warp_sum_through(lane_id() < blockDim.x / warpSize ? counts[lane_id()] : 0);
  uint32_t number = __shfl_sync(FULL_MASK, through, warp_id()) - own;
#pragma unroll
  for (uint32_t s = 0; s < SEGMENTS; s++) {
    const uint32_t position = (warp_id() * SEGMENTS + s) * warpSize + lane_id();
    if ((seen[s] >> lane_id() & 1) != 0) positions[number + __popc(seen[s] & lanes_below())] = static_cast<uint16_t>(position);
    number += __popc(seen[s]);
  }
  __syncthreads();
  return __shfl_sync(FULL_MASK, through, warpSize - 1);
}
