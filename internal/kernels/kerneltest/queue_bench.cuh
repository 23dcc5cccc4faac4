// What the benchmark kernels of the queue count.
#pragma once

#include "../device.cuh"

// QueueSteps are sums over the threads of a launch; the caller sets them to 0. A
// step is a try to take a ticket.
struct QueueSteps {
  uint64_t threads;       // that asked
  uint64_t thread_steps;  // of all of them
  uint64_t warps;         // with a thread that asked
  uint64_t warp_steps;    // the most steps of a lane, summed over the warps
};
