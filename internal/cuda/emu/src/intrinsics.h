// CUDA's intrinsics for host code: bits, barriers, votes, shuffles. Part of device_emu.h.
#pragma once

#include <bit>
#include <type_traits>

inline int32_t __popc(uint32_t v) { return std::popcount(v); }
inline int32_t __popcll(uint64_t v) { return std::popcount(v); }
inline int32_t __ffs(uint32_t v) { return v == 0 ? 0 : std::countr_zero(v) + 1; }
inline int32_t __ffsll(uint64_t v) { return v == 0 ? 0 : std::countr_zero(v) + 1; }
inline int32_t __clz(uint32_t v) { return std::countl_zero(v); }
inline int32_t __clzll(uint64_t v) { return std::countl_zero(v); }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return static_cast<uint64_t>(a) * b >> 32; }
inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}

// Bits change places in pairs, fours, and so on; the bytes last.
inline uint64_t __brevll(uint64_t v) {
  v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
  v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
  return __builtin_bswap64(v);
}
inline uint32_t __brev(uint32_t v) { return static_cast<uint32_t>(__brevll(v) >> 32); }

inline void __syncthreads(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
  emu::barrier(file, line);
}
inline void __syncwarp(uint32_t mask = FULL_MASK) { emu::collective(emu::Op::sync, mask); }
inline void __nanosleep(uint32_t) { emu::point(1); }

inline uint32_t __ballot_sync(uint32_t mask, bool v) {
  return static_cast<uint32_t>(emu::collective(emu::Op::ballot, mask, v));
}
inline bool __any_sync(uint32_t mask, bool v) { return emu::collective(emu::Op::any, mask, v) != 0; }
inline bool __all_sync(uint32_t mask, bool v) { return emu::collective(emu::Op::all, mask, v) != 0; }
inline uint32_t __activemask(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
  return emu::active(file, line);
}

namespace emu {

// exchange is collective for values of any type of 4 or 8 bytes.
template <class T>
inline uint64_t exchange(Op op, uint32_t mask, T v, uint32_t argument = 0, uint32_t width = 32) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "lanes exchange 4 or 8 bytes");
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return collective(op, mask, std::bit_cast<Bits>(v), argument, width);
}

template <class T>
inline T shuffle(Op op, uint32_t mask, T v, uint32_t argument, uint32_t width) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<T>(static_cast<Bits>(exchange(op, mask, v, argument, width)));
}

}  // namespace emu

template <class T>
inline uint32_t __match_any_sync(uint32_t mask, T v) {
  return static_cast<uint32_t>(emu::exchange(emu::Op::match, mask, v));
}
template <class T>
inline T __shfl_sync(uint32_t mask, T v, int32_t source, uint32_t width = warpSize) {
  return emu::shuffle(emu::Op::shuffle, mask, v, static_cast<uint32_t>(source), width);
}
template <class T>
inline T __shfl_up_sync(uint32_t mask, T v, uint32_t distance, uint32_t width = warpSize) {
  return emu::shuffle(emu::Op::shuffle_up, mask, v, distance, width);
}
template <class T>
inline T __shfl_down_sync(uint32_t mask, T v, uint32_t distance, uint32_t width = warpSize) {
  return emu::shuffle(emu::Op::shuffle_down, mask, v, distance, width);
}
template <class T>
inline T __shfl_xor_sync(uint32_t mask, T v, int32_t bits, uint32_t width = warpSize) {
  return emu::shuffle(emu::Op::shuffle_xor, mask, v, static_cast<uint32_t>(bits), width);
}
