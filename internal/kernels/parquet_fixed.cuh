// Exact numbers: doubles, their products and powers, as fixed-point numbers in two's complement.
// The twin is internal/agg's exact sum after one value (addendOf, fixed.add).
//
// A product of up to four doubles is an integer of up to 212 bits, the product of their fractions,
// times a power of two. It is shifted to its place among the words of a sum. A thread makes one
// word of a sum at a time, and multiplies anew for each: so it needs no array of words, which would
// lie in device memory.
#pragma once

#include "parquet.cuh"

constexpr uint32_t PARQUET_FRACTION_BITS = 53;  // of a double

// parquet_fixed_factors is how many doubles are multiplied for a word; 0: it is none of an exact
// number.
__device__ __forceinline__ uint32_t parquet_fixed_factors(uint32_t word) {
  return word >= PARQUET_FIXED && word <= PARQUET_FIXED_FOURTH_POWER ? word - PARQUET_FIXED + 1 : 0;
}

// The constant of such a word has, from its lowest bit on: in 16 bits, with a sign, what is taken
// from the exponents of all factors to have the shift of the product of their fractions; in 16 the
// least shift that is too great for a product of all the bits that the fractions may come to; in 8
// the number of the word; in 24 the number of the array of the second factor (parquet_fixed_other).
__device__ __forceinline__ uint32_t parquet_fixed_other(uint64_t constant) { return uint32_t(constant >> 40); }

// ParquetExact is an integer above 0, in words from the lowest on.
struct ParquetExact {
  uint64_t words[4];

  // times multiplies by a number. Four words must suffice.
  __device__ __forceinline__ void times(uint64_t factor) {
    uint64_t carry = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
      const uint64_t high = __umul64hi(words[i], factor), low = words[i] * factor;
      words[i] = low + carry;
      carry = high + (words[i] < low ? 1 : 0);
    }
  }

  // at is word i; 0 where there is none.
  __device__ __forceinline__ uint64_t at(int32_t i) const {
    return i == 0 ? words[0] : i == 1 ? words[1] : i == 2 ? words[2] : i == 3 ? words[3] : 0;
  }

  // bit tells whether bit i is set.
  __device__ __forceinline__ bool bit(uint32_t i) const { return (at(int32_t(i >> 6)) >> (i & 63) & 1) != 0; }

  // any tells whether one of the lowest n bits is set.
  __device__ __forceinline__ bool any(uint32_t n) const {
    uint64_t some = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
      const uint32_t from = 64 * i;
      if (n >= from + 64) some |= words[i];
      else if (n > from) some |= words[i] << (64 - (n - from));
    }
    return some != 0;
  }
};

// parquet_fixed is a word of x, x * y or a power of x, for which y is x. A number with digits
// outside of its window, or one that is not normal, stops the parcel, but for zeros.
__device__ __forceinline__ uint64_t parquet_fixed(uint64_t* stop, uint64_t constant, uint32_t factors, double x, double y) {
  const uint32_t number = uint32_t(constant >> 32) & 0xff;
  ParquetExact exact = {{1, 0, 0, 0}};
  int32_t shift = -int32_t(int16_t(uint16_t(constant)));
  uint64_t sign = 0;
  bool zero = false, outside = false;
  for (uint32_t f = 0; f < factors; f++) {
    const uint64_t bits = __builtin_bit_cast(uint64_t, f == 0 ? x : y);
    const uint32_t exponent = uint32_t(bits >> 52) & 0x7ff;
    const bool none = bits << 1 == 0;
    zero |= none;
    outside |= !none && exponent - 1 >= 0x7fe;
    shift += int32_t(exponent);
    sign ^= bits;
    exact.times((bits & 0xfffffffffffff) | 0x10000000000000);
  }
  // Each factor but the first may leave one more bit at the upper end of the product empty.
  int32_t missing = 0;
  for (uint32_t most = factors * PARQUET_FRACTION_BITS; !exact.bit(most - 1 - uint32_t(missing));) missing++;
  const int32_t beyond = int32_t(constant >> 16 & 0xffff);
  if (outside || (!zero && (shift < 0 || shift - missing >= beyond))) {
    parquet_stop(stop, PARQUET_STOP_RANGE);
    return 0;
  }
  if (zero) return 0;
  const int32_t by = shift & 63, i = int32_t(number) - (shift >> 6);
  const uint64_t size = exact.at(i) << by | exact.at(i - 1) >> 1 >> (63 - by);
  if (sign >> 63 == 0) return size;
  const int32_t below = int32_t(64 * number) - shift;  // bits of the integer in lower words
  return ~size + (below > 0 && exact.any(uint32_t(below)) ? 0 : 1);
}
