// XXH3 of 64 bits, without a seed (Yann Collet, xxHash 0.8, BSD 2-Clause): the hash of strings that
// are too long for a key (internal/key: hashBytes, which calls github.com/zeebo/xxh3).
//
// A thread hashes a string, of at least 16 bytes. Cost, of 80 bytes: 5 pairs of 8 bytes, each two
// loads, and two multiplications to 128 bits for each.
#pragma once

#include "parquet_bytes.cuh"

constexpr uint64_t XXH3_PRIME_1 = 0x9e3779b185ebca87, XXH3_PRIME_2 = 0xc2b2ae3d27d4eb4f;
constexpr uint64_t XXH3_PRIME_3 = 0x165667b19e3779f9, XXH3_PRIME_4 = 0x85ebca77c2b2ae63;
constexpr uint64_t XXH3_PRIME_5 = 0x27d4eb2f165667c5;
constexpr uint32_t XXH3_PRIME32_1 = 0x9e3779b1, XXH3_PRIME32_2 = 0x85ebca77, XXH3_PRIME32_3 = 0xc2b2ae3d;

// xxh3_secret is the 8 bytes of the secret from byte `at` on. Where `at` is known to the compiler
// so is the result.
__device__ __forceinline__ constexpr uint64_t xxh3_secret(uint32_t at) {
  constexpr uint64_t words[24] = {
      0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072, 0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82,
      0x8e2443f7744608b8, 0x4c263a81e69035e0, 0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
      0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8, 0xc3ebd33483acc5ea, 0xeb6313faffa081c5,
      0x49daf0b751dd0d17, 0x9e68d429265516d3, 0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af};
  const uint32_t word = at / 8, shift = at % 8 * 8;
  return shift == 0 ? words[word] : words[word] >> shift | words[word + 1] << (64 - shift);
}

__device__ __forceinline__ uint64_t xxh3_fold(uint64_t a, uint64_t b) { return a * b ^ __umul64hi(a, b); }

__device__ __forceinline__ uint64_t xxh3_avalanche(uint64_t h) {
  h ^= h >> 37;
  h *= 0x165667919e3779f9;
  return h ^ h >> 32;
}

__device__ __forceinline__ uint64_t xxh3_swap(uint64_t v) {
  v = (v & 0x00ff00ff00ff00ff) << 8 | (v >> 8 & 0x00ff00ff00ff00ff);
  v = (v & 0x0000ffff0000ffff) << 16 | (v >> 16 & 0x0000ffff0000ffff);
  return v << 32 | v >> 32;
}

// xxh3_mix mixes 16 bytes with 16 of the secret.
__device__ __forceinline__ uint64_t xxh3_mix(const uint8_t* p, uint32_t secret) {
  return xxh3_fold(parquet_load(p, 8) ^ xxh3_secret(secret), parquet_load(p + 8, 8) ^ xxh3_secret(secret + 8));
}

// xxh3_short hashes 16 to 128 bytes.
__device__ __forceinline__ uint64_t xxh3_short(const uint8_t* p, uint32_t size) {
  if (size == 16) {
    const uint64_t lo = parquet_load(p, 8) ^ xxh3_secret(24) ^ xxh3_secret(32);
    const uint64_t hi = parquet_load(p + 8, 8) ^ xxh3_secret(40) ^ xxh3_secret(48);
    return xxh3_avalanche(size + xxh3_swap(lo) + hi + xxh3_fold(lo, hi));
  }
  uint64_t sum = size * XXH3_PRIME_1;
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) {
    if (size > 32 * i) sum += xxh3_mix(p + 16 * i, 32 * i) + xxh3_mix(p + size - 16 * (i + 1), 32 * i + 16);
  }
  return xxh3_avalanche(sum);
}

// xxh3_middle hashes 129 to 240 bytes.
__device__ __forceinline__ uint64_t xxh3_middle(const uint8_t* p, uint32_t size) {
  uint64_t sum = size * XXH3_PRIME_1;
#pragma unroll
  for (uint32_t i = 0; i < 8; i++) sum += xxh3_mix(p + 16 * i, 16 * i);
  sum = xxh3_avalanche(sum);
#pragma unroll
  for (uint32_t i = 8; i < 15; i++) {
    if (i < size / 16) sum += xxh3_mix(p + 16 * i, 16 * (i - 8) + 3);
  }
  return xxh3_avalanche(sum + xxh3_mix(p + size - 16, 119));
}

constexpr uint32_t XXH3_LANES = 8, XXH3_STRIPE = 64, XXH3_STRIPES = 16;  // of a block

// xxh3_stripe adds 64 bytes, with those of the secret from `secret` on.
__device__ __forceinline__ void xxh3_stripe(uint64_t (&sums)[XXH3_LANES], const uint8_t* p, uint32_t secret) {
#pragma unroll
  for (uint32_t i = 0; i < XXH3_LANES; i++) {
    const uint64_t data = parquet_load(p + 8 * i, 8), key = data ^ xxh3_secret(secret + 8 * i);
    sums[i ^ 1] += data;
    sums[i] += uint64_t(uint32_t(key)) * (key >> 32);
  }
}

// xxh3_long hashes 241 bytes and more.
__device__ __forceinline__ uint64_t xxh3_long(const uint8_t* p, uint32_t size) {
  uint64_t sums[XXH3_LANES] = {XXH3_PRIME32_3, XXH3_PRIME_1, XXH3_PRIME_2, XXH3_PRIME_3,
                               XXH3_PRIME_4, XXH3_PRIME32_2, XXH3_PRIME_5, XXH3_PRIME32_1};
  const uint32_t all = (size - 1) / XXH3_STRIPE;  // stripes, without the last one, which is the last 64 bytes
  for (uint32_t first = 0; first < all; first += XXH3_STRIPES) {
#pragma unroll
    for (uint32_t n = 0; n < XXH3_STRIPES; n++) {
      if (first + n < all) xxh3_stripe(sums, p + uint64_t(first + n) * XXH3_STRIPE, 8 * n);
    }
    if (all - first < XXH3_STRIPES) break;
#pragma unroll
    for (uint32_t i = 0; i < XXH3_LANES; i++) {
      sums[i] = (sums[i] ^ sums[i] >> 47 ^ xxh3_secret(128 + 8 * i)) * XXH3_PRIME32_1;
    }
  }
  xxh3_stripe(sums, p + size - XXH3_STRIPE, 121);
  uint64_t h = size * XXH3_PRIME_1;
#pragma unroll
  for (uint32_t i = 0; i < XXH3_LANES; i += 2) {
    h += xxh3_fold(sums[i] ^ xxh3_secret(11 + 8 * i), sums[i + 1] ^ xxh3_secret(19 + 8 * i));
  }
  return xxh3_avalanche(h);
}

// xxh3_hash hashes the `size` bytes at p, 16 or more.
__device__ __forceinline__ uint64_t xxh3_hash(const uint8_t* p, uint32_t size) {
  if (size <= 128) return xxh3_short(p, size);
  if (size <= 240) return xxh3_middle(p, size);
  return xxh3_long(p, size);
}
