#include "stream.h"

#include <algorithm>
#include <csignal>
#include <pthread.h>
#include <random>
#include <thread>

#include "call.h"
#include "config.h"

namespace driver {

namespace {

// slow_down sleeps for a while that is drawn between the knobs slow_from and slow_to.
void slow_down(std::minstd_rand& random) {
  const uint64_t from = knobs().slow_from, to = knobs().slow_to;
  if (to == 0) return;
  const uint64_t us = to <= from ? from : from + random() % (to - from + 1);
  std::this_thread::sleep_for(std::chrono::microseconds(us));
}

// block_signals keeps the signals of the host program, such as those that the Go runtime sends to
// its threads, away from one that it does not know. Faults of the thread itself still arrive.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

std::vector<std::shared_ptr<Stream>> streams_of(Context& context) {
  std::lock_guard lock(context.mutex);
  std::vector<std::shared_ptr<Stream>> living;
  std::erase_if(context.streams, [](auto& stream) { return stream.expired(); });
  for (auto& stream : context.streams) {
    if (auto held = stream.lock()) living.push_back(held);
  }
  return living;
}

}  // namespace

std::shared_ptr<Stream> Stream::start(std::shared_ptr<Context> context) {
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->origin = current_call();
  {
    std::lock_guard lock(context->mutex);
    context->streams.push_back(stream);
  }
  // The thread begins with the mask of its creator, so that no signal gets in between.
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  block_signals();
  std::thread([stream] { stream->work(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return stream;
}

// Whoever is woken needs the lock: here and below it is given back first.
void Stream::push(Operation operation) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(operation));
    ++pushed_;
  }
  queued_.notify_one();
}

void Stream::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  queued_.notify_one();
}

void Stream::wait() {
  std::unique_lock lock(mutex_);
  const uint64_t until = pushed_;
  while (done_ < until) {
    awaited_ = std::min(awaited_, until);
    finished_.wait(lock);
  }
}

bool Stream::done() {
  std::lock_guard lock(mutex_);
  return done_ == pushed_;
}

void Stream::work() {
  // A thread that wakes up takes the processor from the one that woke it, here the host's after
  // each call. SCHED_BATCH does not: the host goes on, so operations are later, and changes of
  // thread fewer.
  const sched_param normal{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &normal);
  std::minstd_rand random(static_cast<unsigned>(knobs().seed + origin.number));
  std::unique_lock lock(mutex_);
  for (;;) {
    queued_.wait(lock, [&] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Operation operation = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    slow_down(random);
    if (operation.always || !context->lost) {
      if (CUresult code = operation.work()) context->lose(code, operation.name);
    }
    operation.work = nullptr;  // what it holds must not outlive its end
    lock.lock();
    if (++done_ < awaited_) continue;
    awaited_ = nobody;  // who is woken too early says so again
    lock.unlock();
    finished_.notify_all();
    lock.lock();
  }
}

void wait_for_streams(Context& context) {
  for (auto& stream : streams_of(context)) stream->wait();
}

void Recording::finish() {
  {
    std::lock_guard lock(mutex_);
    done_ = true;
    time_ = std::chrono::steady_clock::now();
  }
  changed_.notify_all();
}

void Recording::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_; });
}

bool Recording::done() {
  std::lock_guard lock(mutex_);
  return done_;
}

std::chrono::steady_clock::time_point Recording::time() {
  std::lock_guard lock(mutex_);
  return time_;
}

std::shared_ptr<Recording> Event::record() {
  std::lock_guard lock(mutex_);
  return last_ = std::make_shared<Recording>();
}

std::shared_ptr<Recording> Event::last() {
  std::lock_guard lock(mutex_);
  return last_;
}

}  // namespace driver
