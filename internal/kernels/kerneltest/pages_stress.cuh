// What the stress kernels of the page pool take.
#pragma once

#include "../device.cuh"

#include "slab_stress.cuh"

// PageStress is a launch of threads that take and give back at random.
struct PageStress {
  uint32_t* owners;     // a word for each page, or for page_malloc for each 16 bytes, all 0
  uint32_t* locks;      // one bit for each word of the bitmap, all 0
  uint32_t* held;       // for each thread PAGE_STRESS_HELD words: the pages that it has in the end
  OwnerFaults* faults;  // all 0
  uint32_t rounds;
  uint32_t lanes;  // of each warp, those that take part
  uint32_t seed;
};

// How many pages, or pieces of memory, a thread holds at most.
constexpr uint32_t PAGE_STRESS_HELD = 4;
