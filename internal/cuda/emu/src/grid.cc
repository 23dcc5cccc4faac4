// The workers that run blocks. One pool serves the launches of all streams: each worker takes the next block of some
// launch and runs it to its end. Blocks of a launch begin in the order of their index, so a block that waits for a
// lower one is waiting for one that has begun or ended.
#include "grid.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

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

  int run(const EmuLaunch& launch) {
    Running running{{launch, emu_schedule_seed() * 0x9e3779b97f4a7c15 + launches_++}};
    std::unique_lock lock(mutex_);
    waiting_.push_back(&running);
    if (launch.blocks > 1) work_.notify_all();
    else work_.notify_one();
    done_.wait(lock, [&] { return running.handed_out() && running.finished == running.next; });
    std::erase(waiting_, &running);  // it may still be there when it failed
    return running.grid.error.load();
  }

 private:
  Pool() : workers_(count()) {
    // The host program's signal handlers know nothing of our threads and of fibres' stacks.
    sigset_t all, before;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (uint32_t i = 0; i < workers_; i++) std::thread(&Pool::work, this, i).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static uint32_t count() {
    const char* v = getenv("GAGG_EMU_WORKERS");
    const long asked = v == nullptr ? 0 : strtol(v, nullptr, 10);
    // Two at least, since a block that waits for another shows more when that one runs too.
    const unsigned machine = std::clamp(std::thread::hardware_concurrency(), 2u, 16u);
    return asked > 0 ? static_cast<uint32_t>(std::min(asked, 64L)) : machine;
  }

  // work is a worker's life.
  void work(uint32_t worker) {
    auto block = std::make_unique<Block>(worker);
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [&] { return !waiting_.empty(); });
      Running& running = *waiting_.front();
      waiting_.pop_front();
      if (running.handed_out()) continue;  // it failed meanwhile
      const uint32_t index = running.next++;
      if (!running.handed_out()) waiting_.push_back(&running);  // launches take turns
      lock.unlock();
      block->run(running.grid, index);
      lock.lock();
      running.finished++;
      if (running.handed_out() && running.finished == running.next) done_.notify_all();
    }
  }

  const uint32_t workers_;
  std::atomic<uint64_t> launches_{0};
  std::mutex mutex_;
  std::condition_variable work_, done_;
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
