// The bytes of a page: where they are, and loads from any place among them (WITHIN of parquet.cuh).
//
// The device takes an address that is no multiple of an access's size for a fault, and the values of a page begin anywhere:
// behind levels of any size. So a value is composed of the aligned words that hold its bytes, and no other word is read: a
// load touches at most 7 bytes behind those it is for (ROOM), and 7 before, where there is the parcel or the work memory.
#pragma once

#include "parquet.cuh"

// ParquetBytes is some bytes of a page.
struct ParquetBytes {
  const uint8_t* at;
  uint32_t size;
};

// parquet_bytes is a page, decompressed.
__device__ __forceinline__ ParquetBytes parquet_bytes(const ParquetJob& job, const ParquetPage& page) {
  if (page.snappy != 0) return {job.work + page.expanded, page.size};
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

// ParquetReader reads bytes one after the other. It has failed when it was asked for one more than there are.
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

// ParquetRun is a run of small integers: the format's mix of run-length and bit-packed runs.
//
//   varint(count << 1)       value in ceil(width / 8) bytes
//   varint(groups << 1 | 1)  groups * width bytes: 8 values a group, the lowest bits first
struct ParquetRun {
  uint64_t count;  // of values; of the last bit-packed run: as many as its bytes hold, since not all writers fill the group
  uint32_t at;     // packed: where it begins; else the value
  bool packed;
};

// parquet_run reads the head of a run and goes behind the run. width is 1 to 32. The reader has failed if the run is damaged.
__device__ __forceinline__ ParquetRun parquet_run(ParquetReader& in, uint32_t width) {
  const uint64_t head = in.varint();
  ParquetRun run = {head >> 1, 0, (head & 1) != 0};
  if (run.count > 0x7fffffff) run.count = 0x7fffffff;  // more than any page has
  if (run.packed) {
    const uint64_t size = run.count * width;
    const uint64_t held = uint64_t(in.left()) * 8 / width;
    in.failed |= run.count > 0 && held == 0;
    run.at = in.pos;
    run.count = run.count * 8 < held ? run.count * 8 : held;
    in.pos = size < in.left() ? in.pos + uint32_t(size) : in.bytes.size;
    return run;
  }
  for (uint32_t shift = 0; shift < width; shift += 8) run.at |= in.byte() << shift;
  in.failed |= width < 32 && run.at >> width != 0;
  return run;
}
