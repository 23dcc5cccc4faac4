// What bench/ega is compared with: pairs sorted by key and equal keys reduced, by CUB. `ega` runs
// it as its -peer:
//
//   nvcc -O3 -std=c++17 -arch=native -o cub cub.cu
//   cub ROWS ROUNDS GROUPS...
//
// For each number of groups it prints a line "groups microseconds found": the median of ROUNDS,
// from pairs in device memory to groups in device memory. Keys and values are arrays of their own,
// as CUB wants them; the pairs are those that ega_bench_uniform makes.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void checked(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "cub: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}

#define CHECK(call) checked(call, #call)

__device__ uint64_t random_of(uint64_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

__global__ void fill(uint64_t* keys, uint64_t* values, uint64_t n, uint64_t groups) {
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) {
    keys[i] = __umul64hi(random_of(i + 1), groups) * 0x9e3779b97f4a7c15 ^ 0x5bd1e995;
    values[i] = 1;
  }
}

struct Arrays {
  uint64_t *keys, *values, *sorted_keys, *sorted_values, *found;
  void* scratch;
  size_t scratch_bytes;
};

struct Plus {
  __host__ __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

// aggregate sorts into the second arrays and reduces into the first. Without scratch memory it only
// asks how much it needs.
void aggregate(Arrays& a, uint64_t n) {
  size_t sort = a.scratch_bytes, reduce = a.scratch_bytes;
  CHECK(cub::DeviceRadixSort::SortPairs(a.scratch, sort, a.keys, a.sorted_keys, a.values, a.sorted_values, n));
  CHECK(cub::DeviceReduce::ReduceByKey(a.scratch, reduce, a.sorted_keys, a.keys, a.sorted_values, a.values, a.found,
                                       Plus(), static_cast<int64_t>(n)));
  if (a.scratch == nullptr) a.scratch_bytes = std::max(sort, reduce);
}

float measure(Arrays& a, uint64_t n, uint64_t groups) {
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  fill<<<1024, 256>>>(a.keys, a.values, n, groups);
  CHECK(cudaEventRecord(start));
  aggregate(a, n);
  CHECK(cudaEventRecord(end));
  CHECK(cudaDeviceSynchronize());
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(end));
  return milliseconds * 1e3f;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: cub ROWS ROUNDS GROUPS...\n");
    return 2;
  }
  const uint64_t n = std::strtoull(argv[1], nullptr, 10);
  const int rounds = std::atoi(argv[2]);
  Arrays a = {};
  for (uint64_t** p : {&a.keys, &a.values, &a.sorted_keys, &a.sorted_values}) CHECK(cudaMalloc(p, n * 8));
  CHECK(cudaMalloc(&a.found, 8));
  aggregate(a, n);
  CHECK(cudaMalloc(&a.scratch, a.scratch_bytes));
  for (int i = 3; i < argc; i++) {
    const uint64_t groups = std::strtoull(argv[i], nullptr, 10);
    std::vector<float> times;
    measure(a, n, groups);  // warms up
    for (int r = 0; r < rounds; r++) times.push_back(measure(a, n, groups));
    std::sort(times.begin(), times.end());
    uint64_t found = 0;
    CHECK(cudaMemcpy(&found, a.found, 8, cudaMemcpyDeviceToHost));
    std::printf("%llu %.1f %llu\n", static_cast<unsigned long long>(groups), times[times.size() / 2],
                static_cast<unsigned long long>(found));
  }
  return 0;
}
