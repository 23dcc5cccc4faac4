// Modules and their functions.
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "device.h"
#include "emu.h"
#include "object.h"
#include "ptx.h"

namespace driver {

// Function is a kernel of a module: what the PTX says of it, and what this library executes.
struct Function : Object {
  const char* kind() const override { return "function"; }

  PtxKernel ptx;
  const EmuKernel* kernel = nullptr;
  std::atomic<uint32_t> max_dynamic_shared{0};  // bytes that a launch may ask for

  uint32_t thread_limit() const { return ptx.max_threads ? ptx.max_threads : max_threads; }
};

// Module owns its functions' handles.
struct Module : Object {
  const char* kind() const override { return "module"; }

  std::map<std::string, void*> functions;
};

}  // namespace driver
