// Elements of Snappy's block format (format_description.txt of github.com/google/snappy).
//
// A block is its decompressed size, 7 bits a byte with the lowest first, and elements up to the end. The two low bits of an
// element's first byte, its tag, say what it is:
//
//   0   literal: the bytes behind the tag. Their number - 1 is in the 6 high bits, or, those being 60 to 63, in the 1 to 4
//       bytes that follow
//   1   copy of 4 to 11 bytes (3 bits), from `offset` bytes back: 3 high bits of the tag and a byte
//   2   copy of 1 to 64 bytes (6 bits), the offset is in 2 bytes
//   3   the same with the offset in 4 bytes
//
// A copy may reach into what it makes itself. No offset is 0.
#pragma once

#include "device.cuh"

// A literal that is longer says that it is this long: more than any block has bytes.
constexpr uint32_t SNAPPY_ENDLESS = 0x7fffffff;

// SnappyElement is an element as it says itself, be it true or not.
struct SnappyElement {
  uint32_t header;  // bytes before a literal's, or of a whole copy: 1 to 5
  uint32_t length;  // bytes it comes to: 1 or more
  uint32_t offset;  // of a copy
  bool literal;
};

// snappy_number is a number of n bytes, at most 4, the lowest first.
static __device__ __forceinline__ uint32_t snappy_number(const uint8_t* at, uint32_t n) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < n; i++) number |= static_cast<uint32_t>(at[i]) << (8 * i);
  return number;
}

// snappy_literal is the length of a literal that has `extra` bytes for it.
static __device__ __forceinline__ uint32_t snappy_literal(const uint8_t* at, uint32_t extra) {
  const uint32_t less = snappy_number(at + 1, extra);
  return less < SNAPPY_ENDLESS ? less + 1 : SNAPPY_ENDLESS;
}

// snappy_element reads the element at `at`; 5 bytes may be read.
static __device__ __forceinline__ SnappyElement snappy_element(const uint8_t* at) {
  const uint32_t tag = at[0], high = tag >> 2;
  switch (tag & 3) {
    case 0:
      if (high < 60) return {1, high + 1, 0, true};
      return {high - 58, snappy_literal(at, high - 59), 0, true};
    case 1:
      return {2, 4 + (high & 7), tag >> 5 << 8 | at[1], false};
    case 2:
      return {3, high + 1, snappy_number(at + 1, 2), false};
    default:
      return {5, high + 1, snappy_number(at + 1, 4), false};
  }
}

// snappy_bytes is how long the element at `at` is in the block; 5 bytes may be read. Nothing but long literals makes the
// lanes of a warp go different ways.
static __device__ __forceinline__ uint32_t snappy_bytes(const uint8_t* at) {
  const uint32_t tag = at[0], kind = tag & 3, high = tag >> 2;
  if (kind == 0 && high >= 60) return high - 58 + snappy_literal(at, high - 59);
  return kind == 0 ? high + 2 : kind + 1 + kind / 3;
}

// snappy_size reads the decompressed size in front of a block of n bytes, and returns how many bytes it takes: 1 to 5, or 0
// if it makes no sense.
static __device__ __forceinline__ uint32_t snappy_size(const uint8_t* block, uint32_t n, uint64_t& size) {
  size = 0;
  for (uint32_t i = 0; i < n && i < 5; i++) {
    size |= static_cast<uint64_t>(block[i] & 0x7f) << (7 * i);
    if (block[i] < 0x80) return i + 1;
  }
  return 0;
}
