// How a kernel tells what became of it: a word of device memory that the host sets to STATUS_OK
// before the launch and reads after it.
#pragma once

#include "device.cuh"
#include "status_gen.cuh"

// report keeps the gravest of all conditions that the threads of a launch report. Any thread may
// call it at any time.
static __device__ __forceinline__ void report(uint32_t* status, Status condition) {
  if (condition != STATUS_OK) atomicMax(status, static_cast<uint32_t>(condition));
}
