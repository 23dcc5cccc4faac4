// XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md) with the seed 0, whose low half Zstandard
// frames have behind them.
#pragma once

#include "parquet_bytes.cuh"

constexpr uint64_t ZSTD_PRIME1 = 0x9e3779b185ebca87, ZSTD_PRIME2 = 0xc2b2ae3d27d4eb4f, ZSTD_PRIME3 = 0x165667b19e3779f9,
                   ZSTD_PRIME4 = 0x85ebca77c2b2ae63, ZSTD_PRIME5 = 0x27d4eb2f165667c5;

static __device__ __forceinline__ uint64_t zstd_rotate(uint64_t v, uint32_t bits) { return v << bits | v >> (64 - bits); }

static __device__ __forceinline__ uint64_t zstd_round(uint64_t sum, uint64_t v) {
  return zstd_rotate(sum + v * ZSTD_PRIME2, 31) * ZSTD_PRIME1;
}

// zstd_hash is the hash of n bytes. All lanes of a warp call: four of them have a sum each, of
// every fourth 8 bytes.
static __device__ __forceinline__ uint64_t zstd_hash(const uint8_t* at, uint32_t n) {
  const uint32_t lane = lane_id() % 4, stripes = n / 32;
  uint64_t sum = lane == 0 ? ZSTD_PRIME1 + ZSTD_PRIME2 : lane == 1 ? ZSTD_PRIME2 : lane == 2 ? 0 : 0 - ZSTD_PRIME1;
#pragma unroll 4
  for (uint32_t i = 0; i < stripes; i++) sum = zstd_round(sum, parquet_load(at + 32 * i + 8 * lane, 8));
  uint64_t hash = ZSTD_PRIME5;
  if (stripes != 0) {
    constexpr uint32_t turn = 1 | 7 << 8 | 12 << 16 | 18 << 24;
    hash = 0;
    for (uint32_t i = 0; i < 4; i++) hash += zstd_rotate(__shfl_sync(FULL_MASK, sum, i), turn >> (8 * i) & 0xff);
    for (uint32_t i = 0; i < 4; i++) {
      hash = (hash ^ zstd_round(0, __shfl_sync(FULL_MASK, sum, i))) * ZSTD_PRIME1 + ZSTD_PRIME4;
    }
  }
  hash += n;
  uint32_t i = stripes * 32;
  for (; i + 8 <= n; i += 8) {
    hash = zstd_rotate(hash ^ zstd_round(0, parquet_load(at + i, 8)), 27) * ZSTD_PRIME1 + ZSTD_PRIME4;
  }
  if (i + 4 <= n) {
    hash = zstd_rotate(hash ^ parquet_load(at + i, 4) * ZSTD_PRIME1, 23) * ZSTD_PRIME2 + ZSTD_PRIME3;
    i += 4;
  }
  for (; i < n; i++) hash = zstd_rotate(hash ^ at[i] * ZSTD_PRIME5, 11) * ZSTD_PRIME1;
  hash = (hash ^ hash >> 33) * ZSTD_PRIME2;
  hash = (hash ^ hash >> 29) * ZSTD_PRIME3;
  return hash ^ hash >> 32;
}
