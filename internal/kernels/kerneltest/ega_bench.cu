// Data for bench/ega, made where it is needed. Keys are scrambled numbers, so that neighbours in
// number are none in memory. Any threads a block; thread i of T makes pairs i, i + T, ...; no
// barriers.
//
//   ega_bench_uniform  all groups alike
//   ega_bench_skewed   any other distribution: cumulated[k] is the share of the rows that groups 0
//                      to k have, computed by the host; a row finds its group by bisection
//   ega_bench_repeated the groups in order, again and again: so many, to the last one
//   ega_bench_sum      what the values of pairs add up to
#include "../device.cuh"

#include "../ega.cuh"

// A random number that only depends on i (splitmix64, Steele et al. 2014).
__device__ __forceinline__ uint64_t ega_bench_random(uint64_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// ega_bench_unit is a double in [0, 1).
__device__ __forceinline__ double ega_bench_unit(uint64_t i) { return double(ega_bench_random(i) >> 11) * 0x1p-53; }

// ega_bench_pair is the pair of a group: other groups have other keys, since the scrambling can be
// undone.
__device__ __forceinline__ EgaTwo ega_bench_pair(uint64_t group) {
  return EgaTwo{group * 0x9e3779b97f4a7c15 ^ 0x5bd1e995, 1};
}

extern "C" __global__ void ega_bench_uniform(EgaTwo* pairs, uint64_t n, uint64_t groups, uint64_t seed) {
  for (uint64_t i = global_thread(); i < n; i += global_threads()) {
    pairs[i] = ega_bench_pair(__umul64hi(ega_bench_random(i + seed), groups));
  }
}

extern "C" __global__ void ega_bench_repeated(EgaTwo* pairs, uint64_t n, uint64_t groups) {
  for (uint64_t i = global_thread(); i < n; i += global_threads()) pairs[i] = ega_bench_pair(i % groups);
}

// Adds the values of n pairs to *sum, which the caller has set to 0.
extern "C" __global__ void ega_bench_sum(const EgaTwo* pairs, uint64_t n, uint64_t* sum) {
  uint64_t own = 0;
  for (uint64_t i = global_thread(); i < n; i += global_threads()) own += pairs[i].second;
  atomicAdd(sum, own);
}

// The number of the first of n cumulated shares that is above u.
__device__ __forceinline__ uint64_t ega_bench_above(const double* cumulated, uint64_t n, double u) {
  uint64_t from = 0, to = n - 1;
  while (from < to) {
    uint64_t middle = (from + to) / 2;
    if (cumulated[middle] > u) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}

extern "C" __global__ void ega_bench_skewed(EgaTwo* pairs, uint64_t n, uint64_t groups, const double* cumulated,
                                             uint64_t seed) {
  for (uint64_t i = global_thread(); i < n; i += global_threads()) {
    pairs[i] = ega_bench_pair(ega_bench_above(cumulated, groups, ega_bench_unit(i + seed)));
  }
}
