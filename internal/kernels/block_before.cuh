// Prefix sums of a block with one barrier (scan.cuh has two and less work).
#pragma once

#include "scan.cuh"

// block_before adds up v of the threads before this one, with an addition whose 0 is 0; `total` becomes that of all threads.
// scratch is SCAN_SCRATCH words of shared memory. All threads of a block of whole warps call. The barrier is for the sums of
// the warps, which each warp adds up for itself; one more is needed before a block uses the scratch memory again.
template <class Add>
__device__ __forceinline__ uint32_t block_before(uint32_t v, const Add& add, uint32_t* scratch, uint32_t& total) {
  const auto through = [&](uint32_t sum) {
#pragma unroll
    for (uint32_t distance = 1; distance < warpSize; distance *= 2) {
      const uint32_t before = __shfl_up_sync(FULL_MASK, sum, distance);
      if (lane_id() >= distance) sum = add(sum, before);
    }
    return sum;
  };
  const auto before = [&](uint32_t sum, uint32_t lane) {  // of those through the lanes, before one of them
    const uint32_t value = __shfl_sync(FULL_MASK, sum, (lane + warpSize - 1) % warpSize);
    return lane == 0 ? 0 : value;
  };
  const uint32_t own = through(v);
  if (lane_id() == warpSize - 1) scratch[warp_id()] = own;
  __syncthreads();
  const uint32_t warps = through(lane_id() < blockDim.x / warpSize ? scratch[lane_id()] : 0);
  total = __shfl_sync(FULL_MASK, warps, warpSize - 1);
  return add(before(own, lane_id()), before(warps, warp_id()));
}
