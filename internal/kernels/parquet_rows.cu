// Rows of the arrays that a parcel's pages came to: [hash | key words | state words], as the group-by kernels take them
// (ega.cuh).
//
// A thread makes a row in shared memory; then the block copies its rows, which lie one behind the other in the result, so
// that neighbours write neighbouring words. Rows lie in shared memory with an odd number of words between them: with an
// even one the threads of a warp would meet in few of its banks.
//
// Cost of a row with w words from a arrays: a loads and w stores of 8 bytes, and some 30 instructions for each word, of
// which most are the division that finds the place of a word again.
#include "device.cuh"

#include "ega.cuh"
#include "parquet.cuh"

// parquet_row makes row r of the job at `row`.
static __device__ __forceinline__ void parquet_row(const ParquetJob& job, uint32_t r, uint64_t* row) {
  const uint64_t* arrays = job.arrays + r;
  uint64_t* key = row + job.hash_words;
  for (uint32_t k = 0; k < job.key_words; k++) key[k] = 0;
  uint64_t hash = EGA_SEED;
  for (uint32_t f = 0; f < job.field_count; f++) {
    const ParquetField field = job.fields[f];
    const uint64_t* array = arrays + field.array * job.array_words;
    for (uint32_t w = 0; w < field.words; w++) key[field.word + w] |= array[w * job.array_words];
    hash = ega_mix(hash, array[field.words * job.array_words]);
  }
  if (job.hash_words == 1) row[0] = hash;
  uint64_t* states = key + job.key_words;
  for (uint32_t s = 0; s < job.state_words; s++) {
    const ParquetState state = job.states[s];
    uint64_t word = state.constant;
    if (state.word != PARQUET_CONSTANT) word = arrays[state.array * job.array_words];
    if (state.word == PARQUET_PRODUCT) word *= arrays[state.constant * job.array_words];
    if (state.word == PARQUET_SUM) word = __builtin_bit_cast(uint64_t, __builtin_bit_cast(double, word) + 0.0);
    states[s] = word;
  }
}

// Writes the job's rows. Threads a block: any number; dynamic shared memory: threads * (words of a row | 1) * 8 bytes, and
// 8 more; any number of blocks, each of which takes as many rows as it has threads in turn. The first barrier is for the
// stop word, the second before rows are read that others made, the third before they make the next.
extern "C" __global__ void __launch_bounds__(128) parquet_rows_make(ParquetJob job, uint64_t* rows) {
  DYNAMIC_SHARED(uint64_t, shared);
  if (parquet_stopped(job.stop, reinterpret_cast<uint32_t*>(shared))) return;
  uint64_t* tile = shared + 1;
  const uint32_t stride = job.hash_words + job.key_words + job.state_words;
  const uint32_t apart = stride | 1;
  for (uint64_t first = uint64_t(blockIdx.x) * blockDim.x; first < job.rows; first += global_threads()) {
    const uint32_t count = job.rows - first < blockDim.x ? uint32_t(job.rows - first) : blockDim.x;
    if (threadIdx.x < count) parquet_row(job, uint32_t(first) + threadIdx.x, tile + threadIdx.x * apart);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count * stride; i += blockDim.x) {
      rows[first * stride + i] = tile[i / stride * apart + i % stride];
    }
    __syncthreads();
  }
}
