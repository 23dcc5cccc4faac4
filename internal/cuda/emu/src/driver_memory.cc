// cuMem*: allocation, copies, fills.
#include <cstring>
#include <memory>

#include "call.h"
#include "config.h"
#include "emu.h"
#include "memory.h"
#include "report.h"
#include "stream.h"

namespace driver {

namespace {

constexpr unsigned portable = 1;  // of cuMemHostAlloc and cuMemHostRegister: pinned for all contexts

void* address(CUdeviceptr p) { return reinterpret_cast<void*>(static_cast<uintptr_t>(p)); }

// gone tells what an operation of a stream met when its turn came.
CUresult gone(const Origin& origin) {
  problem(format("%s (call %llu): its memory was freed before the stream came to it", origin.call, static_cast<unsigned long long>(origin.number)));
  return CUDA_ERROR_ILLEGAL_ADDRESS;
}

// push queues what moves bytes; it says false when the memory is gone.
void push(Stream& stream, std::function<bool()> moves) {
  const Origin origin = current_call();
  stream.push({origin.call, [=] { return moves() ? CUDA_SUCCESS : gone(origin); }});
}

CUresult push_fill(Context& context, CUstream handle, CUdeviceptr to, uint32_t value, size_t width, size_t count) {
  auto stream = objects().find<Stream>(handle, context);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (count > SIZE_MAX / width || to % width || !memory().contains(address(to), width * count, context)) return CUDA_ERROR_INVALID_VALUE;
  push(*stream, [=] { return memory().fill(address(to), value, width, count); });
  return CUDA_SUCCESS;
}

}  // namespace

EMU_API CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
  return in_context(__func__, [&](Context& context) {
    if (!available || !total) return CUDA_ERROR_INVALID_VALUE;
    *available = memory().available(context.device);
    *total = config().memory;
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t size) {
  return in_context(__func__, [&](Context&) {
    if (!out || size == 0) return CUDA_ERROR_INVALID_VALUE;
    void* p = nullptr;
    const CUresult code = memory().allocate(current_context(), Space::device, size, &p);
    if (!code) *out = reinterpret_cast<uintptr_t>(p);
    return code;
  });
}

// Freeing device memory waits for the work of the context, as every driver does that we met.
EMU_API CUresult cuMemFree_v2(CUdeviceptr p) {
  return in_context(
      __func__,
      [&](Context& context) {
        wait_for_streams(context);
        if (context.lost) return context.lost.load();
        return memory().release(context, Space::device, address(p));
      },
      Effect::kept);
}

EMU_API CUresult cuMemHostAlloc(void** out, size_t size, unsigned flags) {
  return in_context(__func__, [&](Context&) {
    if (!out || size == 0) return CUDA_ERROR_INVALID_VALUE;
    return memory().allocate(current_context(), Space::pinned, size, out, flags & portable);
  });
}

// Freeing pinned memory waits for nothing, which the driver may do or not do.
EMU_API CUresult cuMemFreeHost(void* p) {
  return in_context(
      __func__, [&](Context& context) { return memory().release(context, Space::pinned, p); }, Effect::kept);
}

EMU_API CUresult cuMemHostRegister_v2(void* p, size_t size, unsigned flags) {
  return in_context(__func__, [&](Context&) {
    if (!p || size == 0) return CUDA_ERROR_INVALID_VALUE;
    return memory().enter(current_context(), p, size, flags & portable);
  });
}

EMU_API CUresult cuMemHostUnregister(void* p) {
  return in_context(
      __func__, [&](Context& context) { return memory().release(context, Space::registered, p); }, Effect::kept);
}

// Pinned memory has one address, as with a device of unified addresses.
EMU_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* p, unsigned flags) {
  return in_context(__func__, [&](Context& context) {
    if (!out || flags || !memory().pinned(p, 1, context)) return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<uintptr_t>(p);
    return CUDA_SUCCESS;
  });
}

// From pageable memory the bytes are taken at once, as the driver does through a buffer of its own;
// from pinned memory when the stream comes to it.
EMU_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t n, CUstream handle) {
  return in_context(__func__, [&](Context& context) {
    auto stream = objects().find<Stream>(handle, context);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!from || !memory().contains(address(to), n, context)) return CUDA_ERROR_INVALID_VALUE;
    if (memory().pinned(from, n, context)) {
      push(*stream, [=] { return memory().copy(address(to), from, n); });
      return CUDA_SUCCESS;
    }
    if (memory().touches(from, n)) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<uint8_t[]> taken(new uint8_t[n]);
    memcpy(taken.get(), from, n);
    push(*stream, [=] { return memory().write(address(to), taken.get(), n); });
    return CUDA_SUCCESS;
  });
}

// Into pageable memory the call waits for the stream, for nobody owns those bytes for longer than
// the call.
EMU_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t n, CUstream handle) {
  return in_context(__func__, [&](Context& context) {
    auto stream = objects().find<Stream>(handle, context);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!to || !memory().contains(address(from), n, context)) return CUDA_ERROR_INVALID_VALUE;
    if (memory().pinned(to, n, context)) {
      push(*stream, [=] { return memory().copy(to, address(from), n); });
      return CUDA_SUCCESS;
    }
    if (memory().touches(to, n)) return CUDA_ERROR_INVALID_VALUE;
    stream->wait();
    if (context.lost) return context.lost.load();
    return memory().read(to, address(from), n) ? CUDA_SUCCESS : gone(current_call());
  });
}

EMU_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream handle) {
  return in_context(__func__, [&](Context& context) {
    auto stream = objects().find<Stream>(handle, context);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!memory().contains(address(to), n, context) || !memory().contains(address(from), n, context)) return CUDA_ERROR_INVALID_VALUE;
    push(*stream, [=] { return memory().copy(address(to), address(from), n); });
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream handle) {
  return in_context(__func__, [&](Context& context) { return push_fill(context, handle, to, value, 1, count); });
}

EMU_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream handle) {
  return in_context(__func__, [&](Context& context) { return push_fill(context, handle, to, value, 4, count); });
}

}  // namespace driver
