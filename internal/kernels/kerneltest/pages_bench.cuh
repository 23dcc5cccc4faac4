// What the benchmark kernels of the page pool take and count.
#pragma once

#include "../device.cuh"

// PageCounts are sums over a launch.
struct PageCounts {
  uint64_t requests;    // of threads, rounds counted apart
  uint64_t refused;     // that got PAGE_NONE
  uint64_t steps;       // of all requests; by requests: steps a thread (TAS)
  uint64_t most;        // steps of one request
  uint64_t warps;       // warps with at least one request, rounds counted apart
  uint64_t warp_steps;  // of each warp the most of its lanes; by warps: steps a warp (WAS)
};

// PageAsk is who asks for pages, or gives them back. In each warp the lanes of `lanes`
// ask, n of them in the grid, each `rounds` times. Request r of round k, counted in the
// order of warps and lanes, has its page at out[k·n + r].
struct PageAsk {
  uint32_t* out;       // pages, PAGE_NONE where none was got
  uint32_t* locks;     // one bit for each word, all 0; for the kernels with "lock" in their name
  PageCounts* counts;  // which the caller sets to 0; for those with "counted"
  uint32_t n;
  uint32_t lanes;
  uint32_t rounds;
  uint32_t help;  // 1: lanes that do not ask help those that do, where the method knows how
};

// PageMalloc is who asks page_malloc for memory, or gives it back: threads 0 to n-1.
struct PageMalloc {
  uint64_t* out;     // offset of thread i's memory in the pool, ~0 if it got none
  uint32_t n;
  uint32_t bytes;    // that each asks for; 0: mixed, 4 to 8192
  uint32_t at_once;  // 1: each gives back what it got before the kernel ends
};
