// cuStream* and cuEvent*. The default stream (handle 0) is not offered: gagg gives each step a
// stream of its own.
#include "call.h"
#include "stream.h"

namespace driver {

namespace {

template <class T, class Body>
CUresult with(const char* name, const void* handle, Body body) {
  return in_context(name, [&](Context& context) {
    auto object = objects().find<T>(handle, context);
    return object ? body(context, *object) : CUDA_ERROR_INVALID_HANDLE;
  });
}

}  // namespace

EMU_API CUresult cuStreamCreate(CUstream* out, unsigned flags) {
  return in_context(__func__, [&](Context&) {
    if (!out || (flags & ~unsigned{CU_STREAM_NON_BLOCKING})) return CUDA_ERROR_INVALID_VALUE;
    *out = static_cast<CUstream>(objects().add(Stream::start(current_context())));
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuStreamDestroy_v2(CUstream handle) {
  return in_context(
      __func__,
      [&](Context& context) {
        auto stream = objects().find<Stream>(handle, context);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        objects().remove(handle);
        stream->close();
        return CUDA_SUCCESS;
      },
      Effect::kept);
}

EMU_API CUresult cuStreamSynchronize(CUstream handle) {
  return with<Stream>(__func__, handle, [](Context& context, Stream& stream) {
    stream.wait();
    return context.lost.load();
  });
}

EMU_API CUresult cuStreamQuery(CUstream handle) {
  return with<Stream>(__func__, handle, [](Context& context, Stream& stream) {
    const bool done = stream.done();  // first: a fault in the work is known by then
    if (context.lost) return context.lost.load();
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

EMU_API CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
  return with<Stream>(__func__, handle, [&](Context& context, Stream& stream) {
    auto event = objects().find<Event>(event_handle, context);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (auto recording = event->last()) {
      stream.push({"cuStreamWaitEvent", [recording] {
                     recording->wait();
                     return CUDA_SUCCESS;
                   }});
    }
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuEventCreate(CUevent* out, unsigned flags) {
  return in_context(__func__, [&](Context&) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_shared<Event>();
    event->context = current_context();
    event->origin = current_call();
    event->timing = !(flags & CU_EVENT_DISABLE_TIMING);
    *out = static_cast<CUevent>(objects().add(event));
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuEventDestroy_v2(CUevent handle) {
  return in_context(
      __func__,
      [&](Context& context) {
        if (!objects().find<Event>(handle, context)) return CUDA_ERROR_INVALID_HANDLE;
        objects().remove(handle);
        return CUDA_SUCCESS;
      },
      Effect::kept);
}

EMU_API CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  return with<Event>(__func__, handle, [&](Context& context, Event& event) {
    auto stream = objects().find<Stream>(stream_handle, context);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    auto recording = event.record();
    auto finish = [recording] {
      recording->finish();
      return CUDA_SUCCESS;
    };
    stream->push({"cuEventRecord", finish, true});
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuEventSynchronize(CUevent handle) {
  return with<Event>(__func__, handle, [](Context& context, Event& event) {
    if (auto recording = event.last()) recording->wait();
    return context.lost.load();
  });
}

EMU_API CUresult cuEventQuery(CUevent handle) {
  return with<Event>(__func__, handle, [](Context& context, Event& event) {
    auto recording = event.last();
    const bool done = !recording || recording->done();
    if (context.lost) return context.lost.load();
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

EMU_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  return with<Event>(__func__, start_handle, [&](Context& context, Event& start) {
    auto end = objects().find<Event>(end_handle, context);
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    if (!end || !start.timing || !end->timing || !start.last() || !end->last()) return CUDA_ERROR_INVALID_HANDLE;
    if (!start.last()->done() || !end->last()->done()) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(end->last()->time() - start.last()->time()).count();
    return CUDA_SUCCESS;
  });
}

}  // namespace driver
