// The workers that run blocks. A worker is a Block, and whichever OS thread holds it: the stream's
// that launches, or one of the pool's that help where a grid has several blocks. The launches of
// all streams share the workers. Blocks of a launch begin in the order of their index, so a block
// that waits for a lower one is waiting for one that has begun or ended.
#include "grid.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "block.h"

namespace emu {

namespace {

// Running is a grid in the hands of the workers. Its numbers are guarded by the pool's mutex.
struct Running {
  Grid grid;
  uint32_t next = 0, finished = 0;  // the block to begin, how many have ended

  bool handed_out() const { return next == grid.launch.blocks || grid.error.load() != 0; }
};

class Pool {
 public:
  // the pool of the process. It is never taken down: its threads wait until the process ends.
  static Pool& get() {
    static Pool* pool = new Pool;
    return *pool;
  }

  uint32_t workers() const { return workers_; }
  void restart() { launches_ = 0; }

  // run executes a launch. The caller, a stream's thread, runs blocks itself: for a grid of one, as
  // most are in tests, no other thread has to wake up, which takes longer than such a block.
  int run(const EmuLaunch& launch) {
    Running running{{launch, emu_schedule_seed() * 0x9e3779b97f4a7c15 + launches_++}};
    std::unique_lock lock(mutex_);
    if (launch.blocks > 1) waiting_.push_back(&running);
    for (;;) {
      wait(lock, room_, [&] { return running.handed_out() || !free_.empty(); });
      if (running.handed_out()) break;
      step(lock, running);
    }
    wake();  // the room that this launch did not take
    wait(lock, done_, [&] { return running.finished == running.next; });
    std::erase(waiting_, &running);
    return running.grid.error.load();
  }

 private:
  // Waiters counts the threads at a condition, so that nobody is called who is not there.
  struct Waiters {
    std::condition_variable condition;
    uint32_t count = 0;
  };

  Pool() : workers_(count()) {
    for (uint32_t i = workers_; i > 0; i--) free_.push_back(std::make_unique<Block>(i - 1));
    // The host program's signal handlers know nothing of our threads and of fibres' stacks.
    sigset_t all, before;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (uint32_t i = 1; i < workers_; i++) std::thread(&Pool::help, this).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static uint32_t count() {
    const char* v = getenv("GAGG_EMU_WORKERS");
    const long asked = v == nullptr ? 0 : strtol(v, nullptr, 10);
    // Two at least, since a block that waits for another shows more when that one runs too.
    const unsigned machine = std::clamp(std::thread::hardware_concurrency(), 2u, 16u);
    return asked > 0 ? static_cast<uint32_t>(std::min(asked, 64L)) : machine;
  }

  template <class Condition>
  static void wait(std::unique_lock<std::mutex>& lock, Waiters& waiters, Condition met) {
    waiters.count++;
    waiters.condition.wait(lock, met);
    waiters.count--;
  }

  // help is the life of a thread of the pool: it runs blocks of grids that have several.
  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wait(lock, work_, [&] { return !waiting_.empty() && !free_.empty(); });
      Running& running = *waiting_.front();
      waiting_.pop_front();
      if (running.handed_out()) continue;
      waiting_.push_back(&running);  // launches take turns
      step(lock, running);
    }
  }

  // step runs the next block of a launch as one of the free workers.
  void step(std::unique_lock<std::mutex>& lock, Running& running) {
    std::unique_ptr<Block> block = std::move(free_.back());
    free_.pop_back();
    const uint32_t index = running.next++;
    wake();
    lock.unlock();
    block->run(running.grid, index);
    lock.lock();
    free_.push_back(std::move(block));
    running.finished++;
    if (done_.count > 0 && running.handed_out() && running.finished == running.next) done_.condition.notify_all();
    wake();
  }

  // wake calls someone to a free worker, if there is one: a launch that has none yet, or a helper.
  void wake() {
    if (free_.empty()) return;
    if (room_.count > 0) room_.condition.notify_one();
    else if (work_.count > 0 && !waiting_.empty()) work_.condition.notify_one();
  }

  const uint32_t workers_;
  std::atomic<uint64_t> launches_{0};
  std::mutex mutex_;  // guards what follows
  Waiters room_;      // launches: for a free worker
  Waiters done_;      // launches: for the last of their blocks
  Waiters work_;      // helpers: for a grid with blocks to begin
  std::vector<std::unique_ptr<Block>> free_;
  std::deque<Running*> waiting_;
};

}  // namespace

uint32_t workers() { return Pool::get().workers(); }

uint64_t nanoseconds() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace emu

int emu_run(const EmuLaunch& launch) { return emu::Pool::get().run(launch); }

extern "C" void emu_restart_schedule() { emu::Pool::get().restart(); }
