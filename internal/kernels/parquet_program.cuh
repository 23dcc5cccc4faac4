// Steps of programs: what becomes of the registers of a thread. parquet.cuh has the terms and says
// what each step does.
//
// A thread runs the whole program; all threads of a block are at the same step, so that its code is
// decoded once a warp. Registers lie in shared memory, one beside that of the next thread, so that
// a warp reads and writes all banks once. Of each register two bits, NULL and failed, are the
// thread's own.
//
// What a program loads, stores and keeps is its caller's: values of a parcel (parquet_compute.cu),
// groups of a table (ega_select.cu).
#pragma once

#include "parquet.cuh"

constexpr uint32_t PARQUET_COMPUTE_THREADS = 128;

// ParquetRegisters is the registers of a thread.
struct ParquetRegisters {
  uint64_t* words;   // register i is words[i * PARQUET_COMPUTE_THREADS]
  uint32_t nulls;    // a bit each
  uint32_t failed;

  __device__ __forceinline__ uint64_t word(uint32_t i) const { return words[i * PARQUET_COMPUTE_THREADS]; }
  __device__ __forceinline__ int64_t integer(uint32_t i) const { return int64_t(word(i)); }
  __device__ __forceinline__ double number(uint32_t i) const { return __builtin_bit_cast(double, word(i)); }
  __device__ __forceinline__ bool null(uint32_t i) const { return (nulls >> i & 1) != 0; }
  __device__ __forceinline__ bool bad(uint32_t i) const { return (failed >> i & 1) != 0; }
  __device__ __forceinline__ bool is(uint32_t i) const { return word(i) == 1 && !null(i); }

  __device__ __forceinline__ void put(uint32_t i, uint64_t word, bool null, bool bad) {
    words[i * PARQUET_COMPUTE_THREADS] = word;
    nulls = (nulls & ~(1u << i)) | uint32_t(null) << i;
    failed = (failed & ~(1u << i)) | uint32_t(bad) << i;
  }
};

// parquet_outcome is bit 0, 1 or 2: below, equal, above.
template <class T>
__device__ __forceinline__ uint32_t parquet_outcome(T a, T b) {
  return a < b ? 0 : a == b ? 1 : 2;
}

__device__ __forceinline__ uint32_t parquet_outcome_doubles(double a, double b) {
  if (a < b) return 0;
  if (a > b) return 2;
  return a == b ? 1 : 1 + uint32_t(a != a) - uint32_t(b != b);
}

// parquet_floor is the greatest integer q with q * d <= v, for d > 0.
__device__ __forceinline__ int64_t parquet_floor(int64_t v, int64_t d) { return v / d - int64_t(v % d < 0); }

// parquet_civil is the year, month or day (0, 1, 2) of a day since 1970: internal/expr's
// civilFromDays.
__device__ __forceinline__ int64_t parquet_civil(int64_t days, uint64_t part) {
  constexpr int64_t LIMIT = INT64_MAX / 4;
  days = (days < -LIMIT ? -LIMIT : days > LIMIT ? LIMIT : days) + 719468;
  const int64_t era = parquet_floor(days, 146097);
  const uint32_t of_era = uint32_t(days - era * 146097);
  const uint32_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const uint32_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint32_t m = (5 * of_year + 2) / 153;
  const uint32_t month = m < 10 ? m + 3 : m - 9;
  if (part == 1) return month;
  if (part == 2) return of_year - (153 * m + 2) / 5 + 1;
  return int64_t(year_of_era) + era * 400 + int64_t(month <= 2);
}

// ParquetResult is what a step comes to.
struct ParquetResult {
  uint64_t word;
  bool null;
  bool bad;
};

