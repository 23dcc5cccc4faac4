// The bytes of a page: where they are, and loads from any place among them (WITHIN of parquet.cuh).
//
// The device takes an address that is no multiple of an access's size for a fault, and the values
// of a page begin anywhere: behind levels of any size. So a value is composed of the aligned words
// that hold its bytes, and no other word is read: a load touches at most 7 bytes behind those it is
// for (ROOM), and 7 before, where there is the parcel or the work memory.
#pragma once

#include "parquet.cuh"

// ParquetBytes is some bytes of a page.
struct ParquetBytes {
  const uint8_t* at;
  uint32_t size;
};

// parquet_bytes is a page, decompressed.
__device__ __forceinline__ ParquetBytes parquet_bytes(const ParquetJob& job, const ParquetPage& page) {
  if (page.codec != PARQUET_PLAIN_BYTES) return {job.work + page.expanded, page.size};
  return {job.parcel + page.at, page.bytes};
}

// parquet_load is the `count` bytes at p as a number, the first the lowest; count is 0 to 8.
__device__ __forceinline__ uint64_t parquet_load(const uint8_t* p, uint32_t count) {
  if (count == 0) return 0;
  const uint64_t address = reinterpret_cast<uint64_t>(p);
  const uint64_t* word = reinterpret_cast<const uint64_t*>(address & ~uint64_t(7));
  const uint32_t before = uint32_t(address & 7);
  uint64_t v = word[0] >> (before * 8);
  if (before + count > 8) v |= word[1] << (64 - before * 8);
  return count == 8 ? v : v & ((uint64_t(1) << (count * 8)) - 1);
}

// ParquetReader reads bytes one after the other. It has failed when it was asked for one more than
// there are.
struct ParquetReader {
  ParquetBytes bytes;
  uint32_t pos;
  bool failed;

  __device__ __forceinline__ uint32_t left() const { return bytes.size - pos; }

  __device__ __forceinline__ uint32_t byte() {
    failed |= pos >= bytes.size;
    return failed ? 0 : bytes.at[pos++];
  }

  // varint is seven bits a byte, the lowest first; at most 64.
  __device__ __forceinline__ uint64_t varint() {
    uint64_t v = 0;
    for (uint32_t shift = 0;; shift += 7) {
      const uint32_t b = byte();
      failed |= shift == 63 && b > 1;
      if (failed) return 0;
      v |= uint64_t(b & 127) << shift;
      if (b < 128) return v;
    }
  }
};
