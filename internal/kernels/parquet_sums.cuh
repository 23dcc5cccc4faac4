// Sums of doubles after one value: internal/agg's addMulFloat and addPowFloat, operation by
// operation, of a group that begins with zeros. So each word has the CPU's bits, also where an
// error underflows or a product overflows.
#pragma once

#include "parquet.cuh"

// ParquetSum is a number of about 106 bits, s + c: the sum as a double rounds it, and what that
// lost.
struct ParquetSum {
  double s, c;
};

// parquet_number is the word of an array as a double.
__device__ __forceinline__ double parquet_number(uint64_t word, uint32_t number) {
  if (number == PARQUET_IS_DOUBLE) return __builtin_bit_cast(double, word);
  if (number == PARQUET_IS_UNSIGNED) return static_cast<double>(word);
  double power = 1;  // every one up to 10^18 is a double
#pragma unroll 1
  for (; number > PARQUET_IS_DECIMAL; number--) power *= 10;
  return static_cast<double>(static_cast<int64_t>(word)) / power;
}

// parquet_sum is x added to zero. Of a sum that is not finite the error means nothing, and is 0.
__device__ __forceinline__ ParquetSum parquet_sum(ParquetSum x) {
  const double s = x.s + 0.0, c = x.c + 0.0, sum = s + c, rest = c - (sum - s);
  if (rest != rest) return {s, 0};
  return {sum, rest};
}

__device__ __forceinline__ ParquetSum parquet_product(double x, double y) {
  const double p = x * y;
  return {p, __builtin_fma(x, y, -p)};
}

// parquet_times is internal/agg's dd.mul.
__device__ __forceinline__ ParquetSum parquet_times(ParquetSum a, ParquetSum b) {
  const ParquetSum p = parquet_product(a.s, b.s);
  const double c = p.c + __builtin_fma(a.s, b.c, a.c * b.s), sum = p.s + c;
  return {sum, c - (sum - p.s)};
}

// parquet_sum_word is a word of the sum of one product or power, of which x is the number and y the
// other factor.
__device__ __forceinline__ uint64_t parquet_sum_word(uint32_t word, double x, double y) {
  ParquetSum sum = parquet_product(x, y);
  switch (word) {
    case PARQUET_THIRD_POWER_S:
    case PARQUET_THIRD_POWER_C: sum = parquet_times(sum, {x, 0}); break;
    case PARQUET_FOURTH_POWER_S:
    case PARQUET_FOURTH_POWER_C: sum = parquet_times(sum, sum); break;
  }
  sum = parquet_sum(sum);
  const bool rest = word == PARQUET_PRODUCT_C || word == PARQUET_THIRD_POWER_C || word == PARQUET_FOURTH_POWER_C;
  return __builtin_bit_cast(uint64_t, rest ? sum.c : sum.s);
}
