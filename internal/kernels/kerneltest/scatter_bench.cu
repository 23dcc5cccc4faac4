// What bench/scatter measures package partition's kernels against, and with what data.
//
//   scatter_bench_fill   rows of any stride
//   scatter_bench_index  the first kernel of paper 003, section 4.2.5, to the word
//   scatter_bench_final  the third one, and the moving of rows that follows from it (the second is
//                        ega_scatter_prefix)
#include "../device.cuh"

#include "../ega_scatter.cuh"

// A random number that only depends on i (splitmix64, Steele et al. 2014).
__device__ __forceinline__ uint64_t scatter_bench_random(uint64_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Makes `count` rows, whose first word is a random key, and whose others are the row's number. Any
// number of threads; each makes every so many'th word. skewed: 0, all keys are different; 1, all
// are the same; 2, key k is about as frequent as 1/k (Zipf's law, exponent 1): the logarithm of k
// is uniform below 2^24, but for straight lines between powers of two.
extern "C" __global__ void scatter_bench_fill(uint64_t* words, uint64_t count, uint32_t stride, uint32_t skewed) {
  uint64_t all = count * stride;
  for (uint64_t i = global_thread(); i < all; i += global_threads()) {
    uint64_t row = i / stride;
    uint64_t word = row;
    if (i % stride == 0) {
      uint64_t random = scatter_bench_random(row);
      uint32_t power = uint32_t(random % 24);
      uint64_t key = (uint64_t(1) << power) + (random >> 32) % (uint64_t(1) << power);
      word = skewed == 0 ? random : skewed == 1 ? 1 : key;
    }
    words[i] = word;
  }
}

// A block takes rows.most rows. Each thread counts its rows in the block's counters, one atomic a
// row, then the block's counts are added to those of all blocks, and the row's index in its
// partition is the sum of both. Dynamic shared memory: a word a partition. Barriers: behind the
// zeroed counters, behind the counting, and behind what the counters of all blocks said.
extern "C" __global__ void scatter_bench_index(ScatterRows rows, uint32_t* counts, uint32_t* index) {
  DYNAMIC_SHARED(uint32_t, counters);
  scatter_zero(counters, 1u << rows.bits);
  __syncthreads();
  uint32_t first = blockIdx.x * rows.most;
  uint32_t before[SCATTER_THREAD_ROWS];
#pragma unroll
  for (uint32_t k = 0; k < SCATTER_THREAD_ROWS; k++) {
    uint32_t r = k * blockDim.x + threadIdx.x;
    if (r >= rows.most || first + r >= rows.count) continue;
    uint32_t p = scatter_partition(rows, rows.words[uint64_t(first + r) * rows.stride]);
    before[k] = atomicAdd(counters + p, 1u);
  }
  __syncthreads();
  for (uint32_t p = threadIdx.x; p < 1u << rows.bits; p += blockDim.x) counters[p] = atomicAdd(counts + p, counters[p]);
  __syncthreads();
#pragma unroll
  for (uint32_t k = 0; k < SCATTER_THREAD_ROWS; k++) {
    uint32_t r = k * blockDim.x + threadIdx.x;
    if (r >= rows.most || first + r >= rows.count) continue;
    uint32_t p = scatter_partition(rows, rows.words[uint64_t(first + r) * rows.stride]);
    index[first + r] = counters[p] + before[k];
  }
}

// Moves each row to where its partition begins plus its index. A thread a row; no barriers.
extern "C" __global__ void scatter_bench_final(ScatterRows rows, const uint32_t* from, const uint32_t* index,
                                               uint64_t* to) {
  for (uint32_t r = global_thread(); r < rows.count; r += global_threads()) {
    const uint64_t* row = rows.words + uint64_t(r) * rows.stride;
    uint64_t* out = to + uint64_t(from[scatter_partition(rows, row[0])] + index[r]) * rows.stride;
    if (rows.stride == 2) {
      *reinterpret_cast<RowPair*>(out) = *reinterpret_cast<const RowPair*>(row);
      continue;
    }
    for (uint32_t i = 0; i < rows.stride; i++) out[i] = row[i];
  }
}
