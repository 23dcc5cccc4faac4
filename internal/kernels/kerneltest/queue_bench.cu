// The queue of free pages for measurement. Any threads a block; enough threads
// for n. Nothing is shared; what waits for whom: queue.cuh.
//
//   queue_bench_fill       makes a queue of pages 0 to pages-1
//   queue_bench_get        n pages, one for each thread: one ticket at a time
//   queue_bench_get_warp   the same, one ticket of a warp for all its lanes
//   queue_bench_get_serial the same with tickets taken by atomicCAS, as under a lock
//   queue_bench_get_steps  this one, with QueueSteps, which count the tries
//   queue_bench_free       gives n pages back, one ticket at a time
//   queue_bench_free_warp  the same, one ticket of a warp for all its lanes
#include "../device.cuh"

#include "queue.cuh"
#include "queue_bench.cuh"

// One thread for each slot, and at least one. pages is at most the slots.
extern "C" __global__ void queue_bench_fill(PageQueue queue, uint32_t pages) {
  uint32_t i = global_thread();
  if (i <= queue.mask) queue.slots[i] = i < pages ? i : QUEUE_NONE;
  if (i > 0) return;
  queue.counters[QUEUE_HEAD] = 0;
  queue.counters[QUEUE_TAIL] = pages;
  queue.counters[QUEUE_COUNT] = pages;
}

// out[i] becomes the page of thread i, or QUEUE_NONE.
extern "C" __global__ void queue_bench_get(PageQueue queue, uint32_t* out, uint32_t n) {
  uint32_t i = global_thread(), steps = 0;
  if (i < n) out[i] = queue_get<QUEUE_ADD>(queue, steps);
}

extern "C" __global__ void queue_bench_get_warp(PageQueue queue, uint32_t* out, uint32_t n) {
  uint32_t i = global_thread(), steps = 0;
  uint32_t lanes = __ballot_sync(FULL_MASK, i < n);
  if (i < n) out[i] = queue_get_warp(queue, lanes, steps);
}

extern "C" __global__ void queue_bench_get_serial(PageQueue queue, uint32_t* out, uint32_t n) {
  uint32_t i = global_thread(), steps = 0;
  if (i < n) out[i] = queue_get<QUEUE_CAS>(queue, steps);
}

// The largest of a value over all lanes, in all of them.
__device__ __forceinline__ uint32_t queue_bench_most(uint32_t value) {
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    uint32_t other = __shfl_xor_sync(FULL_MASK, value, distance);
    if (other > value) value = other;
  }
  return value;
}

// Threads a block: a multiple of 32.
extern "C" __global__ void queue_bench_get_steps(PageQueue queue, uint32_t* out, uint32_t n, QueueSteps* counts) {
  uint32_t i = global_thread(), steps = 0;
  if (i < n) {
    out[i] = queue_get<QUEUE_CAS>(queue, steps);
    atomicAdd(&counts->threads, uint64_t(1));
    atomicAdd(&counts->thread_steps, uint64_t(steps));
  }
  uint32_t most = queue_bench_most(steps);
  if (lane_id() != 0 || i >= n) return;
  atomicAdd(&counts->warps, uint64_t(1));
  atomicAdd(&counts->warp_steps, uint64_t(most));
}

// Frees in[0] to in[n-1], leaving out QUEUE_NONE.
extern "C" __global__ void queue_bench_free(PageQueue queue, const uint32_t* in, uint32_t n) {
  uint32_t i = global_thread();
  if (i < n && in[i] != QUEUE_NONE) queue_free(queue, in[i]);
}

extern "C" __global__ void queue_bench_free_warp(PageQueue queue, const uint32_t* in, uint32_t n) {
  uint32_t i = global_thread();
  bool holds = i < n && in[i] != QUEUE_NONE;
  uint32_t lanes = __ballot_sync(FULL_MASK, holds);
  if (holds) queue_free_warp(queue, lanes, in[i]);
}
