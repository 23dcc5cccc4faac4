// Values to words: what an output is, of a value of its source. The twins are internal/parquetio's
// intRule and internal/key's Encoder.
#pragma once

#include "ega.cuh"
#include "parquet.cuh"

// ParquetArrays is the arrays of an output, from the first value of a page on: `row` counts values.
struct ParquetArrays {
  uint64_t* first;
  uint64_t apart;  // words from one array to the next

  __device__ __forceinline__ void put(uint32_t array, uint32_t row, uint64_t word) const {
    first[array * apart + row] = word;
  }

  __device__ __forceinline__ uint64_t get(uint32_t array, uint32_t row) const { return first[array * apart + row]; }
};

__device__ __forceinline__ ParquetArrays parquet_arrays(const ParquetJob& job, const ParquetOutput& output,
                                                        const ParquetPage& page) {
  return {job.arrays + output.array * job.array_words + page.first, job.array_words};
}

// How many arrays an output has.
__device__ __forceinline__ uint32_t parquet_array_count(const ParquetOutput& output) {
  switch (output.form) {
    case PARQUET_VALUE:
    case PARQUET_LENGTH:
    case PARQUET_CHARACTERS:
    case PARQUET_MATCH:
    case PARQUET_REF: return 1;
  }
  return output.words + 1;
}

// parquet_hash_words is the field hash of 16 bytes in two words: internal/key's hashWords.
__device__ __forceinline__ uint64_t parquet_hash_words(uint64_t lo, uint64_t hi) {
  const uint64_t a = lo ^ 0x589965cc75374cc3;
  const uint64_t b = hi ^ 0x1d8e4e27c47d124f;
  return a * b ^ __umul64hi(a, b);
}

// parquet_float_bits gives equal bits to equal floats: one NaN, no -0. They are Go's NaN, of 64 and
// of 32 bits.
__device__ __forceinline__ uint64_t parquet_float_bits(double v, uint32_t bits) {
  if (v == 0) return 0;
  if (bits == 32) return v != v ? 0x7fc00000 : __builtin_bit_cast(uint32_t, static_cast<float>(v));
  return v != v ? 0x7ff8000000000001 : __builtin_bit_cast(uint64_t, v);
}

// parquet_put_wide writes the words of a key of 256 bits, the lowest first, that 64 bits hold.
__device__ __forceinline__ void parquet_put_wide(const ParquetArrays& arrays, uint32_t row, uint64_t value) {
  const uint64_t sign = uint64_t(int64_t(value) >> 63);
  arrays.put(0, row, value);
  for (uint32_t i = 1; i < 4; i++) arrays.put(i, row, sign);
  arrays.put(4, row, ega_mix(parquet_hash_words(value, sign), parquet_hash_words(sign, sign)));
}

// parquet_put writes the words of row `row` of a page: value is what parquet_int or parquet_float
// made of the file's.
__device__ __forceinline__ void parquet_put(const ParquetOutput& output, const ParquetArrays& arrays, uint32_t row,
                                            uint64_t value) {
  if (output.form == PARQUET_VALUE) return arrays.put(0, row, value);
  if (output.words == 4) return parquet_put_wide(arrays, row, value);
  arrays.put(0, row, value << output.shift);
  arrays.put(1, row, value);
}

// parquet_int is what the file's integer comes to; `outside` becomes true where the output does not
// admit it.
__device__ __forceinline__ uint64_t parquet_int(const ParquetOutput& output, int64_t v, bool& outside) {
  if (output.mask32 != 0) v &= 0xffffffff;
  outside |= v < output.lo || v > output.hi;
  const uint64_t value = uint64_t(v) * uint64_t(output.factor);
  if (output.form == PARQUET_VALUE || output.bits == 64) return value;
  return value & ((uint64_t(1) << output.bits) - 1);
}

// parquet_float is the same of a float.
__device__ __forceinline__ uint64_t parquet_float(const ParquetOutput& output, double v) {
  return output.form == PARQUET_VALUE ? __builtin_bit_cast(uint64_t, v) : parquet_float_bits(v, output.bits);
}
