// Initialisation and contexts.
#include <cstdlib>

#include "call.h"
#include "context.h"
#include "device.h"
#include "memory.h"
#include "report.h"
#include "stream.h"

namespace driver {

namespace {

// Primary is the primary context of a device.
struct Primary {
  std::shared_ptr<Context> context;
  void* handle = nullptr;
  int retained = 0;
};

struct Primaries {
  std::mutex mutex;
  std::vector<Primary> of = std::vector<Primary>(static_cast<size_t>(device_count()));
};

Primaries& primaries() {
  static auto* table = new Primaries;
  return *table;
}

// destroy ends a context when its streams have finished, and says what it still owned.
std::vector<std::string> destroy(Primary& primary) {
  Context& context = *primary.context;
  wait_for_streams(context);
  auto lines = objects().list(context, true);
  for (auto& line : memory().list(context, true)) lines.push_back(line);
  objects().remove_context(primary.handle);
  context.destroyed = true;
  primary = Primary{};
  return lines;
}

// release destroys a context that nobody needs any more: what it still owned is a leak, unless it
// was lost, for then the driver would not have taken it back.
void release(Primary& primary) {
  const bool was_lost = primary.context->lost != CUDA_SUCCESS;
  for (auto& line : destroy(primary)) {
    if (!was_lost) problem("left when its context was released: " + line);
  }
}

}  // namespace

std::shared_ptr<Context>& current_context() {
  static thread_local std::shared_ptr<Context> current;
  return current;
}

Origin& current_call() {
  static thread_local Origin origin;
  return origin;
}

std::atomic<bool>& initialized() {
  static std::atomic<bool> done{false};
  return done;
}

CUresult ready(Needs needs) {
  if (needs == Needs::nothing) return CUDA_SUCCESS;
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::library) return CUDA_SUCCESS;
  const auto& context = current_context();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context->lost;
}

std::vector<std::string> context_leaks() {
  std::lock_guard lock(primaries().mutex);
  std::vector<std::string> lines;
  for (auto& primary : primaries().of) {
    if (!primary.context || primary.context->lost) continue;
    lines.push_back(format("context of device %d, retained %d times, first by call %llu (%s)", primary.context->device, primary.retained,
                           static_cast<unsigned long long>(primary.context->origin.number), primary.context->origin.call));
    for (auto& line : objects().list(*primary.context, false)) lines.push_back(line);
    for (auto& line : memory().list(*primary.context, false)) lines.push_back(line);
  }
  return lines;
}

void reset_contexts() {
  std::lock_guard lock(primaries().mutex);
  for (auto& primary : primaries().of) {
    if (primary.context) destroy(primary);
  }
}

EMU_API CUresult cuInit(unsigned flags) {
  return call(__func__, Needs::nothing, [&] {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (device_count() == 0) return CUDA_ERROR_NO_DEVICE;
    initialized() = true;
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  return call(__func__, Needs::library, [&] {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (device < 0 || device >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
    std::lock_guard lock(primaries().mutex);
    Primary& primary = primaries().of[static_cast<size_t>(device)];
    if (!primary.context) {
      primary.context = std::make_shared<Context>();
      primary.context->device = device;
      primary.context->origin = current_call();
      primary.handle = objects().add_context(primary.context);
    }
    ++primary.retained;
    *out = static_cast<CUcontext>(primary.handle);
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return call(
      __func__, Needs::library,
      [&] {
        if (device < 0 || device >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
        std::lock_guard lock(primaries().mutex);
        Primary& primary = primaries().of[static_cast<size_t>(device)];
        if (!primary.context) return CUDA_ERROR_INVALID_CONTEXT;
        if (--primary.retained == 0) release(primary);
        return CUDA_SUCCESS;
      },
      Effect::kept);
}

EMU_API CUresult cuCtxSetCurrent(CUcontext handle) {
  return call(__func__, Needs::library, [&] {
    auto context = handle ? objects().find_context(handle) : nullptr;
    if (handle && !context) return CUDA_ERROR_INVALID_CONTEXT;
    current_context() = context;
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuCtxGetCurrent(CUcontext* out) {
  return call(__func__, Needs::library, [&] {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = nullptr;
    for (auto& [handle, context] : objects().contexts()) {
      if (context == current_context()) *out = static_cast<CUcontext>(handle);
    }
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuCtxSynchronize() {
  return in_context(__func__, [&](Context& context) {
    wait_for_streams(context);
    return context.lost.load();
  });
}

}  // namespace driver
