// cuModule*: the text or the machine code of a module says which kernels it has, the generator's
// table has them for the host.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "call.h"
#include "cubin.h"
#include "module.h"
#include "report.h"

namespace driver {

namespace {

constexpr int newest_ptx = 90;  // what the pretended driver, 13.0, takes

const EmuKernel* find_kernel(const std::string& name) {
  const auto* end = emu_kernels + emu_kernel_count;
  const auto* at = std::find_if(emu_kernels, end, [&](const EmuKernel& k) { return name == k.name; });
  return at == end ? nullptr : at;
}

// JitOptions is the part of the options of cuModuleLoadDataEx that concerns the log.
struct JitOptions {
  char* log = nullptr;
  void** log_size = nullptr;  // holds the size of the buffer, then that of the text

  JitOptions(unsigned count, const int* options, void** values) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) log = static_cast<char*>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) log_size = &values[i];
      if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) values[i] = nullptr;  // nothing is said there
    }
  }

  void write(const std::string& text) {
    if (!log || !log_size) return;
    const auto room = reinterpret_cast<uintptr_t>(*log_size);
    const size_t n = room ? std::min<size_t>(text.size(), room - 1) : 0;
    memcpy(log, text.data(), n);
    if (room) log[n] = 0;
    *log_size = reinterpret_cast<void*>(n);
  }
};

// read_once is read_ptx, which takes long beside all that a small test does on a device: what it
// made of a text is kept, as a driver keeps what it compiled, since each context loads the same
// modules again.
bool read_once(const std::string& text, Ptx* ptx, std::string* error) {
  static std::mutex mutex;
  static auto* known = new std::unordered_map<std::string, Ptx>;
  std::lock_guard lock(mutex);
  if (auto at = known->find(text); at != known->end()) {
    *ptx = at->second;
    return true;
  }
  if (!read_ptx(text, ptx, error)) return false;
  known->emplace(text, *ptx);
  return true;
}

// known tells whether this library was built with the kernels of a module: a driver needs no such
// check.
CUresult known(const Ptx& ptx, std::string* error) {
  for (const auto& kernel : ptx.kernels) {
    const EmuKernel* built = find_kernel(kernel.name);
    if (!built) {
      *error = format("emulator : it was built without the kernel %s (make emu)\n", kernel.name.c_str());
      return CUDA_ERROR_INVALID_PTX;
    }
    if (built->param_bytes != kernel.param_bytes) {
      *error = format("emulator : it was built with %u bytes of parameters of %s, not %u (make emu)\n", built->param_bytes, kernel.name.c_str(),
                      kernel.param_bytes);
      return CUDA_ERROR_INVALID_PTX;
    }
  }
  return CUDA_SUCCESS;
}

// take is what a driver does with machine code: it refuses what is for other devices.
CUresult take(const void* image, Ptx* code, std::string* error) {
  if (!read_elf(image, code, error)) return CUDA_ERROR_INVALID_IMAGE;
  if (code->target / 10 != architecture() / 10 || code->target > architecture()) {
    *error = format("no kernel image is available for execution on the device: it is for sm_%d\n", code->target);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return known(*code, error);
}

// compile is the driver's compiler: it refuses what it cannot read, and what is for newer devices.
CUresult compile(const std::string& text, Ptx* ptx, std::string* error) {
  if (!read_once(text, ptx, error)) return CUDA_ERROR_INVALID_PTX;
  if (ptx->version > newest_ptx) {
    *error = format("ptxas fatal : Unsupported .version %d.%d; current version is '%d.%d'\n", ptx->version / 10, ptx->version % 10, newest_ptx / 10,
                    newest_ptx % 10);
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  if (ptx->target > architecture()) {
    *error = format("ptxas fatal : SM version specified by .target is higher than default SM version assumed: sm_%d\n", ptx->target);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return known(*ptx, error);
}

void* add_module(const Ptx& ptx) {
  auto module = std::make_shared<Module>();
  module->context = current_context();
  module->origin = current_call();
  for (const auto& kernel : ptx.kernels) {
    auto function = std::make_shared<Function>();
    function->context = module->context;
    function->origin = module->origin;
    function->ptx = kernel;
    function->kernel = find_kernel(kernel.name);
    function->max_dynamic_shared = shared_per_block - std::min<uint32_t>(shared_per_block, kernel.static_shared);
    module->functions[kernel.name] = objects().add(function);
  }
  return objects().add(module);
}

}  // namespace

EMU_API CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned count, int* options, void** values) {
  return in_context(__func__, [&](Context&) {
    if (!out || !image || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
    JitOptions jit(count, options, values);
    Ptx ptx;
    std::string error;
    const CUresult code = is_elf(image) ? take(image, &ptx, &error) : compile(static_cast<const char*>(image), &ptx, &error);
    jit.write(error);
    if (!code) *out = static_cast<CUmodule>(add_module(ptx));
    return code;
  });
}

EMU_API CUresult cuModuleUnload(CUmodule handle) {
  return in_context(
      __func__,
      [&](Context& context) {
        auto module = objects().find<Module>(handle, context);
        if (!module) return CUDA_ERROR_INVALID_HANDLE;
        for (auto& [name, function] : module->functions) objects().remove(function);
        objects().remove(handle);
        return CUDA_SUCCESS;
      },
      Effect::kept);
}

EMU_API CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  return in_context(__func__, [&](Context& context) {
    auto module = objects().find<Module>(handle, context);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
    auto at = module->functions.find(name);
    if (at == module->functions.end()) return CUDA_ERROR_NOT_FOUND;
    *out = static_cast<CUfunction>(at->second);
    return CUDA_SUCCESS;
  });
}

}  // namespace driver
