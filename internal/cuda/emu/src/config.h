// The numbers that environment variables set, each read once, when the library is loaded.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace driver {

struct Config {
  int devices;             // GAGG_EMU_DEVICES: how many, 1 unless set
  int architecture;        // GAGG_EMU_ARCHITECTURE: ten times the compute capability of the devices, 70 unless set
  int version;             // GAGG_EMU_VERSION: what cuDriverGetVersion says, 13000 unless set
  uint64_t memory;         // GAGG_EMU_MEMORY: bytes of each device, 1 GiB unless set
  std::string faults;      // GAGG_EMU_FAULT: see Faults::arm
  uint64_t seed;           // GAGG_EMU_SEED: of everything drawn at random, 1 unless set
  uint64_t slow_from = 0;  // GAGG_EMU_SLOW: "least:most" or "most" microseconds before each operation of a stream
  uint64_t slow_to = 0;
};

const Config& config();

// Knobs are what the control functions change while the program runs.
struct Knobs {
  std::atomic<uint64_t> seed, slow_from, slow_to;

  void reset();  // to the environment's
};

Knobs& knobs();

}  // namespace driver
