// Streams and events.
//
// A stream is a queue with a thread of its own, which executes one operation after the other, later
// than the call that put it there. What the host reads before it has waited is therefore old, and
// what it overwrites too early arrives wrong, as on a device. GAGG_EMU_SLOW widens the gap.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "object.h"

namespace driver {

// Stream: created by start, ended by close, which lets its work finish. The thread holds the stream
// for as long as there is work.
struct Stream : Object {
  const char* kind() const override { return "stream"; }

  // Work returns a code; one that is not 0 loses the context, and after that the rest of the queue
  // is passed over. Work that `always` is set for (events) is done even so, for others may wait for
  // it.
  struct Operation {
    const char* name;
    std::function<CUresult()> work;
    bool always = false;
  };

  static std::shared_ptr<Stream> start(std::shared_ptr<Context> context);
  void push(Operation operation);
  void close();

  // wait until everything that was pushed before is done.
  void wait();
  bool done();

 private:
  void work();

  static constexpr uint64_t nobody = UINT64_MAX;

  std::mutex mutex_;
  std::condition_variable queued_, finished_;
  std::deque<Operation> queue_;
  uint64_t pushed_ = 0, done_ = 0;
  uint64_t awaited_ = nobody;  // the least of done_ that someone waits for
  bool closed_ = false;
};

// Recording is one cuEventRecord: done when its stream has come to it.
struct Recording {
  void finish();
  void wait();
  bool done();

  // When it was done.
  std::chrono::steady_clock::time_point time();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::chrono::steady_clock::time_point time_;
};

// Event holds its last recording. Whoever waits takes that one, and a later recording does not
// concern him.
struct Event : Object {
  const char* kind() const override { return "event"; }

  std::shared_ptr<Recording> record();
  std::shared_ptr<Recording> last();  // null: never recorded

  bool timing = true;

 private:
  std::mutex mutex_;
  std::shared_ptr<Recording> last_;
};

// wait_for_streams waits for all work of a context, of destroyed streams too.
void wait_for_streams(Context& context);

}  // namespace driver
