// The collectives of device.cuh. Every thread of the grid takes part with an element of its own:
// mask[i] is what lane i of its warp names, and the masks of a warp divide its lanes, so each group
// of lanes meets for itself (MASKS).
#include "../device.cuh"

// warp_vote gives three words a thread: ballot, any, all.
extern "C" __global__ void warp_vote(const uint32_t* mask, const uint32_t* in, uint32_t* out) {
  const uint32_t i = global_thread();
  out[3 * i] = __ballot_sync(mask[i], in[i] & 1);
  out[3 * i + 1] = __any_sync(mask[i], in[i] & 1);
  out[3 * i + 2] = __all_sync(mask[i], in[i] & 1);
}

// warp_match finds the lanes with the caller's value, of 32 and of 64 bits: two words a thread.
extern "C" __global__ void warp_match(const uint32_t* mask, const uint32_t* in, const uint64_t* in_long,
                                      uint32_t* out) {
  const uint32_t i = global_thread();
  out[2 * i] = __match_any_sync(mask[i], in[i]);
  out[2 * i + 1] = __match_any_sync(mask[i], in_long[i]);
}

// shuffle_all is the four shuffles, their results side by side.
template <class T>
static __device__ __forceinline__ void shuffle_all(uint32_t mask, T v, uint32_t argument, uint32_t width, T* out) {
  out[0] = __shfl_sync(mask, v, argument, width);
  out[1] = __shfl_up_sync(mask, v, argument, width);
  out[2] = __shfl_down_sync(mask, v, argument, width);
  out[3] = __shfl_xor_sync(mask, v, argument, width);
}

// warp_shuffle moves values of 32 bits by argument[i], in segments of width lanes.
extern "C" __global__ void warp_shuffle(const uint32_t* mask, const uint32_t* in, const uint32_t* argument,
                                        uint32_t width, uint32_t* out) {
  const uint32_t i = global_thread();
  shuffle_all(mask[i], in[i], argument[i], width, out + 4 * i);
}

// warp_shuffle_long moves values of 64 bits.
extern "C" __global__ void warp_shuffle_long(const uint32_t* mask, const uint64_t* in, const uint32_t* argument,
                                             uint32_t width, uint64_t* out) {
  const uint32_t i = global_thread();
  shuffle_all(mask[i], in[i], argument[i], width, out + 4 * i);
}

// warp_shuffle_double moves floating point values.
extern "C" __global__ void warp_shuffle_double(const uint32_t* mask, const double* in, const uint32_t* argument,
                                               uint32_t width, double* out) {
  const uint32_t i = global_thread();
  shuffle_all(mask[i], in[i], argument[i], width, out + 4 * i);
}

// warp_branches has odd and even values go different ways, with a ballot on each and one after
// both: two words a thread, the ballot of its way and the last.
extern "C" __global__ void warp_branches(const uint32_t* in, uint32_t* out) {
  const uint32_t i = global_thread(), v = in[i];
  const uint32_t odd = __ballot_sync(warp_lanes(), v & 1);
  if (v & 1) {
    out[2 * i] = __ballot_sync(odd, v & 2);
    __syncwarp(odd);
  } else {
    out[2 * i] = __ballot_sync(warp_lanes() & ~odd, v & 4);
  }
  out[2 * i + 1] = __ballot_sync(warp_lanes(), v & 8);
}

// warp_loop has each lane go round trips[i] times with those that still do. A round adds the number
// of lanes left.
extern "C" __global__ void warp_loop(const uint32_t* trips, uint32_t* out) {
  const uint32_t i = global_thread();
  uint32_t sum = 0, left = trips[i];
  for (uint32_t mask = warp_lanes();; left--) {
    mask = __ballot_sync(mask, left > 0);
    if (left == 0) break;
    sum += __popc(mask);
  }
  __syncwarp(warp_lanes());
  out[i] = sum;
}

// warp_active notes what __activemask said, and what a ballot of that mask did.
extern "C" __global__ void warp_active(const uint32_t* in, uint32_t* out) {
  const uint32_t i = global_thread();
  if (in[i] & 1) {
    const uint32_t mask = __activemask();
    out[2 * i] = mask;
    out[2 * i + 1] = __ballot_sync(mask, true);
  }
}

// warp_place notes where each thread is: seven words.
extern "C" __global__ void warp_place(uint32_t* out) {
  uint32_t* to = out + 7 * (blockIdx.x * blockDim.x + threadIdx.x);
  to[0] = lane_id();
  to[1] = warp_id();
  to[2] = global_thread();
  to[3] = global_warp();
  to[4] = lanes_below();
  to[5] = warp_lanes();
  to[6] = multiprocessor_id() < multiprocessor_count() && global_threads() == gridDim.x * blockDim.x;
}
