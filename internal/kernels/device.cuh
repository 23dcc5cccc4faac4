// The device as kernels see it. Every .cu file includes this first, and nothing else of a system:
// no CUDA toolkit is needed.
//
// A source is compiled twice. clang makes PTX of it (device_cuda.cuh: CUDA's names over clang's
// builtins, one instruction each); the emulator's compiler, with GAGG_EMULATOR defined, makes host
// code (device_emu.h: the same names over fibres). What holds for both:
//
//  - Blocks and grids have one dimension: threadIdx.x, blockIdx.x, blockDim.x, gridDim.x.
//  - The types are those of <stdint.h>. Shuffles move values of 4 or 8 bytes; atomics work on
//    integers of 4 or 8 bytes, atomicAdd on double too. As in CUDA, atomics order nothing by
//    themselves; __threadfence does.
//  - Three names are ours, for 32-bit words in global memory: or_acquire is an atomicOr, after
//    which the caller sees what happened before an and_release whose outcome it read; and_release
//    is an atomicAnd that returns nothing; ld_relaxed4 loads four words at once, aligned to 16
//    bytes, each as by ld_relaxed.
//  - MASKS: a collective (…_sync) waits until every lane of its mask has come to the same
//    collective with the same mask. A mask names the lane that calls and only lanes that still run:
//    see warp_lanes for a last warp that is not full. The device counts out lanes that have exited,
//    but what a shuffle reads from one is undefined, so the emulator refuses them. What a shuffle
//    reads from a lane outside the mask is rubbish.
//  - BARRIER: __syncthreads is reached by all threads of a block that still run, at the same place
//    of the source.
//  - SPIN: a loop that waits for another thread contains an atomic, an ld_…, or __nanosleep; the
//    emulator lets others go on there.
//  - RESIDENT-ORDER: a block waits for blocks of its grid with a lower index only, since a higher
//    one may not have begun.
//  - __activemask is a hint: some lanes that passed it together with the caller and got the same
//    answer, perhaps the caller alone.
//  - DYNAMIC_SHARED(type, name) declares name, a type*, at the start of the block's dynamic shared
//    memory, whose size the launch gives.
//  - trap() ends the grid with an error; it does not return.
#pragma once

#include <stdint.h>

constexpr uint32_t warpSize = 32;
constexpr uint32_t FULL_MASK = 0xffffffff;

#ifdef GAGG_EMULATOR
#include "device_emu.h"
#else
#include "device_cuda.cuh"
#endif

// warp_id is the index of the thread's warp in its block.
static __device__ __forceinline__ uint32_t warp_id() { return threadIdx.x / warpSize; }

// global_thread is the index of the thread in its grid, of at most 2^32 threads.
static __device__ __forceinline__ uint32_t global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// global_threads is the number of threads of the grid.
static __device__ __forceinline__ uint32_t global_threads() { return gridDim.x * blockDim.x; }

// global_warp is the index of the thread's warp in its grid.
static __device__ __forceinline__ uint32_t global_warp() {
  return blockIdx.x * ((blockDim.x + warpSize - 1) / warpSize) + warp_id();
}

// lanes_below is the mask of the lanes of a warp before the caller's.
static __device__ __forceinline__ uint32_t lanes_below() { return (1u << lane_id()) - 1; }

// warp_lanes is the mask of the lanes that the caller's warp has: the last warp of a block may not
// be full.
static __device__ __forceinline__ uint32_t warp_lanes() {
  uint32_t lanes = blockDim.x - warp_id() * warpSize;
  return lanes >= warpSize ? FULL_MASK : (1u << lanes) - 1;
}
