// Kernels that show the layer itself at work: parameters arrive, memory is written, statuses are
// reported, time passes.
//
// Each thread works for itself and touches only its own elements, but for the status word. There
// are no barriers.
#include "../device.cuh"
#include "../status.cuh"
#include "probe.cuh"

// probe_fill writes value, value + 1, … into n words.
extern "C" __global__ void probe_fill(uint32_t* out, uint32_t n, uint32_t value) {
  for (uint64_t i = global_thread(); i < n; i += global_threads()) out[i] = value + static_cast<uint32_t>(i);
}

// probe_add adds n words to n words.
extern "C" __global__ void __launch_bounds__(256) probe_add(const uint32_t* a, const uint32_t* b, uint32_t* sum, uint32_t n) {
  for (uint64_t i = global_thread(); i < n; i += global_threads()) sum[i] = a[i] + b[i];
}

// probe_echo writes down its parameters, which are as badly aligned as they can be. One thread.
extern "C" __global__ void probe_echo(bool truth, double real, int8_t i8, int64_t i64, uint8_t u8, ProbePair pair, int16_t i16, uint16_t u16,
                                      float single, uint64_t u64, int32_t i32, const uint32_t* pointer, ProbeTypes all, uint32_t u32,
                                      ProbeTypes* separate, ProbeTypes* together, uint8_t last) {
  separate->truth = truth;
  separate->real = real;
  separate->i8 = i8;
  separate->i64 = i64;
  separate->u8 = u8;
  separate->i16 = i16;
  separate->u16 = u16;
  separate->single = single;
  separate->u64 = u64;
  separate->i32 = i32;
  separate->pointer = pointer;
  separate->u32 = u32;
  separate->pairs[0] = pair;
  separate->pairs[1] = all.pairs[1];
  separate->last = last;
  *together = all;
}

// probe_report has each of n threads report the status that is its index. The order in which they
// do is anyone's.
extern "C" __global__ void probe_report(uint32_t* status, uint32_t n) {
  uint32_t i = global_thread();
  if (i < n) report(status, static_cast<Status>(i));
}

// probe_spin keeps each thread busy for some ticks of the multiprocessor's clock.
extern "C" __global__ void probe_spin(uint64_t ticks) {
  uint64_t begin = clock64();
  while (clock64() - begin < ticks) __nanosleep(100);
}
