// Chains of elements that say themselves where the next one begins: the tags of a Snappy block, strings with their
// length in front. Where the elements are is found without walking from one to the next.
//
// Terms: a window is bytes at the positions 0 to blockDim.x * SEGMENTS - 1, a segment 32 of them, which a warp holds in
// one register a lane; a warp has SEGMENTS segments next to each other. next(p) is where an element that begins at p
// ends, p + 1 or more, whether or not one does begin there. What is not a position of the window, up to 65535, ends the
// chain there and may mean what the caller likes.
//
// Phases (pointer jumping, Wyllie 1979; JáJá 1992, section 2.2; here in three levels):
//
//  1. For each position: where the chain through it leaves its segment, by rounds of shuffles, each of which doubles the
//     steps. What 1, 2, 4, … steps come to is kept.
//  2. For each position: where that chain leaves the positions of its warp, by further shuffles. It goes to `exits`.
//  3. Each warp goes from the first element through the exits until it comes to its own positions, a step a warp at most.
//  4. Lane k finds the k-th element of a segment: k in binary chooses among the jumps of phase 1.
//  5. The warps' numbers of elements are added up, which gives each element its number.
//
// Cost, with four segments: some 40 instructions a position for 1 and 2, and 75 for 3 to 5, beside next, no matter how
// many elements there are; and as many reads of shared memory one after the other as the block has warps.
#pragma once

#include "device.cuh"

#include "scan.cuh"

// CHAIN_END is at least what is no position of any window.
constexpr uint32_t CHAIN_END = 0x8000;

// chain_jumps is phase 1: jump[s][r] becomes where 2^r steps from this lane's position in segment s of its warp lead
// to, or as far as the first position outside of the segment.
template <uint32_t SEGMENTS, uint32_t POWERS, class Next>
__device__ __forceinline__ void chain_jumps(const Next& next, uint32_t (&jump)[SEGMENTS][POWERS]) {
#pragma unroll
  for (uint32_t s = 0; s < SEGMENTS; s++) {
    const uint32_t segment = warp_id() * SEGMENTS + s;
    jump[s][0] = next(segment * warpSize + lane_id());
#pragma unroll
    for (uint32_t r = 0; r + 1 < POWERS; r++) {
      const uint32_t at = jump[s][r], there = __shfl_sync(FULL_MASK, at, at % warpSize);
      jump[s][r + 1] = at / warpSize == segment ? there : at;
    }
  }
}

// chain_exits is phase 2: from the last segment of the warp to the first, since those behind are then known.
template <uint32_t SEGMENTS, uint32_t POWERS>
__device__ __forceinline__ void chain_exits(const uint32_t (&jump)[SEGMENTS][POWERS], uint16_t* exits) {
  const uint32_t first = warp_id() * SEGMENTS;
  uint32_t leave[SEGMENTS];
#pragma unroll
  for (uint32_t s = SEGMENTS; s-- > 0;) {
    const uint32_t at = jump[s][POWERS - 1];
    leave[s] = at;
#pragma unroll
    for (uint32_t behind = s + 1; behind < SEGMENTS; behind++) {
      const uint32_t there = __shfl_sync(FULL_MASK, leave[behind], at % warpSize);
      if (at / warpSize == first + behind) leave[s] = there;
    }
    exits[(first + s) * warpSize + lane_id()] = static_cast<uint16_t>(leave[s]);
  }
}

// chain_visit is phases 3 and 4, for the chain from `entry` on: found[s] becomes the position of the lane-th element
// that begins in segment s, or CHAIN_END. It returns how many elements begin in the segments of this warp.
template <uint32_t SEGMENTS, uint32_t POWERS>
__device__ __forceinline__ uint32_t chain_visit(const uint32_t (&jump)[SEGMENTS][POWERS], const uint16_t* exits,
                                                uint32_t entry, uint32_t (&found)[SEGMENTS]) {
  const uint32_t first = warp_id() * SEGMENTS;
  uint32_t count = 0;
  while (entry < first * warpSize) entry = exits[entry];
#pragma unroll
  for (uint32_t s = 0; s < SEGMENTS; s++) {
    found[s] = CHAIN_END;
    if (entry / warpSize != first + s) continue;  // the same for all lanes
    uint32_t at = entry;
#pragma unroll
    for (uint32_t r = 0; r + 1 < POWERS; r++) {
      const uint32_t there = __shfl_sync(FULL_MASK, jump[s][r], at % warpSize);
      if ((lane_id() >> r & 1) != 0 && at / warpSize == first + s) at = there;
    }
    if (lane_id() < 1u << (POWERS - 1) && at / warpSize == first + s) found[s] = at;
    count += __popc(__ballot_sync(FULL_MASK, found[s] != CHAIN_END));
    entry = __shfl_sync(FULL_MASK, jump[s][POWERS - 1], entry % warpSize);
  }
  return count;
}

// chain_find writes the positions of the elements on the chain from `entry` on to positions, in order, and returns how
// many there are in the window.
//
// All threads of the block call, whole warps. ROUNDS is such that no more than 2^ROUNDS elements begin in 32 positions:
// 4 if they are 2 bytes long or longer, 3 if 4. exits is shared memory for a word a position, counts is SCAN_SCRATCH
// words of it. The barriers: behind the exits, behind the counts of the warps, and behind the positions, so that they
// can be read and the rest be used again.
template <uint32_t SEGMENTS, uint32_t ROUNDS, class Next>
__device__ __forceinline__ uint32_t chain_find(const Next& next, uint32_t entry, uint16_t* exits, uint32_t* counts,
                                               uint16_t* positions) {
  static_assert(ROUNDS <= 5, "a lane for each element that begins in a segment");
  uint32_t jump[SEGMENTS][ROUNDS + 1], found[SEGMENTS];
  chain_jumps(next, jump);
  chain_exits(jump, exits);
  __syncthreads();
  const uint32_t own = chain_visit(jump, exits, entry, found);
  if (lane_id() == 0) counts[warp_id()] = own;
  __syncthreads();
  const uint32_t through = warp_sum_through(lane_id() < blockDim.x / warpSize ? counts[lane_id()] : 0);
  uint32_t number = __shfl_sync(FULL_MASK, through, warp_id()) - own;
#pragma unroll
  for (uint32_t s = 0; s < SEGMENTS; s++) {
    const bool has = found[s] != CHAIN_END;
    if (has) positions[number + lane_id()] = static_cast<uint16_t>(found[s]);
    number += __popc(__ballot_sync(FULL_MASK, has));
  }
  __syncthreads();
  return __shfl_sync(FULL_MASK, through, warpSize - 1);
}
