// The seam between the two halves of the emulator: the driver half (driver*, memory*, stream*,
// module*, fault*.cc) offers the functions of libcuda, the device half (grid*, warp*, fiber*) runs
// a kernel. Neither knows more of the other than this page.
#pragma once

#include <cstddef>
#include <cstdint>

// EmuKernel is a kernel compiled for the host. The table is written by internal/kernels/gen. A name
// is the one of the PTX's .entry, and run unpacks the parameters, which lie as in a C struct,
// without padding at its end, and executes the kernel for the thread that calls it.
struct EmuKernel {
  const char* name;
  void (*run)(const void* params);
  uint32_t param_bytes;
};

extern const EmuKernel emu_kernels[];
extern const uint32_t emu_kernel_count;
extern const char* const emu_kernels_from;  // their fingerprint: emu.Kernels, in Go

// EmuLaunch is one grid. params stays valid until emu_run returns; shared is the dynamic shared
// memory of a block in bytes.
struct EmuLaunch {
  const EmuKernel* kernel;
  uint32_t blocks, threads, shared;
  const void* params;
};

// emu_run (device half) runs a grid to its end. It returns 0 or a code of the driver: 700 (illegal
// address) or 719 (launch failure: deadlock, collectives that do not match, trap), after it has
// told why on stderr. Several streams call it at once, each on a thread of its own.
int emu_run(const EmuLaunch& launch);

// emu_device_range (driver half) tells whether n bytes at p lie inside one living allocation that
// kernels may touch: device memory or pinned host memory.
bool emu_device_range(const void* p, size_t n);

// emu_schedule_seed (driver half) is what the order of a launch's threads is drawn from:
// GAGG_EMU_SEED, or the last call of emu_seed.
uint64_t emu_schedule_seed();
