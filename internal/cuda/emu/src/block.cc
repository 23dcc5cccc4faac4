#include "block.h"

#include <sched.h>

#include <bit>
#include <cstdlib>
#include <cstring>

namespace emu {

__thread const Place* here = nullptr;

namespace {

// A block that runs for longer hangs, as a rule in a loop that waits for something that never
// comes. The whole suite takes less.
constexpr uint64_t patience_seconds = 120;

// How many changes of thread pass between looks at the clock and at the other OS threads, which may
// hold what this block waits for.
constexpr uint32_t look_every = 4096;

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  return x ^ x >> 29;
}

}  // namespace

void Block::run(Grid& grid, uint32_t index) {
  begin(grid, index);
  Thread* first = pick();
  prepare(*first);
  here = first;
  fiber_switch(scheduler_, first->fiber);
  here = nullptr;
  reclaim();
}

void Block::begin(Grid& grid, uint32_t index) {
  const EmuLaunch& launch = grid.launch;
  grid_ = &grid;
  index_ = index;
  threads_count_ = alive_ = launch.threads;
  random_ = Random(mixed(grid.seed, index));
  yields_ = 0;
  deadline_ = nanoseconds() + patience_seconds * 1'000'000'000;
  barrier_count_ = 0;
  ready_count_ = 0;
  scheduler_.stack = thread_stack();
  for (uint32_t w = 0; w * lanes < threads_count_; w++) {
    const uint32_t left = threads_count_ - w * lanes;
    warps_[w] = Warp{};
    warps_[w].exited = left >= lanes ? 0 : ~0u << left;
  }
  for (uint32_t i = 0; i < threads_count_; i++) {
    Thread& t = threads_[i];
    static_cast<Place&>(t) = {i, threads_count_, index, launch.blocks, i % lanes};
    t.phase = Thread::Phase::fresh;
    t.owner = this;
    t.warp = &warps_[i / lanes];
    make_ready(t);
  }
  spoil_shared();
}

// The stacks of threads that were left in the middle, after a failure, are free again.
void Block::reclaim() {
  for (uint32_t i = 0; i < threads_count_; i++) {
    if (threads_[i].phase == Thread::Phase::begun) {
      Stacks::clean(threads_[i].fiber.stack);
      stacks_.give(threads_[i].fiber.stack);
    }
  }
  free(shared_);
  shared_ = nullptr;
}

// enter is where a fibre begins.
void Block::enter() {
  fiber_begun();
  static_cast<const Thread*>(here)->owner->live();
}

// live executes the running thread, and on the same stack those after it that are fresh when they
// are picked.
void Block::live() {
  for (;;) {
    Thread& t = threads_[here->thread];
    t.phase = Thread::Phase::begun;
    grid_->launch.kernel->run(grid_->launch.params);
    exit(t);
    Thread* next = pick();
    if (next == nullptr && alive_ > 0) deadlock();
    if (next != nullptr && next->phase == Thread::Phase::fresh) {
      next->fiber = {nullptr, t.fiber.stack, nullptr};
      here = next;
      continue;
    }
    stacks_.give(t.fiber.stack);
    here = next;
    fiber_leave(next == nullptr ? scheduler_ : next->fiber);
  }
}

// exit takes the running thread out of its warp and of the barrier. Lanes that wait for it would
// wait for ever.
void Block::exit(Thread& t) {
  t.phase = Thread::Phase::exited;
  alive_--;
  Warp& w = *t.warp;
  w.exited |= t.bit();
  for (uint32_t set = w.waiting; set != 0; set &= set - 1) {
    const int lane = std::countr_zero(set);
    const Arrival& a = w.arrivals[lane];
    if (a.mask & t.bit()) {
      fault(719, "lane %u of warp %u has exited, and lane %d waits for it in %s of mask 0x%08x", t.lane, warp_index(w),
            lane, op_name(a.op), a.mask);
    }
  }
  if (barrier_count_ > 0 && barrier_count_ == alive_) release_barrier();
}

// pick draws one of the ready threads, or gives null when there is none.
Thread* Block::pick() {
  if (ready_count_ == 0) return nullptr;
  const uint32_t i = random_.below(ready_count_);
  Thread* t = &threads_[ready_[i]];
  ready_[i] = ready_[--ready_count_];
  return t;
}

void Block::prepare(Thread& t) {
  if (t.phase == Thread::Phase::fresh) fiber_prepare(t.fiber, stacks_.take(), enter);
}

void Block::make_ready(const Warp& w, uint32_t set) {
  for (; set != 0; set &= set - 1) make_ready(threads_[warp_index(w) * lanes + std::countr_zero(set)]);
}

// yield lets some ready thread go on, perhaps the running one.
void Block::yield() {
  look_around();
  make_ready(threads_[here->thread]);
  park();
}

// park lets another thread go on, and returns when someone has made the running one ready and it is
// picked.
void Block::park() {
  Thread& t = threads_[here->thread];
  Thread* next = pick();
  if (next == &t) return;
  if (next == nullptr) deadlock();
  prepare(*next);
  here = next;
  fiber_switch(t.fiber, next->fiber);
}

void Block::point(uint32_t once_in) {
  if (once_in == 1 || random_.below(once_in) == 0) yield();
}

// look_around ends the block when another of its grid has failed or when it takes too long.
void Block::look_around() {
  if (grid_->error.load(std::memory_order_relaxed) != 0) give_up();
  if (++yields_ % look_every != 0) return;
  sched_yield();
  if (nanoseconds() > deadline_) {
    fault(719, "no end after %lu seconds: %s", static_cast<unsigned long>(patience_seconds), waiting_text().c_str());
  }
}

void Block::barrier(const char* file, uint32_t line) {
  Thread& t = threads_[here->thread];
  if (barrier_count_ == 0) {
    barrier_file_ = file;
    barrier_line_ = line;
  } else if (line != barrier_line_ || (file != barrier_file_ && strcmp(file, barrier_file_) != 0)) {
    fault(719, "it has come to __syncthreads at %s:%u while %u others wait at %s:%u", file, line, barrier_count_,
          barrier_file_, barrier_line_);
  }
  barrier_count_++;
  t.warp->at_barrier |= t.bit();
  if (barrier_count_ == alive_) release_barrier();
  park();
}

// release_barrier makes all who wait in the barrier ready.
void Block::release_barrier() {
  for (uint32_t w = 0; w * lanes < threads_count_; w++) {
    make_ready(warps_[w], warps_[w].at_barrier);
    warps_[w].at_barrier = 0;
  }
  barrier_count_ = 0;
}

// --- what kernels call ---

namespace {

Block& block() { return *static_cast<const Thread*>(here)->owner; }

}  // namespace

uint64_t collective(Op op, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width) {
  return block().collective({op, static_cast<uint8_t>(width), mask, argument, value});
}
uint32_t active(const char* file, uint32_t line) { return block().active(file, line); }
void barrier(const char* file, uint32_t line) { block().barrier(file, line); }
void point(uint32_t once_in) { block().point(once_in); }
void* dynamic_shared() { return block().dynamic_shared(); }
uint32_t worker() { return block().worker(); }

void fail(int code, const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  block().fail(code, pattern, arguments);
}

}  // namespace emu
