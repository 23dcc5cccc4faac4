// The emulator's device half, as kernels see it: CUDA's names for host code.
// internal/kernels/device.cuh includes it under GAGG_EMULATOR.
//
// What is modelled
//
//   - Each thread of a block is a fibre. A block stays on one OS thread, a worker; the blocks of a
//     grid are taken in the order of their index (RESIDENT-ORDER of device.cuh) by the workers,
//     which all streams share (GAGG_EMU_WORKERS). Which thread of a block goes next is drawn at
//     random. Threads change over in collectives, barriers, __nanosleep, and in a part of the
//     atomics, ld_… and st_…, so that different seeds show different interleavings. With one worker
//     a seed gives the same schedule each time.
//   - Warps of 32 lanes, the last of a block perhaps not full. A collective waits, as from sm_70
//     on, until all lanes of its mask have come to the same one with the same mask, whichever way
//     they came. Lanes that cannot meet (another kind or mask on both sides, an exited or missing
//     lane in the mask, a mask without the caller), threads that wait for each other for ever,
//     different barriers in one block, and a block that runs for two minutes end the grid with 719
//     and a text on stderr.
//   - Shared memory per block. It begins full of rubbish.
//   - Atomics of 4 and 8 bytes, truly atomic between blocks of all streams.
//   - clock64 and globaltimer count nanoseconds; a multiprocessor is a worker.
//
// What is not
//
//   - Memory order weaker than the host's: a missing __threadfence goes unseen on x86-64. Plain
//     loads and stores are no points of change, so a plain race inside a block shows only around
//     the points above, and __syncwarp that is missing between two plain accesses shows since the
//     lanes of a warp do not run in step.
//   - Lanes in step. __activemask gives those that happened to come to the same place while the
//     caller was held up.
//   - Occupancy, registers, local memory, caches, timing: nothing here says how fast a kernel is. A
//     thread has a stack of 60 KiB.
//   - Blocks of a grid all at once: as many as there are workers run together.
//   - Where a plain pointer points: AddressSanitizer's build sees that for global and dynamic
//     shared memory, no build sees it for static shared memory. GAGG_EMU_CHECK=1 asks for each
//     atomic, ld_… and st_… whether its memory is alive (700).
#pragma once

#include "device_calls.h"

// The standard headers come before this: CUDA's names are not theirs.
#define __global__
#define __device__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)

struct DeviceIndex {
  uint32_t x;
};
#define threadIdx (DeviceIndex{emu::here->thread})
#define blockIdx (DeviceIndex{emu::here->block})
#define blockDim (DeviceIndex{emu::here->threads})
#define gridDim (DeviceIndex{emu::here->blocks})

#define DYNAMIC_SHARED(type, name) type* name = static_cast<type*>(emu::dynamic_shared())

inline uint32_t lane_id() { return emu::here->lane; }
inline uint32_t multiprocessor_id() { return emu::worker(); }
inline uint32_t multiprocessor_count() { return emu::workers(); }
inline uint64_t clock64() { return emu::nanoseconds(); }
inline uint64_t globaltimer() { return emu::nanoseconds(); }
[[noreturn]] inline void trap() { emu::fail(719, "trap"); }

#include "atomics.h"
#include "intrinsics.h"
