// The functions that tests control the emulator with; package emu binds them. A library without
// them is not the emulator.
//
// Lists come as text, a line for each entry: the caller gives a buffer of `size` bytes, which gets
// as much of the text and its final 0 as it holds, and learns the length of the whole text.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <string>

#include "config.h"
#include "context.h"
#include "emu.h"
#include "fault.h"
#include "grid.h"
#include "memory.h"
#include "report.h"

namespace driver {

namespace {

size_t hand_out(const std::string& text, char* out, size_t size) {
  if (size > 0) {
    const size_t n = std::min(size - 1, text.size());
    memcpy(out, text.data(), n);
    out[n] = 0;
  }
  return text.size();
}

}  // namespace

// emu_fault makes the nth call from now of a function (or of any: "*") return code; with forever,
// those after it too.
EMU_API void emu_fault(const char* call, uint64_t nth, int code, bool forever) { faults().arm(call, nth, code, forever); }

// emu_calls lists the calls since the last reset: "name count".
EMU_API size_t emu_calls(char* out, size_t size) {
  std::string text;
  for (const auto& [name, count] : faults().counts()) text += format("%s %" PRIu64 "\n", name.c_str(), count);
  return hand_out(text, out, size);
}

// emu_leaks lists what lives in contexts that are not lost, and the problems since the last reset
// that no return code showed.
EMU_API size_t emu_leaks(char* out, size_t size) {
  memory().check_guards();
  std::string text;
  for (const auto& line : problems()) text += line + "\n";
  for (const auto& line : context_leaks()) text += line + "\n";
  return hand_out(text, out, size);
}

// emu_reset lets all streams finish, destroys every context with all that is in it, lost or not,
// and forgets faults, counts, problems and the settings of emu_seed and emu_slow. The library stays
// initialised.
EMU_API void emu_reset() {
  reset_contexts();
  faults().clear();
  forget_problems();
  knobs().reset();
  emu_restart_schedule();
}

// emu_seed sets what the schedules of the launches from now on are drawn from.
EMU_API void emu_seed(uint64_t seed) {
  knobs().seed = seed;
  emu_restart_schedule();
}

// emu_built is the fingerprint of the kernels that the library was built from.
EMU_API const char* emu_built() { return emu_kernels_from; }

// emu_slow makes each operation of a stream wait for a random time between two numbers of
// microseconds.
EMU_API void emu_slow(uint64_t from, uint64_t to) {
  knobs().slow_from = from;
  knobs().slow_to = to;
}

}  // namespace driver
