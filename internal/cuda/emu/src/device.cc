#include "device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "call.h"
#include "config.h"

namespace driver {

namespace {

// By the numbers of CUdevice_attribute. What is not here is refused, so that a new question is
// noticed.
const std::map<int, int> attributes = {
    {1, max_threads},  // per block
    {2, max_threads},  // x, y, z of a block
    {3, max_threads},
    {4, 64},
    {5, 2147483647},  // x, y, z of a grid
    {6, 65535},
    {7, 65535},
    {8, shared_per_block},
    {9, 64 << 10},  // constant memory
    {10, warp_size},
    {12, registers_per_multiprocessor},  // per block
    {13, 1000000},                       // clock in kHz
    {16, 4},                             // multiprocessors
    {17, 0},                             // limit on the time of a kernel
    {18, 0},                             // integrated
    {19, 1},                             // maps host memory
    {20, 0},                             // compute mode: default
    {31, 1},                             // concurrent kernels
    {32, 0},                             // ECC
    {33, 0},                             // PCI bus, device
    {34, 0},
    {36, 1000000},  // memory clock in kHz
    {37, 128},      // memory bus in bits
    {38, 4 << 20},  // L2 cache
    {39, max_threads_per_multiprocessor},
    {40, 2},  // copy engines
    {41, 1},  // unified addresses
    {50, 0},  // PCI domain
    {75, architecture() / 10},  // compute capability
    {76, architecture() % 10},
    {81, shared_per_multiprocessor},
    {82, registers_per_multiprocessor},
    {97, shared_per_block_optin},
    {106, max_blocks_per_multiprocessor},
};

// visible counts the ordinals at the front of CUDA_VISIBLE_DEVICES that exist; the first that does
// not ends the list, as with the driver.
int visible(const char* list, int devices) {
  std::istringstream ordinals(list);
  int count = 0;
  for (std::string ordinal; std::getline(ordinals, ordinal, ','); ++count) {
    char* end = nullptr;
    const long n = strtol(ordinal.c_str(), &end, 10);
    if (end == ordinal.c_str() || *end || n < 0 || n >= devices) break;
  }
  return count;
}

template <class Body>
CUresult of_device(const char* name, CUdevice device, const void* out, Body body) {
  return call(name, Needs::library, [&] {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (device < 0 || device >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
    return body();
  });
}

}  // namespace

int architecture() { return config().architecture; }

int device_count() {
  static const int count = [] {
    const char* list = getenv("CUDA_VISIBLE_DEVICES");
    return list ? visible(list, config().devices) : config().devices;
  }();
  return count;
}

EMU_API CUresult cuDriverGetVersion(int* out) {
  return call(__func__, Needs::nothing, [&] {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = config().version;
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDeviceGetCount(int* out) {
  return call(__func__, Needs::library, [&] {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = device_count();
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDeviceGet(CUdevice* out, int ordinal) {
  return of_device(__func__, ordinal, out, [&] {
    *out = ordinal;
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDeviceGetName(char* out, int size, CUdevice device) {
  return of_device(__func__, device, out, [&] {
    snprintf(out, static_cast<size_t>(size), "gagg emulator");
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDeviceGetUuid_v2(CUuuid* out, CUdevice device) {
  return of_device(__func__, device, out, [&] {
    memset(out->bytes, 0xE0, sizeof out->bytes);
    out->bytes[15] = static_cast<unsigned char>(device);
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDeviceTotalMem_v2(size_t* out, CUdevice device) {
  return of_device(__func__, device, out, [&] {
    *out = config().memory;
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDeviceGetAttribute(int* out, int attribute, CUdevice device) {
  return of_device(__func__, device, out, [&] {
    auto at = attributes.find(attribute);
    if (at == attributes.end()) return CUDA_ERROR_INVALID_VALUE;
    *out = at->second;
    return CUDA_SUCCESS;
  });
}

EMU_API CUresult cuDeviceGetPCIBusId(char* out, int size, CUdevice device) {
  return of_device(__func__, device, out, [&] {
    snprintf(out, static_cast<size_t>(size), "0000:E0:%02X.0", device);
    return CUDA_SUCCESS;
  });
}

}  // namespace driver
