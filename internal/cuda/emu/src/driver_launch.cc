// cuFunc*, cuLaunchKernel, cuOccupancy*.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "call.h"
#include "module.h"
#include "report.h"
#include "stream.h"

namespace driver {

namespace {

// launch_parameters finds the packed parameters in the list of cuLaunchKernel's last argument.
CUresult launch_parameters(const Function& function, void** extra, std::vector<uint64_t>* params) {
  const void* buffer = nullptr;
  const size_t* size = nullptr;
  for (; extra && *extra; extra += 2) {
    if (extra[0] == reinterpret_cast<void*>(CU_LAUNCH_PARAM_BUFFER_POINTER)) buffer = extra[1];
    if (extra[0] == reinterpret_cast<void*>(CU_LAUNCH_PARAM_BUFFER_SIZE)) size = static_cast<const size_t*>(extra[1]);
  }
  const size_t given = size ? *size : 0;
  if (given != function.kernel->param_bytes || (given && !buffer)) {
    say("%s takes %u bytes of parameters, not %zu", function.kernel->name, function.kernel->param_bytes, given);
    return CUDA_ERROR_INVALID_VALUE;
  }
  params->resize((given + 7) / 8);  // words: kernels expect them aligned
  if (given) memcpy(params->data(), buffer, given);
  return CUDA_SUCCESS;
}

// fits tells whether the device takes a grid of this shape.
bool fits(const Function& function, unsigned blocks, unsigned threads, unsigned shared) {
  return blocks > 0 && blocks <= 2147483647 && threads > 0 && threads <= function.thread_limit() && shared <= function.max_dynamic_shared;
}

}  // namespace

// Registers and local memory are the compiler's, which there is none of here: 32, a usual figure,
// and 0.
EMU_API CUresult cuFuncGetAttribute(int* out, int attribute, CUfunction handle) {
  return in_context(__func__, [&](Context& context) {
    auto function = objects().find<Function>(handle, context);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    const std::map<int, uint32_t> values = {
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function->thread_limit()},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function->ptx.static_shared},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 0},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, 32},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, architecture()},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, architecture()},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function->max_dynamic_shared},
    };
    auto at = values.find(attribute);
    if (!out || at == values.end()) return CUDA_ERROR_INVALID_VALUE;
    *out = static_cast<int>(at->second);
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuFuncSetAttribute(CUfunction handle, int attribute, int value) {
  return in_context(__func__, [&](Context& context) {
    auto function = objects().find<Function>(handle, context);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        static_cast<uint32_t>(value) + function->ptx.static_shared > shared_per_block_optin) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    function->max_dynamic_shared = static_cast<uint32_t>(value);
    return CUDA_SUCCESS;
  });
}

// Grids and blocks of one dimension, and packed parameters, are what gagg uses.
EMU_API CUresult cuLaunchKernel(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared, CUstream stream_handle, void** params, void** extra) {
  return in_context(__func__, [&](Context& context) {
    auto function = objects().find<Function>(handle, context);
    auto stream = objects().find<Stream>(stream_handle, context);
    if (!function || !stream) return CUDA_ERROR_INVALID_HANDLE;
    if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || params) return CUDA_ERROR_NOT_SUPPORTED;
    if (!fits(*function, grid_x, block_x, shared)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<uint64_t> packed;
    if (CUresult code = launch_parameters(*function, extra, &packed)) return code;
    const EmuKernel* kernel = function->kernel;
    stream->push({kernel->name, [=] { return emu_run({kernel, grid_x, block_x, shared, packed.data()}); }});
    return CUDA_SUCCESS;
  });
}

// By threads, shared memory and the number of blocks; what registers would allow is not known.
EMU_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, CUfunction handle, int threads, size_t dynamic_shared) {
  return in_context(__func__, [&](Context& context) {
    auto function = objects().find<Function>(handle, context);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (!out || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    const size_t shared = dynamic_shared + function->ptx.static_shared;
    const int rounded = (threads + warp_size - 1) / warp_size * warp_size;
    int blocks = std::min(max_blocks_per_multiprocessor, max_threads_per_multiprocessor / rounded);
    if (shared > 0) blocks = static_cast<int>(std::min<size_t>(static_cast<size_t>(blocks), shared_per_multiprocessor / shared));
    *out = static_cast<uint32_t>(threads) > function->thread_limit() ? 0 : blocks;
    return CUDA_SUCCESS;
  });
}

}  // namespace driver
