// Whether a string is of a pattern: pieces that come one after the other, the first at the
// beginning and the last at the end; one piece alone is the whole string. So `like` without `_`,
// `=`, starts_with, ends_with and contains are answered, byte by byte (internal/expr: Match).
//
// A pattern lies in the parcel as words of 32 bits, the number of its pieces and the size of each,
// with the bytes of the pieces behind them, one after the other.
//
// A thread takes a string. Of a piece that may be anywhere it looks at five places by one load of 8
// bytes, at each for the piece's first four: of 70 bytes without the piece these are 14 loads and
// some 20 operations for each.
#pragma once

#include "parquet_bytes.cuh"

constexpr uint32_t PARQUET_NOWHERE = 0xffffffff;

// parquet_same_bytes tells whether n bytes are the same.
__device__ __forceinline__ bool parquet_same_bytes(const uint8_t* a, const uint8_t* b, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 8) {
    const uint32_t count = n - i < 8 ? n - i : 8;
    if (parquet_load(a + i, count) != parquet_load(b + i, count)) return false;
  }
  return true;
}

// parquet_behind_piece is how many of `size` bytes end with the first of them that are the n bytes
// of a piece, n above 0; PARQUET_NOWHERE: there are none.
__device__ __forceinline__ uint32_t parquet_behind_piece(const uint8_t* piece, uint32_t n, const uint8_t* p, uint32_t size) {
  constexpr uint32_t HEAD = 4, PLACES = 8 - HEAD + 1;
  if (n > size) return PARQUET_NOWHERE;
  const uint32_t head = n < HEAD ? n : HEAD, mask = 0xffffffff >> (8 * (HEAD - head));
  const uint32_t first = uint32_t(parquet_load(piece, head)), last = size - n;
  for (uint32_t from = 0; from <= last; from += PLACES) {
    const uint64_t word = parquet_load(p + from, size - from < 8 ? size - from : 8);
    for (uint32_t i = 0; i < PLACES; i++) {
      const uint32_t at = from + i;
      if ((uint32_t(word >> (8 * i)) & mask) != first || at > last) continue;
      if (parquet_same_bytes(piece + head, p + at + head, n - head)) return at + n;
    }
  }
  return PARQUET_NOWHERE;
}

// parquet_matches tells whether the string of `size` bytes at p is of a pattern.
__device__ __forceinline__ bool parquet_matches(const uint8_t* pattern, const uint8_t* p, uint32_t size) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(pattern);
  const uint32_t count = words[0], *sizes = words + 1;
  const uint8_t* piece = reinterpret_cast<const uint8_t*>(sizes + count);
  const uint32_t first = sizes[0], last = sizes[count - 1];
  if (count == 1) return size == first && parquet_same_bytes(piece, p, first);
  if (size < first + last || !parquet_same_bytes(piece, p, first)) return false;
  piece += first, p += first, size -= first + last;
  for (uint32_t i = 1; i + 1 < count; i++) {
    const uint32_t n = sizes[i], behind = parquet_behind_piece(piece, n, p, size);
    if (behind == PARQUET_NOWHERE) return false;
    piece += n, p += behind, size -= behind;
  }
  return parquet_same_bytes(piece, p + size, last);
}
