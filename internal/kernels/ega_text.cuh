// Texts of the store that states refer to: parquet_texts.cuh.
#pragma once

#include "ega.cuh"

// ega_text_before says whether a text of the store comes before another, by their bytes. Behind the
// last byte of a text the rest of its word is 0. The words are read past the first-level cache,
// which may have what they were before.
__device__ __forceinline__ bool ega_text_before(const uint64_t* texts, uint64_t ref, uint64_t other) {
  const uint64_t* p = texts + uint32_t(ref);
  const uint64_t* q = texts + uint32_t(other);
  const uint32_t p_size = uint32_t(ld_relaxed(p - 1)), q_size = uint32_t(ld_relaxed(q - 1));
  const uint64_t words = (uint64_t(p_size < q_size ? p_size : q_size) + 7) / 8;
  for (uint64_t w = 0; w < words; w++) {
    const uint64_t a = ld_relaxed(p + w), b = ld_relaxed(q + w);
    if (a != b) return __builtin_bswap64(a) < __builtin_bswap64(b);
  }
  return p_size < q_size;
}
