// Kernels whose threads cannot go on together. The emulator refuses them; on a device what they do
// is undefined or has no end, so tests run them on the emulator only. All want one block of 64
// threads.
#include "../device.cuh"

// warp_misfit_kind: two halves of a warp name each other in different collectives.
extern "C" __global__ void warp_misfit_kind(uint32_t* out) {
  if (lane_id() < 16) {
    out[threadIdx.x] = __ballot_sync(FULL_MASK, true);
  } else {
    out[threadIdx.x] = __any_sync(FULL_MASK, true);
  }
}

// warp_misfit_mask: one lane names fewer of the others than they do.
extern "C" __global__ void warp_misfit_mask() {
  if (lane_id() < 3) __syncwarp(lane_id() == 0 ? 0x3 : 0x7);
}

// warp_misfit_outside: a lane leaves itself out.
extern "C" __global__ void warp_misfit_outside() {
  if (lane_id() == 5) __syncwarp(0x1);
}

// warp_misfit_exited: a lane is waited for and exits.
extern "C" __global__ void warp_misfit_exited() {
  if (lane_id() < 2) __syncwarp(0x7);
}

// warp_misfit_ring: three lanes wait for each other in a ring.
extern "C" __global__ void warp_misfit_ring() {
  const uint32_t lane = lane_id();
  if (lane < 3) __syncwarp(1u << lane | 1u << (lane + 1) % 3);
}

// warp_misfit_barrier: one warp waits in another barrier than the other.
extern "C" __global__ void warp_misfit_barrier() {
  if (warp_id() == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

// warp_misfit_lane: one lane waits in a barrier, the others of its warp for that lane.
extern "C" __global__ void warp_misfit_lane() {
  if (threadIdx.x == 7) __syncthreads();
  __syncwarp(FULL_MASK);
  if (threadIdx.x != 7) __syncthreads();
}

// warp_misfit_trap: one thread of a warp gives up while the others wait for it.
extern "C" __global__ void warp_misfit_trap() {
  if (threadIdx.x == 40) trap();
  __syncthreads();
}
