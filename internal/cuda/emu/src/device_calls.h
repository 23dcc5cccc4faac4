// The device half of the emulator, as the names of device_emu.h call it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

// Place is where a thread is in its grid.
struct Place {
  uint32_t thread, threads, block, blocks, lane;
};

// here is the running thread's place. It is of the OS thread, so a fibre may not move to another.
extern __thread const Place* here;

// What the lanes of a mask can do together.
enum class Op : uint8_t { sync, ballot, any, all, match, shuffle, shuffle_up, shuffle_down, shuffle_xor };

// collective waits for the other lanes of mask and gives the caller's result. argument is a
// shuffle's source lane or distance.
uint64_t collective(Op op, uint32_t mask, uint64_t value = 0, uint32_t argument = 0, uint32_t width = 32);

// active is __activemask at a place of the source.
uint32_t active(const char* file, uint32_t line);

// barrier is __syncthreads at a place of the source.
void barrier(const char* file, uint32_t line);

// point lets another thread of the block go on, once in so many calls.
void point(uint32_t once_in);

// fail ends the grid with a code of the driver and says why, in the manner of printf. It does not
// return.
[[noreturn]] void fail(int code, const char* pattern, ...) __attribute__((format(printf, 2, 3)));

// touch is called before an access by an atomic, ld_… or st_…: it checks the address when
// GAGG_EMU_CHECK asks.
void touch(const void* p, size_t n);

void* dynamic_shared();
uint32_t worker();
uint32_t workers();
uint64_t nanoseconds();

template <class T>
struct Same {
  using Type = T;
};

}  // namespace emu
