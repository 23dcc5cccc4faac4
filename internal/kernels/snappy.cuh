// Elements of Snappy's block format (format_description.txt of github.com/google/snappy).
//
// A block is its decompressed size, 7 bits a byte with the lowest first, and elements up to the
// end. The two low bits of an element's first byte, its tag, say what it is:
//
//   0   literal: the bytes behind the tag. Their number - 1 is in the 6 high bits, or, those being
//       60 to 63, in the 1 to 4 bytes that follow
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

// SnappyBits is 8 aligned bytes.
typedef uint64_t __attribute__((may_alias)) SnappyBits;

// snappy_element reads the element at `at`. What it may be made of is loaded at once, and chosen
// from without going different ways: the two aligned words that 5 bytes may lie in.
static __device__ __forceinline__ SnappyElement snappy_element(const uint8_t* at) {
  const uint32_t ahead = reinterpret_cast<uintptr_t>(at) % 8, bits = ahead * 8;
  const SnappyBits* words = reinterpret_cast<const SnappyBits*>(at - ahead);
  const uint64_t element = ahead > 3 ? words[0] >> bits | words[1] << (64 - bits) : words[0] >> bits;
  const uint32_t kind = element & 3, high = element >> 2 & 63, rest = static_cast<uint32_t>(element >> 8);
  if (kind == 0) {
    const uint32_t extra = high < 60 ? 0 : high - 59;
    uint32_t less = extra == 0 ? high : rest & (0xffffffff >> (32 - 8 * extra));
    if (less >= SNAPPY_ENDLESS) less = SNAPPY_ENDLESS - 1;
    return {1 + extra, less + 1, 0, true};
  }
  const uint32_t offset = kind == 1 ? (element >> 5 & 7) << 8 | (rest & 0xff) : kind == 2 ? rest & 0xffff : rest;
  return {kind == 3 ? 5 : kind + 1, kind == 1 ? 4 + (high & 7) : high + 1, offset, false};
}

// snappy_bytes is how long the element at `at` is in the block. Nearly always one byte tells.
static __device__ __forceinline__ uint32_t snappy_bytes(const uint8_t* at) {
  const uint32_t tag = at[0], kind = tag & 3, high = tag >> 2;
  if (kind == 0 && high >= 60) {
    const SnappyElement literal = snappy_element(at);
    return literal.header + literal.length;
  }
  return kind == 0 ? high + 2 : kind + 1 + kind / 3;
}

// snappy_size reads the decompressed size in front of a block of n bytes, and returns how many
// bytes it takes: 1 to 5, or 0 if it makes no sense.
static __device__ __forceinline__ uint32_t snappy_size(const uint8_t* block, uint32_t n, uint64_t& size) {
  size = 0;
  for (uint32_t i = 0; i < n && i < 5; i++) {
    size |= static_cast<uint64_t>(block[i] & 0x7f) << (7 * i);
    if (block[i] < 0x80) return i + 1;
  }
  return 0;
}
