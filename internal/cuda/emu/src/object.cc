#include "object.h"

#include <cinttypes>
#include <cstdio>

#include "report.h"

namespace driver {

// Never destroyed, like every table of the emulator: threads of streams may outlive main.
Objects& objects() {
  static auto* table = new Objects;
  return *table;
}

void Context::lose(CUresult code, const std::string& why) {
  CUresult none = CUDA_SUCCESS;
  if (lost.compare_exchange_strong(none, code)) say("context lost with code %d: %s", code, why.c_str());
}

void* Objects::add(std::shared_ptr<Object> object) {
  std::lock_guard lock(mutex_);
  void* handle = reinterpret_cast<void*>(next_ += 16);
  objects_[handle] = std::move(object);
  return handle;
}

void* Objects::add_context(std::shared_ptr<Context> context) {
  std::lock_guard lock(mutex_);
  void* handle = reinterpret_cast<void*>(next_ += 16);
  contexts_[handle] = std::move(context);
  return handle;
}

std::shared_ptr<Object> Objects::look(const void* handle) {
  std::lock_guard lock(mutex_);
  auto at = objects_.find(handle);
  return at == objects_.end() ? nullptr : at->second;
}

std::shared_ptr<Context> Objects::find_context(const void* handle) {
  std::lock_guard lock(mutex_);
  auto at = contexts_.find(handle);
  return at == contexts_.end() ? nullptr : at->second;
}

void Objects::remove(const void* handle) {
  std::lock_guard lock(mutex_);
  objects_.erase(handle);
}

void Objects::remove_context(const void* handle) {
  std::lock_guard lock(mutex_);
  contexts_.erase(handle);
}

std::vector<std::string> Objects::list(const Context& of, bool remove) {
  std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (auto at = objects_.begin(); at != objects_.end();) {
    const Object& object = *at->second;
    if (object.context.get() != &of) {
      ++at;
      continue;
    }
    lines.push_back(format("%s, made by call %" PRIu64 " (%s)", object.kind(), object.origin.number, object.origin.call));
    at = remove ? objects_.erase(at) : std::next(at);
  }
  return lines;
}

std::vector<std::pair<void*, std::shared_ptr<Context>>> Objects::contexts() {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<void*, std::shared_ptr<Context>>> all;
  for (auto& [handle, context] : contexts_) all.emplace_back(const_cast<void*>(handle), context);
  return all;
}

}  // namespace driver
