// Prefix sums of a block.
//
// Who takes part: all threads of a block whose threads are whole warps. block_sum_before has two
// barriers, block_sum_up_to one; both need one more before a block uses the scratch memory again.
#pragma once

#include "device.cuh"

// Words of shared memory that block_sum_before needs: one a warp, of 32 at most.
constexpr uint32_t SCAN_SCRATCH = 32;

// warp_sum_through is the sum of v over the lanes up to and with this one; all lanes of a full warp
// call. Five rounds, in each of which a lane adds what the lane 1, 2, 4, 8, 16 before it has
// (Hillis and Steele 1986).
static __device__ __forceinline__ uint32_t warp_sum_through(uint32_t v) {
#pragma unroll
  for (uint32_t distance = 1; distance < warpSize; distance *= 2) {
    uint32_t before = __shfl_up_sync(FULL_MASK, v, distance);
    if (lane_id() >= distance) v += before;
  }
  return v;
}

// block_sum_before is the sum of v over the threads before this one; `total` becomes that of all
// threads. scratch is SCAN_SCRATCH words of shared memory. The first barrier is for the sums of the
// warps, the second for the sums of the warps before, which one warp makes of them.
static __device__ __forceinline__ uint32_t block_sum_before(uint32_t v, uint32_t* scratch, uint32_t& total) {
  uint32_t through = warp_sum_through(v);
  uint32_t warps = blockDim.x / warpSize;
  if (lane_id() == warpSize - 1) scratch[warp_id()] = through;
  __syncthreads();
  if (warp_id() == 0) {
    uint32_t sum = lane_id() < warps ? scratch[lane_id()] : 0;
    scratch[lane_id()] = warp_sum_through(sum);
  }
  __syncthreads();
  total = scratch[warps - 1];
  return through - v + (warp_id() == 0 ? 0 : scratch[warp_id() - 1]);
}

// block_list appends the numbers of the threads that say `listed` to a list, of which *count is how
// many it has, in any order of the blocks. All threads of a block call. scratch is as above; *first
// is a word of shared memory. The barrier is for it, and for the scratch memory: the next call may
// follow at once.
static __device__ __forceinline__ void block_list(bool listed, uint32_t number, uint32_t* list, uint64_t* count,
                                                  uint32_t* scratch, uint64_t* first) {
  uint32_t total;
  const uint32_t before = block_sum_before(listed ? 1 : 0, scratch, total);
  if (threadIdx.x == 0) *first = total == 0 ? 0 : atomicAdd(count, uint64_t(total));
  __syncthreads();
  if (listed) list[*first + before] = number;
}

// add_up_to is a + b, or `most` if that is less. All are less than 2^31.
static __device__ __forceinline__ uint32_t add_up_to(uint32_t a, uint32_t b, uint32_t most) {
  return a + b < most ? a + b : most;
}

// block_sum_up_to is the sum of v over the threads before this one, or `most` if it is more;
// `total` becomes that of all. v and most are less than 2^31. scratch is SCAN_SCRATCH words of
// shared memory. The barrier is for the sums of the warps, which each warp adds up for itself.
static __device__ __forceinline__ uint32_t block_sum_up_to(uint32_t v, uint32_t most, uint32_t* scratch, uint32_t& total) {
  const auto through = [&](uint32_t sum) {
#pragma unroll
    for (uint32_t distance = 1; distance < warpSize; distance *= 2) {
      const uint32_t before = __shfl_up_sync(FULL_MASK, sum, distance);
      if (lane_id() >= distance) sum = add_up_to(sum, before, most);
    }
    return sum;
  };
  const auto before_this = [&](uint32_t sum, uint32_t lane) {
    const uint32_t before = __shfl_sync(FULL_MASK, sum, (lane + warpSize - 1) % warpSize);
    return lane == 0 ? 0 : before;
  };
  const uint32_t own = through(v < most ? v : most);
  if (lane_id() == warpSize - 1) scratch[warp_id()] = own;
  __syncthreads();
  const uint32_t warps = through(lane_id() < blockDim.x / warpSize ? scratch[lane_id()] : 0);
  total = __shfl_sync(FULL_MASK, warps, warpSize - 1);
  return add_up_to(before_this(own, lane_id()), before_this(warps, warp_id()), most);
}
