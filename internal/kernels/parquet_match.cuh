// Whether a string is of a pattern: pieces that come one after the other, the first at the
// beginning and the last at the end; one piece alone is the whole string. So `like` without `_`,
// `=`, starts_with, ends_with and contains are answered, byte by byte (internal/expr: Match).
//
// A pattern lies in the parcel as words of 32 bits, the number of its pieces and the size of each,
// with the bytes of the pieces behind them, one after the other. With PARQUET_FOLDED in the number
// the string counts as lower(s): of pieces of ASCII that is each byte of A to Z in lower case.
// There are two other letters that become ASCII, i and k. Where pieces have one of these
// (PARQUET_FOLDED_BEYOND) and a string one of those, it is not answered here.
//
// A thread takes a string. Of a piece that may be anywhere it looks at five places by one load of 8
// bytes, at each for the piece's first four: of 70 bytes without the piece these are 14 loads and
// some 20 operations for each.
#pragma once

#include "parquet.cuh"
#include "parquet_bytes.cuh"

constexpr uint32_t PARQUET_NOWHERE = 0xffffffff;
constexpr uint32_t PARQUET_FOLDED = uint32_t(1) << 31, PARQUET_FOLDED_BEYOND = uint32_t(1) << 30;

// parquet_fold makes each byte of A to Z lower case.
__device__ __forceinline__ uint64_t parquet_fold(uint64_t word) {
  constexpr uint64_t EACH = 0x0101010101010101, HIGH = 0x80 * EACH;
  const uint64_t low = word & ~HIGH, from_a = low + (0x80 - 'A') * EACH, above_z = low + (0x7f - 'Z') * EACH;
  return word | (from_a & ~above_z & ~word & HIGH) >> 2;
}

// parquet_match_load is n bytes of a string, in lower case if it is folded.
template <bool FOLD>
__device__ __forceinline__ uint64_t parquet_match_load(const uint8_t* p, uint32_t n) {
  const uint64_t word = parquet_load(p, n);
  return FOLD ? parquet_fold(word) : word;
}

// parquet_same_bytes tells whether n bytes are the same as those of a piece.
template <bool FOLD = false>
__device__ __forceinline__ bool parquet_same_bytes(const uint8_t* piece, const uint8_t* p, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 8) {
    const uint32_t count = n - i < 8 ? n - i : 8;
    if (parquet_load(piece + i, count) != parquet_match_load<FOLD>(p + i, count)) return false;
  }
  return true;
}

// parquet_behind_piece is how many of `size` bytes end with the first of them that are the n bytes
// of a piece, n above 0; PARQUET_NOWHERE: there are none.
template <bool FOLD = false>
__device__ __forceinline__ uint32_t parquet_behind_piece(const uint8_t* piece, uint32_t n, const uint8_t* p, uint32_t size) {
  constexpr uint32_t HEAD = 4, PLACES = 8 - HEAD + 1;
  if (n > size) return PARQUET_NOWHERE;
  const uint32_t head = n < HEAD ? n : HEAD, mask = 0xffffffff >> (8 * (HEAD - head));
  const uint32_t first = uint32_t(parquet_load(piece, head)), last = size - n;
  for (uint32_t from = 0; from <= last; from += PLACES) {
    const uint64_t word = parquet_match_load<FOLD>(p + from, size - from < 8 ? size - from : 8);
    for (uint32_t i = 0; i < PLACES; i++) {
      const uint32_t at = from + i;
      if ((uint32_t(word >> (8 * i)) & mask) != first || at > last) continue;
      if (parquet_same_bytes<FOLD>(piece + head, p + at + head, n - head)) return at + n;
    }
  }
  return PARQUET_NOWHERE;
}

// parquet_pieces tells whether the string of `size` bytes at p is of `count` pieces.
template <bool FOLD>
__device__ __forceinline__ bool parquet_pieces(const uint32_t* sizes, uint32_t count, const uint8_t* p, uint32_t size) {
  const uint8_t* piece = reinterpret_cast<const uint8_t*>(sizes + count);
  const uint32_t first = sizes[0], last = sizes[count - 1];
  if (count == 1) return size == first && parquet_same_bytes<FOLD>(piece, p, first);
  if (size < first + last || !parquet_same_bytes<FOLD>(piece, p, first)) return false;
  piece += first, p += first, size -= first + last;
  for (uint32_t i = 1; i + 1 < count; i++) {
    const uint32_t n = sizes[i], behind = parquet_behind_piece<FOLD>(piece, n, p, size);
    if (behind == PARQUET_NOWHERE) return false;
    piece += n, p += behind, size -= behind;
  }
  return parquet_same_bytes<FOLD>(piece, p + size, last);
}

// parquet_folds_beyond tells whether a string has a letter beyond ASCII that becomes one of it:
// U+0130 or U+212A.
__device__ __forceinline__ bool parquet_folds_beyond(const uint8_t* p, uint32_t size) {
  for (uint32_t from = 0; from < size; from += 8) {
    const uint32_t n = size - from < 8 ? size - from : 8;
    if ((parquet_load(p + from, n) & 0x8080808080808080) == 0) continue;
    for (uint32_t at = from; at < from + n; at++) {
      const uint64_t three = parquet_load(p + at, size - at < 3 ? size - at : 3);
      if ((three & 0xffff) == 0xb0c4 || three == 0xaa84e2) return true;
    }
  }
  return false;
}

// parquet_matches tells whether the string of `size` bytes at p is of a pattern. It stops the job
// where that is not answered here.
__device__ __forceinline__ bool parquet_matches(uint64_t* stop, const uint8_t* pattern, const uint8_t* p, uint32_t size) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(pattern);
  const uint32_t count = words[0] & ~(PARQUET_FOLDED | PARQUET_FOLDED_BEYOND);
  if ((words[0] & PARQUET_FOLDED) == 0) return parquet_pieces<false>(words + 1, count, p, size);
  if ((words[0] & PARQUET_FOLDED_BEYOND) != 0 && parquet_folds_beyond(p, size)) parquet_stop(stop, PARQUET_STOP_RANGE);
  return parquet_pieces<true>(words + 1, count, p, size);
}
