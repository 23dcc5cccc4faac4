// How the state words of rows combine: ega_combine_word, and ega_rare.cuh for operations that few
// queries need.
//
// Any number of threads combine rows into one group at once, in any order. Each operation is one
// atomic on its word, and what goes to the mate follows from what that atomic returned:
//
//   ADD_LO   the old low word and the addend tell whether their sum passed 2^64 (or the range of
//            int64_t); as every addition to the word is in the order of its atomics, the carries
//            are those of that order, and their sum does not depend on it.
//   SUM      old + x rounds to what the word became, so TwoSum(old, x) is the exact error of that
//            one addition (Knuth, The Art of Computer Programming 2, 4.2.2). The errors are added
//            up in the mate, whose own rounding is of the second order: n * 2^-106 of the sum of
//            absolute values.
//
// Words that only get smaller or greater (min, max, and, or) are read first: once a group has seen
// some rows most others change nothing, and a read that is out of date only costs the atomic.
#pragma once

#include "ega.cuh"

// ega_canonical gives equal doubles equal bits: one NaN, one zero.
__device__ __forceinline__ uint64_t ega_canonical(uint64_t bits) {
  double v = __builtin_bit_cast(double, bits);
  if (v != v) return 0x7ff8000000000001;  // Go's math.NaN
  return v == 0 ? 0 : bits;
}

// ega_order maps canonical doubles to integers of the same order, NaN last.
__device__ __forceinline__ int64_t ega_order(uint64_t bits) {
  int64_t v = static_cast<int64_t>(bits);
  return v ^ static_cast<int64_t>(static_cast<uint64_t>(v >> 63) >> 1);
}

// ega_identity is the identity of an operation.
__device__ __forceinline__ uint64_t ega_identity(uint32_t op) {
  switch (op) {
    case EGA_MIN_I:
    case EGA_LEAST:
    case EGA_LEAST_MID:
    case EGA_LEAST_LAST:
    case EGA_FIRST:
    case EGA_BEST:
    case EGA_BEST_PLACE: return 0x7fffffffffffffff;
    case EGA_MAX_I: return 0x8000000000000000;
    case EGA_MIN_F: return 0x7ff8000000000001;  // NaN
    case EGA_MAX_F: return 0xfff0000000000000;  // minus infinity
    case EGA_MIN_U:
    case EGA_LEAST_TEXT:
    case EGA_LEAST_BY:
    case EGA_LAST:
    case EGA_AND: return ~uint64_t(0);
  }
  return 0;
}

// ega_paired says whether a word of that operation has a mate, and is combined with it at once.
__device__ __forceinline__ bool ega_paired(uint32_t op) {
  return op == EGA_ADD_LO || op == EGA_ADD_LO_I || op == EGA_SUM;
}

// EgaGlobalWords and EgaSharedWords add in 64 bits, as is fastest in their memory.
struct EgaGlobalWords {
  static __device__ __forceinline__ void add(uint64_t* p, uint64_t v) { atomicAdd(p, v); }
};

// Shared memory adds 32 bits by itself, but 64 only in a loop around compare-and-swap. The carries
// of the low half, each known to the thread that made it, add up to those of any order. The halves
// make a number again once all threads have met at a barrier.
struct EgaSharedWords {
  static __device__ __forceinline__ void add(uint64_t* p, uint64_t v) {
    uint32_t* halves = reinterpret_cast<uint32_t*>(p);
    uint32_t low = static_cast<uint32_t>(v), high = static_cast<uint32_t>(v >> 32);
    uint32_t old = atomicAdd(halves, low);
    if (old + low < old) high++;
    if (high != 0) atomicAdd(halves + 1, high);
  }
};

// ega_add_low adds to the low word of a sum of 128 bits and returns what its high word gets.
__device__ __forceinline__ uint64_t ega_add_low(uint64_t* p, uint64_t v, bool with_sign) {
  uint64_t old = atomicAdd(p, v), sum = old + v;
  if (!with_sign) return sum < old;
  if (static_cast<int64_t>((old ^ sum) & (v ^ sum)) >= 0) return 0;
  return static_cast<int64_t>(v) < 0 ? ~uint64_t(0) : 1;
}

// ega_two_sum is the error of a + b. Of a sum that is not finite there is none to tell: the sum
// itself says what it is, and no error must hide that.
__device__ __forceinline__ double ega_two_sum(double a, double b) {
  double sum = a + b, rest = sum - a;
  double error = (a - (sum - rest)) + (b - rest);
  return error - error == 0 ? error : 0;
}

// ega_add_double adds to a double and returns the error of that.
__device__ __forceinline__ double ega_add_double(double* p, double v) { return ega_two_sum(atomicAdd(p, v), v); }

// ega_keep_double puts v in place of a double that comes after it, or before it.
__device__ __forceinline__ void ega_keep_double(uint64_t* p, uint64_t v, bool greatest) {
  v = ega_canonical(v);
  uint64_t now = ld_relaxed(p);
  while (greatest ? ega_order(v) > ega_order(now) : ega_order(v) < ega_order(now)) {
    uint64_t met = atomicCAS(p, now, v);
    if (met == now) return;
    now = met;
  }
}

// ega_combine_word combines state word i of a row into the same word of a group: *p, or *mate
// beside it.
template <class Words>
__device__ __forceinline__ void ega_combine_word(uint32_t op, uint64_t* p, uint64_t v, uint64_t* mate,
                                                 uint64_t mate_v) {
  switch (op) {
    case EGA_ADD: Words::add(p, v); return;
    case EGA_ADD_LO:
    case EGA_ADD_LO_I: {
      uint64_t high = ega_add_low(p, v, op == EGA_ADD_LO_I) + mate_v;
      if (high != 0) Words::add(mate, high);
      return;
    }
    case EGA_SUM: {
      double error = ega_add_double(reinterpret_cast<double*>(p), __builtin_bit_cast(double, v));
      error += __builtin_bit_cast(double, mate_v);
      if (error != 0) atomicAdd(reinterpret_cast<double*>(mate), error);
      return;
    }
    case EGA_MIN_I: {
      int64_t* q = reinterpret_cast<int64_t*>(p);
      if (static_cast<int64_t>(v) < ld_relaxed(q)) atomicMin(q, static_cast<int64_t>(v));
      return;
    }
    case EGA_MAX_I: {
      int64_t* q = reinterpret_cast<int64_t*>(p);
      if (static_cast<int64_t>(v) > ld_relaxed(q)) atomicMax(q, static_cast<int64_t>(v));
      return;
    }
    case EGA_MIN_U:
      if (v < ld_relaxed(p)) atomicMin(p, v);
      return;
    case EGA_MAX_U:
      if (v > ld_relaxed(p)) atomicMax(p, v);
      return;
    case EGA_MIN_F: ega_keep_double(p, v, false); return;
    case EGA_MAX_F: ega_keep_double(p, v, true); return;
    case EGA_AND:
      if ((ld_relaxed(p) & ~v) != 0) atomicAnd(p, v);
      return;
    case EGA_OR:
      if ((v & ~ld_relaxed(p)) != 0) atomicOr(p, v);
      return;
    case EGA_XOR: atomicXor(p, v); return;
  }  // EGA_ADD_HI, EGA_ADD_MID, EGA_ERR: with the word whose mate they are; EGA_SUM_FINE, EGA_LEAST and what is behind it: ega_rare.cuh
}
