// How a block fails: the text on stderr, and the way out of all its threads.
#include <unistd.h>

#include <bit>
#include <cstdio>

#include "block.h"

namespace emu {

// fail tells why on stderr, in one write so that lines of several workers do not mix. The first
// failure of a grid gives its code.
void Block::fail(int code, const char* pattern, va_list arguments) {
  char why[1024], text[1400];
  vsnprintf(why, sizeof why, pattern, arguments);
  const int n = snprintf(text, sizeof text, "gagg emulator: kernel %s, block %u, thread %u: %s\n",
                         grid_->launch.kernel->name, index_, here->thread, why);
  int none = 0;
  if (grid_->error.compare_exchange_strong(none, code)) (void)!write(STDERR_FILENO, text, static_cast<size_t>(n));
  give_up();
}

void Block::fault(int code, const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  fail(code, pattern, arguments);
}

// give_up leaves all threads of the block where they are. Block::reclaim takes their stacks.
void Block::give_up() {
  here = nullptr;
  fiber_leave(scheduler_);
}

void Block::deadlock() { fault(719, "all threads wait for each other: %s", waiting_text().c_str()); }

// waiting_text lists the first warps that wait, and for what.
std::string Block::waiting_text() const {
  constexpr size_t enough = 800;
  std::string text;
  char line[160];
  for (uint32_t i = 0; i * lanes < threads_count_ && text.size() < enough; i++) {
    const Warp& w = warps_[i];
    for (uint32_t left = w.waiting; left != 0;) {
      const Arrival& first = w.arrivals[std::countr_zero(left)];
      uint32_t same = 0;
      for (uint32_t set = left; set != 0; set &= set - 1) {
        const int lane = std::countr_zero(set);
        if (w.arrivals[lane].op == first.op && w.arrivals[lane].mask == first.mask) same |= 1u << lane;
      }
      snprintf(line, sizeof line, "\n  warp %u: lanes 0x%08x in %s of mask 0x%08x", i, same, op_name(first.op),
               first.mask);
      text += line;
      left &= ~same;
    }
    if (w.at_barrier != 0) {
      snprintf(line, sizeof line, "\n  warp %u: lanes 0x%08x in __syncthreads at %s:%u", i, w.at_barrier, barrier_file_,
               barrier_line_);
      text += line;
    }
  }
  snprintf(line, sizeof line, "\n  %u threads are ready, %u have exited", ready_count_, threads_count_ - alive_);
  return text + line;
}

}  // namespace emu
