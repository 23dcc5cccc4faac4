// A part of a string, in steps, each of which takes a part of what the one before left. Bytes stay
// where they are: a part begins further on, and has a size. The twins are internal/expr's functions
// of parts (function_part.go).
//
// A cut lies among the patterns of the parcel as words of 32 bits: how many steps it has; then of
// each step its kind (ParquetCut), two numbers, and how many bytes its separator has, and these,
// with zeros up to a multiple of 4.
//
// Characters are those of UTF-8, and each byte that is of none. A thread takes a string; eight
// characters of ASCII are passed over at a time.
#pragma once

#include "parquet_match.cuh"

// parquet_character is how many of `left` bytes at p, one or more, the first character has.
__device__ __forceinline__ uint32_t parquet_character(const uint8_t* p, uint32_t left) {
  const uint32_t lead = p[0];
  if (lead < 0xc2 || lead > 0xf4 || left < 2) return 1;
  const uint32_t lo = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80, hi = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (p[1] < lo || p[1] > hi) return 1;
  if (lead < 0xe0) return 2;
  if (left < 3 || (p[2] & 0xc0) != 0x80) return 1;
  if (lead < 0xf0) return 3;
  return left >= 4 && (p[3] & 0xc0) == 0x80 ? 4 : 1;
}

// parquet_skip is how many bytes the first n characters have, and counts them: those that there
// are, if they are fewer.
__device__ __forceinline__ uint32_t parquet_skip(const uint8_t* p, uint32_t size, int64_t n, int64_t& characters) {
  constexpr uint64_t HIGH = 0x8080808080808080;
  uint32_t at = 0;
  for (characters = 0; characters < n && at < size;) {
    if (n - characters >= 8 && size - at >= 8 && (parquet_load(p + at, 8) & HIGH) == 0) {
      at += 8;
      characters += 8;
    } else {
      at += parquet_character(p + at, size - at);
      characters++;
    }
  }
  return at;
}

// parquet_cut_characters leaves the characters from lo on, up to hi.
__device__ __forceinline__ void parquet_cut_characters(const uint8_t*& p, uint32_t& size, int64_t lo, int64_t hi) {
  int64_t skipped;
  if (lo < 0) lo = 0;
  if (hi <= lo) {
    size = 0;
    return;
  }
  const uint32_t from = parquet_skip(p, size, lo, skipped);
  p += from;
  size -= from;
  if (hi - lo < size) size = parquet_skip(p, size, hi - lo, skipped);
}

// parquet_cut_part leaves the nth of the parts between separators, of one byte or more; n is 1 or
// more.
__device__ __forceinline__ void parquet_cut_part(const uint8_t*& p, uint32_t& size, int64_t n, const uint8_t* separator, uint32_t bytes) {
  for (;; n--) {
    const uint32_t behind = parquet_behind_piece(separator, bytes, p, size);
    if (n == 1) {
      if (behind != PARQUET_NOWHERE) size = behind - bytes;
      return;
    }
    if (behind == PARQUET_NOWHERE) {
      size = 0;
      return;
    }
    p += behind;
    size -= behind;
  }
}

// parquet_cut_last leaves the nth of these parts from the end.
__device__ __forceinline__ void parquet_cut_last(const uint8_t*& p, uint32_t& size, int64_t n, const uint8_t* separator, uint32_t bytes) {
  for (;; n--) {
    uint32_t last = PARQUET_NOWHERE;
    for (uint32_t at = size >= bytes ? size - bytes + 1 : 0; at-- > 0;) {
      if (parquet_same_bytes(separator, p + at, bytes)) {
        last = at;
        break;
      }
    }
    if (n == 1) {
      if (last != PARQUET_NOWHERE) {
        p += last + bytes;
        size -= last + bytes;
      }
      return;
    }
    size = last == PARQUET_NOWHERE ? 0 : last;
    if (last == PARQUET_NOWHERE) return;
  }
}

// parquet_is_blank tells whether the n bytes at p are a character that separates words: those of
// Unicode's category Zs.
__device__ __forceinline__ bool parquet_is_blank(const uint8_t* p, uint32_t n) {
  const uint32_t c = uint32_t(parquet_load(p, n));  // the first byte is the lowest
  switch (n) {
    case 1: return c == ' ';
    case 2: return c == 0xa0c2;  // U+00A0
    case 3: break;
    default: return false;
  }
  if ((c & 0xffff) == 0x80e2) return (c >> 16 >= 0x80 && c >> 16 <= 0x8a) || c >> 16 == 0xaf;  // U+2000 to U+200A, U+202F
  return c == 0x809ae1 || c == 0x9f81e2 || c == 0x8080e3;                                       // U+1680, U+205F, U+3000
}

// parquet_cut_blanks leaves what is between blanks in front, at the end, or both.
__device__ __forceinline__ void parquet_cut_blanks(const uint8_t*& p, uint32_t& size, bool front, bool end) {
  while (front && size > 0) {
    const uint32_t n = parquet_character(p, size);
    if (!parquet_is_blank(p, n)) break;
    p += n;
    size -= n;
  }
  while (end && size > 0) {
    uint32_t n = 1;
    while (n <= 3 && n <= size && !parquet_is_blank(p + size - n, n)) n++;
    if (n > 3 || n > size) break;
    size -= n;
  }
}

// parquet_cut leaves of a string what the cut says.
__device__ __forceinline__ void parquet_cut(const uint8_t* cut, const uint8_t*& p, uint32_t& size) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(cut);
  for (uint32_t steps = *words++; steps > 0; steps--) {
    const uint32_t kind = words[0], bytes = words[3];
    int64_t a = int32_t(words[1]), b = int32_t(words[2]);
    const uint8_t* separator = reinterpret_cast<const uint8_t*>(words + 4);
    words += 4 + (bytes + 3) / 4;
    switch (kind) {
      case PARQUET_CUT_PART: parquet_cut_part(p, size, a, separator, bytes); break;
      case PARQUET_CUT_LAST_PART: parquet_cut_last(p, size, a, separator, bytes); break;
      case PARQUET_CUT_BLANKS: parquet_cut_blanks(p, size, a != 0, b != 0); break;
      case PARQUET_CUT_FROM_END: {
        int64_t characters;
        parquet_skip(p, size, size, characters);
        a += characters;
        b += characters;
      }
        [[fallthrough]];
      default: parquet_cut_characters(p, size, a, b);
    }
  }
}
