#include "config.h"

#include <cstdlib>

#include "emu.h"

namespace driver {

namespace {

uint64_t number(const char* name, uint64_t unless_set) {
  const char* text = getenv(name);
  return text && *text ? strtoull(text, nullptr, 10) : unless_set;
}

std::string text(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

Config read() {
  Config c{
      .devices = static_cast<int>(number("GAGG_EMU_DEVICES", 1)),
      .architecture = static_cast<int>(number("GAGG_EMU_ARCHITECTURE", 70)),
      .version = static_cast<int>(number("GAGG_EMU_VERSION", 13000)),
      .memory = number("GAGG_EMU_MEMORY", uint64_t{1} << 30),
      .faults = text("GAGG_EMU_FAULT"),
      .seed = number("GAGG_EMU_SEED", 1),
  };
  const std::string slow = text("GAGG_EMU_SLOW");
  const size_t colon = slow.find(':');
  if (colon != std::string::npos) c.slow_from = strtoull(slow.c_str(), nullptr, 10);
  c.slow_to = strtoull(slow.c_str() + (colon == std::string::npos ? 0 : colon + 1), nullptr, 10);
  return c;
}

}  // namespace

const Config& config() {
  static const auto* read_once = new Config(read());
  return *read_once;
}

void Knobs::reset() {
  seed = config().seed;
  slow_from = config().slow_from;
  slow_to = config().slow_to;
}

Knobs& knobs() {
  static auto* shared = [] {
    auto* fresh = new Knobs;
    fresh->reset();
    return fresh;
  }();
  return *shared;
}

}  // namespace driver

uint64_t emu_schedule_seed() { return driver::knobs().seed.load(std::memory_order_relaxed); }
