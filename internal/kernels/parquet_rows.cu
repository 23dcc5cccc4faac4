// Rows of the arrays that a parcel's pages came to: [hash | key words | state words], as the
// group-by kernels take them (ega.cuh).
//
// A thread makes a row in shared memory; then the block copies its rows, which lie one behind the
// other in the result, so that neighbours write neighbouring words. Rows lie in shared memory with
// an odd number of words between them: with an even one the threads of a warp would meet in few of
// its banks.
//
// Cost of a row with w words from a arrays: a loads of 4 and of 8 bytes, w stores of 8, and some 30
// instructions for each word, of which most are the division that finds the place of a word again.
#include "device.cuh"

#include "ega_state.cuh"
#include "parquet.cuh"
#include "parquet_fixed.cuh"
#include "parquet_sums.cuh"
#include "scan.cuh"

// The field hash of NULL: internal/key's hashNull.
constexpr uint64_t PARQUET_HASH_NULL = 0x8ebc6af09c88c6e3;

// parquet_key makes the key words of row r, and returns the key's hash. The key's words are 0
// before.
static __device__ __forceinline__ uint64_t parquet_key(const ParquetJob& job, uint32_t r, uint64_t* key) {
  uint64_t hash = EGA_SEED;
  for (uint32_t f = 0; f < job.field_count; f++) {
    const ParquetField field = job.fields[f];
    const uint32_t place = job.places[field.place * job.array_words + r];
    if (place == PARQUET_NULL) {
      key[field.null_word] |= field.null_bit;
      hash = ega_mix(hash, PARQUET_HASH_NULL);
      continue;
    }
    const uint64_t* array = job.arrays + field.array * job.array_words + place;
    for (uint32_t w = 0; w < field.words; w++) key[field.word + w] |= array[w * job.array_words];
    hash = ega_mix(hash, array[field.words * job.array_words]);
  }
  return hash;
}

// parquet_hash is the hash of the key of row r.
static __device__ __forceinline__ uint64_t parquet_hash(const ParquetJob& job, uint32_t r) {
  uint64_t hash = EGA_SEED;
  for (uint32_t f = 0; f < job.field_count; f++) {
    const ParquetField field = job.fields[f];
    const uint32_t place = job.places[field.place * job.array_words + r];
    const uint64_t* array = job.arrays + (field.array + field.words) * job.array_words;
    hash = ega_mix(hash, place == PARQUET_NULL ? PARQUET_HASH_NULL : array[place]);
  }
  return hash;
}

// parquet_order is the place of a double in order: that of internal/agg's floatKey.
static __device__ __forceinline__ uint64_t parquet_order(uint64_t bits) {
  const double v = __builtin_bit_cast(double, bits) + 0.0;  // -0 becomes 0
  if (v != v) return 0x7fffffffffffffff;
  return static_cast<uint64_t>(ega_order(__builtin_bit_cast(uint64_t, v)));
}

// parquet_prefix is the beginning of a text of the store: internal/agg's prefix. Behind the last
// byte of a text the rest of its word is 0.
static __device__ __forceinline__ uint64_t parquet_prefix(const ParquetTextStore& store, uint64_t ref) {
  const uint64_t* text = store.arena + uint32_t(ref);
  return uint32_t(ld_relaxed(text - 1)) == 0 ? 0 : __builtin_bswap64(ld_relaxed(text));
}

