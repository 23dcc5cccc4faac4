// A block while it runs: its threads, its warps, who is ready, who waits.
//
// Invariants
//   READY: each thread that has not exited either runs, or is in ready_, or waits in a collective
//   (Warp::waiting) or a barrier (Warp::at_barrier).
//
//   ONE: the running thread is emu::here; all of a block's fibres and its scheduler are on one OS
//   thread.
#pragma once

#include <atomic>
#include <cstdarg>
#include <string>

#include "device_calls.h"
#include "emu.h"
#include "fiber.h"

namespace emu {

constexpr uint32_t max_threads = 1024, lanes = 32, max_warps = max_threads / lanes;

// Random draws: Lehmer's generator with a multiplier of 64 bits.
class Random {
 public:
  explicit Random(uint64_t seed = 0) : state_(static_cast<unsigned __int128>(seed) << 1 | 1) {}
  uint32_t draw() {
    state_ *= 0xda942042e4dd58b5;
    return static_cast<uint32_t>(state_ >> 96);
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(static_cast<uint64_t>(draw()) * n >> 32); }

 private:
  unsigned __int128 state_;
};

// Grid is what the blocks of one launch share.
struct Grid {
  const EmuLaunch& launch;
  uint64_t seed;
  std::atomic<int> error{0};  // the code of the first block that failed: all others stop at their next point
};

// Arrival is what a lane brings to a collective.
struct Arrival {
  Op op;
  uint8_t width;
  uint32_t mask, argument;
  uint64_t value;
};

// Warp: sets of lanes are masks of bits.
struct Warp {
  uint32_t exited;      // or never there
  uint32_t waiting;     // in a collective: arrivals[lane] says which
  uint32_t at_barrier;  // in __syncthreads
  uint32_t converging;  // in __activemask at converging_file, converging_line
  const char* converging_file;
  uint32_t converging_line;
  Arrival arrivals[lanes];
  uint64_t results[lanes];
};

class Block;

struct Thread : Place {
  enum class Phase : uint8_t {
    fresh,   // has no stack yet; ends when it is picked for the first time
    begun,   // ends when the kernel returns
    exited,  // for ever
  };
  Phase phase;
  Block* owner;
  Warp* warp;
  Fiber fiber;

  uint32_t bit() const { return 1u << lane; }
};

// Block runs one block after the other, each to its end on the OS thread that calls run.
class Block {
 public:
  explicit Block(uint32_t worker) : worker_(worker) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // run executes a block of grid to its end, or until it or another block of the grid has failed.
  void run(Grid& grid, uint32_t index);

  // What follows is called by the threads of the block.
  uint64_t collective(const Arrival& arrival);
  uint32_t active(const char* file, uint32_t line);
  void barrier(const char* file, uint32_t line);
  void point(uint32_t once_in);
  void touch(const void* p, size_t n);
  [[noreturn]] void fail(int code, const char* pattern, va_list arguments);
  void* dynamic_shared() { return shared_; }
  uint32_t worker() const { return worker_; }

 private:
  void begin(Grid& grid, uint32_t index);
  void spoil_shared();
  void reclaim();

  static void enter();
  void live();
  void exit(Thread& t);
  Thread* pick();
  void prepare(Thread& t);
  void make_ready(const Thread& t) { ready_[ready_count_++] = static_cast<uint16_t>(t.thread); }
  void make_ready(const Warp& w, uint32_t set);
  void yield();
  void park();
  void release_barrier();
  void look_around();
  [[noreturn]] void give_up();
  [[noreturn]] void deadlock();
  [[noreturn]] __attribute__((format(printf, 3, 4))) void fault(int code, const char* pattern, ...);
  std::string waiting_text() const;
  bool meets(const Warp& w, const Thread& t, const Arrival& arrival);
  uint32_t warp_index(const Warp& w) const { return static_cast<uint32_t>(&w - warps_); }

  const uint32_t worker_;
  Grid* grid_ = nullptr;
  uint32_t index_ = 0, threads_count_ = 0, alive_ = 0;
  Random random_;
  Fiber scheduler_{};
  Stacks stacks_;
  Thread threads_[max_threads];
  Warp warps_[max_warps];
  uint16_t ready_[max_threads];
  uint32_t ready_count_ = 0;
  uint32_t barrier_count_ = 0, barrier_line_ = 0;
  const char* barrier_file_ = nullptr;
  char *shared_ = nullptr, *static_shared_ = nullptr;
  size_t static_shared_size_ = 0;
  uint32_t yields_ = 0;
  uint64_t deadline_ = 0;
};

const char* op_name(Op op);

}  // namespace emu
