// The devices that the emulator pretends to have.
#pragma once

#include "libcuda.h"

namespace driver {

// What cannot be measured is given as of a small device of the oldest architecture that gagg's
// kernels are compiled for, whatever the architecture that it is told to have.
inline constexpr int warp_size = 32;
inline constexpr int max_threads = 1024;
inline constexpr int max_threads_per_multiprocessor = 2048;
inline constexpr int max_blocks_per_multiprocessor = 32;
inline constexpr int shared_per_block = 48 << 10;
inline constexpr int shared_per_block_optin = 96 << 10;
inline constexpr int shared_per_multiprocessor = 96 << 10;
inline constexpr int registers_per_multiprocessor = 64 << 10;

// architecture is ten times the compute capability: GAGG_EMU_ARCHITECTURE.
int architecture();

// device_count is GAGG_EMU_DEVICES, less what CUDA_VISIBLE_DEVICES hides.
int device_count();

}  // namespace driver