// parquet_position is the number of row r in the input.
static __device__ __forceinline__ uint64_t parquet_position(const ParquetJob& job, uint32_t r) {
  uint32_t lo = 0, hi = job.unit_count;  // the unit is one of lo to hi - 1
  while (lo + 1 < hi) {
    const uint32_t mid = (lo + hi) / 2;
    if (job.units[mid].first <= r) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return job.units[lo].position + (r - job.units[lo].first);
}

// parquet_factor is the other factor of a product, from an array: the value itself, or that of the
// output beside it.
static __device__ __forceinline__ uint64_t parquet_factor(const ParquetJob& job, const ParquetState& state, uint32_t array,
                                                          uint32_t place, uint32_t beside) {
  return job.arrays[array * job.array_words + (array == state.array ? place : beside)];
}

// parquet_state makes a state word of row r.
static __device__ __forceinline__ uint64_t parquet_state(const ParquetJob& job, const ParquetState& state, uint32_t r) {
  if (state.word == PARQUET_CONSTANT) return state.constant;
  const uint32_t place = job.places[state.place * job.array_words + r];
  if (place == PARQUET_NULL) return state.null;
  uint32_t beside = place;
  if (state.other != 0) beside = job.places[(state.other - 1) * job.array_words + r];
  if (beside == PARQUET_NULL) return state.null;
  if (state.word == PARQUET_POSITION) return parquet_position(job, r);
  const uint64_t word = job.arrays[state.array * job.array_words + place];
  switch (state.word) {
    case PARQUET_COPY: return word;
    case PARQUET_PRODUCT: return word * parquet_factor(job, state, uint32_t(state.constant), place, beside);
    case PARQUET_NOT: return ~word;
    case PARQUET_SIGN: return uint64_t(int64_t(word) >> 63);
    case PARQUET_UNSIGNED: return word ^ uint64_t(1) << 63;
    case PARQUET_UNSIGNED_NOT: return ~(word ^ uint64_t(1) << 63);
    case PARQUET_ORDER: return parquet_order(word);
    case PARQUET_ORDER_NOT: return ~parquet_order(word);
    case PARQUET_PREFIX: return parquet_prefix(job.store, word);
  }
  const double x = parquet_number(word, state.number);
  if (state.word == PARQUET_SUM) return __builtin_bit_cast(uint64_t, x + 0.0);
  const uint32_t factors = parquet_fixed_factors(state.word);
  const bool product = state.word == PARQUET_PRODUCT_S || state.word == PARQUET_PRODUCT_C || factors == 2;
  const uint32_t other = factors == 2 ? parquet_fixed_other(state.constant) : state.constant;
  const double y = product ? parquet_number(parquet_factor(job, state, other, place, beside), state.times) : x;
  return factors == 0 ? parquet_sum_word(state.word, x, y) : parquet_fixed(job.stop, state.constant, factors, x, y);
}

// parquet_row makes row r of the job at `row`.
static __device__ __forceinline__ void parquet_row(const ParquetJob& job, uint32_t r, uint64_t* row) {
  uint64_t* key = row + job.hash_words;
  for (uint32_t k = 0; k < job.key_words; k++) key[k] = 0;
  const uint64_t hash = parquet_key(job, r, key);
  if (job.hash_words == 1) row[0] = hash;
  uint64_t* states = key + job.key_words;
  for (uint32_t s = 0; s < job.state_words; s++) states[s] = parquet_state(job, job.states[s], r);
  for (uint32_t n = 0; n < job.null_count; n++) {
    const ParquetNull null = job.nulls[n];
    if (job.places[null.place * job.array_words + r] != PARQUET_NULL) continue;
    if (null.unless != 0 && job.places[(null.unless - 1) * job.array_words + r] == PARQUET_NULL) continue;
    states[null.state] += null.add;
  }
}

// Writes the job's rows, or those of them that its program keeps. Threads a block: any number;
// dynamic shared memory: threads * (words of a row | 1) * 8 bytes, and 8 more; any number of
// blocks, each of which takes as many rows as it has threads in turn. The first barrier is for the
// stop word, the second before rows are read that others made, the third before they make the next.
extern "C" __global__ void __launch_bounds__(128) parquet_rows_make(ParquetJob job, uint64_t* rows) {
  DYNAMIC_SHARED(uint64_t, shared);
  if (parquet_stopped(job.stop, reinterpret_cast<uint32_t*>(shared))) return;
  uint64_t* tile = shared + 1;
  const uint32_t stride = job.hash_words + job.key_words + job.state_words;
  const uint32_t apart = stride | 1;
  const uint64_t rows_made = job.kept == nullptr ? job.rows : *job.made;
  for (uint64_t first = uint64_t(blockIdx.x) * blockDim.x; first < rows_made; first += global_threads()) {
    const uint32_t count = rows_made - first < blockDim.x ? uint32_t(rows_made - first) : blockDim.x;
    if (threadIdx.x < count) {
      const uint32_t number = uint32_t(first) + threadIdx.x;
      const uint32_t row = job.kept == nullptr ? number : job.kept[number];
      parquet_row(job, row, tile + threadIdx.x * apart);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count * stride; i += blockDim.x) {
      rows[first * stride + i] = tile[i / stride * apart + i % stride];
    }
    __syncthreads();
  }
}

// Lists those of the job's rows, or of those that its program keeps, whose groups may be wanted:
// their hashes are not above the bound (FIRST-KEPT in internal/cpu). *count, 0 before, becomes how
// many they are. A job with that list and count makes rows of them alone. Threads a block: whole
// warps, at most 128; any number of blocks, each of which takes as many rows as it has threads in
// turn. The barrier is for the stop word; block_list has more.
extern "C" __global__ void __launch_bounds__(128)
    parquet_rows_first(ParquetJob job, uint64_t bound, uint32_t* list, uint64_t* count) {
  __shared__ uint32_t flag;
  __shared__ uint32_t sums[SCAN_SCRATCH];
  __shared__ uint64_t first_listed;
  if (parquet_stopped(job.stop, &flag)) return;
  const uint64_t rows = job.kept == nullptr ? job.rows : *job.made;
  for (uint64_t first = uint64_t(blockIdx.x) * blockDim.x; first < rows; first += global_threads()) {
    const uint64_t number = first + threadIdx.x;
    uint32_t row = 0;
    bool wanted = false;
    if (number < rows) {
      row = job.kept == nullptr ? uint32_t(number) : job.kept[number];
      wanted = parquet_hash(job, row) <= bound;
    }
    block_list(wanted, row, list, count, sums, &first_listed);
  }
}
