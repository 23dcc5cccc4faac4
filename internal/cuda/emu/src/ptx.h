// What the emulator reads from the text of a module: enough to refuse what a driver would refuse,
// and the facts of each kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

// PtxKernel is one .entry.
struct PtxKernel {
  std::string name;
  uint32_t param_bytes = 0;    // of the parameters as a C struct, without padding at its end
  uint32_t max_threads = 0;    // .maxntid, 0 if it has none
  uint32_t static_shared = 0;  // bytes of the .shared variables that it names
};

struct Ptx {
  int version = 0;  // of the language: 78 for 7.8
  int target = 0;   // 70 for sm_70
  std::vector<PtxKernel> kernels;
};

// read_ptx parses a module; false, with what a person has to know in *error, when it is none.
bool read_ptx(const std::string& text, Ptx* ptx, std::string* error);

}  // namespace driver
