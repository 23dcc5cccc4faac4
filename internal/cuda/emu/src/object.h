// What the driver's handles stand for, and the table of all that live.
//
// INVARIANT (handles): a handle is a number that is given out once in the life of the process and
// never dereferenced. One that was destroyed is therefore always found out, also when its memory
// serves another object by now.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libcuda.h"

namespace driver {

// Origin is the call that made something: its number among all calls of the process, from 1, and
// its name.
struct Origin {
  uint64_t number = 0;
  const char* call = "";
};

struct Stream;

// Context is the state of a primary context.
struct Context {
  CUdevice device = 0;
  Origin origin;
  // The code of the fault that this context did not survive, or 0. It never goes back to 0.
  std::atomic<CUresult> lost{CUDA_SUCCESS};
  // It was released for the last time, but may still be the current one of a thread.
  std::atomic<bool> destroyed{false};

  std::mutex mutex;
  // Those with work left, destroyed or not: what cuCtxSynchronize waits for.
  std::vector<std::weak_ptr<Stream>> streams;

  // lose makes code the answer of every later call, unless an earlier fault has.
  void lose(CUresult code, const std::string& why);
};

// Object is what a handle other than a context's stands for.
struct Object {
  virtual ~Object() = default;
  virtual const char* kind() const = 0;

  std::shared_ptr<Context> context;
  Origin origin;
};

// Objects is the table of living handles. Safe for any thread.
class Objects {
 public:
  void* add(std::shared_ptr<Object> object);
  void* add_context(std::shared_ptr<Context> context);

  // The object of a handle, or nothing when the handle does not live, is of another kind or another
  // context.
  template <class T>
  std::shared_ptr<T> find(const void* handle, const Context& of) {
    auto object = std::dynamic_pointer_cast<T>(look(handle));
    return object && object->context.get() == &of ? object : nullptr;
  }
  std::shared_ptr<Context> find_context(const void* handle);

  void remove(const void* handle);
  void remove_context(const void* handle);

  // One line for each living object of the context; takes them out of the table when told.
  std::vector<std::string> list(const Context& of, bool remove);
  std::vector<std::pair<void*, std::shared_ptr<Context>>> contexts();

 private:
  std::shared_ptr<Object> look(const void* handle);

  std::mutex mutex_;
  uintptr_t next_ = 0x1000;
  std::map<const void*, std::shared_ptr<Object>> objects_;
  std::map<const void*, std::shared_ptr<Context>> contexts_;
};

Objects& objects();

}  // namespace driver