// parquet_integers computes with two integers.
static __device__ __forceinline__ ParquetResult parquet_integers(uint32_t code, int64_t a, int64_t b) {
  int64_t r = 0;
  bool bad = false;
  switch (code) {
    case PARQUET_ADD: bad = __builtin_add_overflow(a, b, &r); break;
    case PARQUET_SUBTRACT: bad = __builtin_sub_overflow(a, b, &r); break;
    case PARQUET_MULTIPLY:
      r = int64_t(uint64_t(a) * uint64_t(b));
      bad = int64_t(__umul64hi(uint64_t(a), uint64_t(b))) - (a < 0 ? b : 0) - (b < 0 ? a : 0) != r >> 63;
      break;
    case PARQUET_DIVIDE:
      if (b == 0) return {0, true, false};
      if (b == -1) return {0 - uint64_t(a), false, a == INT64_MIN};
      r = a / b;
      break;
    case PARQUET_REMAINDER:
      if (b == 0) return {0, true, false};
      r = b == -1 ? 0 : a % b;
      break;
  }
  return {uint64_t(r), false, bad};
}

// parquet_doubles computes with two doubles.
static __device__ __forceinline__ ParquetResult parquet_doubles(uint32_t code, double a, double b) {
  double r = 0;
  switch (code) {
    case PARQUET_ADD_DOUBLE: r = a + b; break;
    case PARQUET_SUBTRACT_DOUBLE: r = a - b; break;
    case PARQUET_MULTIPLY_DOUBLE: r = a * b; break;
    case PARQUET_DIVIDE_DOUBLE: r = a / b; break;
  }
  return {__builtin_bit_cast(uint64_t, r), code == PARQUET_DIVIDE_DOUBLE && b == 0, false};
}

// parquet_whole rounds a double.
static __device__ __forceinline__ double parquet_whole(uint32_t rounding, double a) {
  switch (rounding) {
    case PARQUET_DOWN: return __builtin_floor(a);
    case PARQUET_UP: return __builtin_ceil(a);
    case PARQUET_CUT: return __builtin_trunc(a);
    case PARQUET_HALF_EVEN: return __builtin_rint(a);
  }
  const double cut = __builtin_trunc(a);
  return __builtin_fabs(a - cut) >= 0.5 ? cut + __builtin_copysign(1.0, a) : cut;
}

// parquet_round rounds a double to multiples of 1 / by, or of by. Where that is no number, because
// of an overflow, it is a, or 0.
static __device__ __forceinline__ double parquet_round(uint64_t how, double a, double by) {
  const bool multiples = how & 8;
  const double whole = parquet_whole(how & 7, multiples ? a / by : a * by), r = multiples ? whole * by : whole / by;
  if (r - r == 0) return r;
  return multiples && a - a == 0 ? 0 : a;
}

// parquet_pair is a step of two operands, neither of which is NULL or failed.
static __device__ __forceinline__ ParquetResult parquet_pair(const ParquetStep& step, const ParquetRegisters& of) {
  const uint64_t a = of.word(step.a), b = of.word(step.b);
  switch (step.code) {
    case PARQUET_COMPARE_INT: return {step.constant >> parquet_outcome(int64_t(a), int64_t(b)) & 1, false, false};
    case PARQUET_COMPARE_UINT: return {step.constant >> parquet_outcome(a, b) & 1, false, false};
    case PARQUET_COMPARE_DOUBLE:
      return {step.constant >> parquet_outcome_doubles(of.number(step.a), of.number(step.b)) & 1, false, false};
    case PARQUET_BIT_AND: return {a & b, false, false};
    case PARQUET_BIT_OR: return {a | b, false, false};
    case PARQUET_BIT_XOR: return {a ^ b, false, false};
  }
  if (step.code == PARQUET_ROUND_DOUBLE) {
    const double rounded = parquet_round(step.constant, of.number(step.a), of.number(step.b));
    return {__builtin_bit_cast(uint64_t, rounded), false, false};
  }
  if (step.code >= PARQUET_ADD_DOUBLE) return parquet_doubles(step.code, of.number(step.a), of.number(step.b));
  return parquet_integers(step.code, int64_t(a), int64_t(b));
}

