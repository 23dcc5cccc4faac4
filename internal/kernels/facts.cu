// What the device tells the host in a few words.
//
// A kernel writes them to pinned memory itself. A copy would wait for the copy engine, .3 to 2 ms
// where rows leave the device in large pieces, and hold up its stream meanwhile
// (docs/experiments/0012).
#include "device.cuh"

// Writes n words to `to`, which the host reads when it knows that the kernel has ended. Any number
// of threads; no barriers.
extern "C" __global__ void facts_tell(const uint64_t* from, uint64_t* to, uint32_t n) {
  for (uint32_t i = global_thread(); i < n; i += global_threads()) to[i] = from[i];
}