// parquet_one is a step of one operand, which is neither NULL nor failed.
static __device__ __forceinline__ ParquetResult parquet_one(const ParquetStep& step, const ParquetRegisters& of) {
  const int64_t a = of.integer(step.a), constant = int64_t(step.constant);
  switch (step.code) {
    case PARQUET_NOT_BOOL: return {uint64_t(a) ^ 1, false, false};
    case PARQUET_REPLACE: return {step.constant, false, false};
    case PARQUET_NULL_UNLESS: return {uint64_t(a), a != 1, false};
    case PARQUET_WITHIN: return {uint64_t(a), false, a > constant || a < -constant - 1};
    case PARQUET_FLOOR: return {uint64_t(parquet_floor(a, constant)), false, false};
    case PARQUET_FLOOR_REST: return {uint64_t(a - parquet_floor(a, constant) * constant), false, false};
    case PARQUET_CIVIL: return {uint64_t(parquet_civil(a, step.constant)), false, false};
    case PARQUET_TO_DOUBLE: return {__builtin_bit_cast(uint64_t, static_cast<double>(a)), false, false};
    case PARQUET_TO_FLOAT: {
      const double rounded = static_cast<float>(of.number(step.a));
      return {__builtin_bit_cast(uint64_t, rounded), false, false};
    }
    case PARQUET_TO_INTEGER: {
      const double whole = of.number(step.a);
      if (!(whole >= -0x1p63 && whole < 0x1p63)) return {0, false, true};
      return {uint64_t(int64_t(whole)), false, false};
    }
    case PARQUET_MAGNITUDE: return {uint64_t(a) & INT64_MAX, false, false};
  }
  return {0, false, true};  // no such step
}

// parquet_logic is AND of two booleans, or OR: the one that decides is 0 or 1.
static __device__ __forceinline__ ParquetResult parquet_logic(const ParquetStep& step, const ParquetRegisters& of) {
  const uint64_t decides = step.code == PARQUET_OR;
  const bool a = !of.null(step.a) && of.word(step.a) == decides, b = !of.null(step.b) && of.word(step.b) == decides;
  const bool bad = of.bad(step.a) || of.bad(step.b);
  if (a || b) return {decides, false, bad};
  return {decides ^ 1, of.null(step.a) || of.null(step.b), bad};
}

// parquet_result is what a step makes of the registers; those that load, store or keep are the
// caller's.
static __device__ __forceinline__ ParquetResult parquet_result(const ParquetStep& step, const ParquetRegisters& of) {
  switch (step.code) {
    case PARQUET_LITERAL: return {step.constant, false, false};
    case PARQUET_NONE: return {0, true, false};
    case PARQUET_AND:
    case PARQUET_OR: return parquet_logic(step, of);
    case PARQUET_IS_NULL: return {uint64_t(of.null(step.a)) ^ step.constant, false, of.bad(step.a)};
    case PARQUET_SELECT: {
      const uint32_t from = of.is(step.c) ? step.b : step.a;
      return {of.word(from), of.null(from), of.bad(from) || of.bad(step.c)};
    }
    case PARQUET_NOT_BOOL:
    case PARQUET_REPLACE:
    case PARQUET_NULL_UNLESS:
    case PARQUET_WITHIN:
    case PARQUET_FLOOR:
    case PARQUET_FLOOR_REST:
    case PARQUET_CIVIL:
    case PARQUET_TO_DOUBLE:
    case PARQUET_TO_FLOAT:
    case PARQUET_TO_INTEGER:
    case PARQUET_MAGNITUDE:
      if (of.null(step.a) || of.bad(step.a)) return {0, of.null(step.a), of.bad(step.a)};
      return parquet_one(step, of);
  }
  const bool null = of.null(step.a) || of.null(step.b), bad = of.bad(step.a) || of.bad(step.b);
  if (null || bad) return {0, null, bad};
  return parquet_pair(step, of);
}
