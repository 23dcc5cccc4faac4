// Runs of small integers: codes of dictionaries, definition levels.
//
// Only a run tells where the next one begins. parquet_coded.cuh finds the runs of codes, for all
// blocks of a page; parquet_heads.cuh those of levels, for one block, a list of them at a time.
#pragma once

#include "parquet_bytes.cuh"

// ParquetRun is a run of small integers: the format's mix of run-length and bit-packed runs.
//
//   varint(count << 1)       value in ceil(width / 8) bytes
//   varint(groups << 1 | 1)  groups * width bytes: 8 values a group, the lowest bits first
struct ParquetRun {
  uint64_t count;  // of values; of the last bit-packed run: as many as its bytes hold, since not all writers fill the group
  uint32_t at;     // packed: where it begins; else the value
  bool packed;
};

// parquet_run reads the head of a run and goes behind the run. width is 1 to 32. The reader has
// failed if the run is damaged. truth: a value but 0 is 1 (some writers have 255 for true).
__device__ __forceinline__ ParquetRun parquet_run(ParquetReader& in, uint32_t width, bool truth = false) {
  const uint64_t head = in.varint();
  ParquetRun run = {head >> 1, 0, (head & 1) != 0};
  if (run.count > 0x7fffffff) run.count = 0x7fffffff;  // more than any page has
  if (run.packed) {
    const uint64_t size = run.count * width;
    run.at = in.pos;
    run.count *= 8;
    if (size > in.left()) {
      run.count = uint64_t(in.left()) * 8 / width;
      in.failed |= run.count == 0;
    }
    in.pos = size < in.left() ? in.pos + uint32_t(size) : in.bytes.size;
    return run;
  }
  for (uint32_t shift = 0; shift < width; shift += 8) run.at |= in.byte() << shift;
  if (truth) run.at = run.at != 0 ? 1 : 0;
  in.failed |= width < 32 && run.at >> width != 0;
  return run;
}

// ParquetRuns is a list of at most MOST runs, one behind the other, in shared memory.
template <uint32_t MOST>
struct ParquetRuns {
  uint32_t firsts[MOST];  // row that a run begins with; of the page
  uint32_t ats[MOST];     // where its bits begin among the values, or the code
  uint8_t packed[MOST];
  uint32_t count;
  uint32_t rows;  // before the next run
  uint32_t pos;   // of the next head among the values
  bool failed;    // a run is damaged: what the list has means nothing
};

// parquet_put_run writes number i of a list.
template <uint32_t MOST>
__device__ __forceinline__ void parquet_put_run(ParquetRuns<MOST>& list, uint32_t i, uint32_t first, uint32_t at, bool packed) {
  list.firsts[i] = first;
  list.ats[i] = at;
  list.packed[i] = packed;
}

// parquet_run_of is the number of the listed run that a row is in.
template <uint32_t MOST>
__device__ __forceinline__ uint32_t parquet_run_of(const ParquetRuns<MOST>& runs, uint32_t row) {
  uint32_t low = 0, high = runs.count;  // firsts[low] <= row < firsts[high]
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (runs.firsts[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// parquet_packed is code i of those packed from p on.
__device__ __forceinline__ uint32_t parquet_packed(const uint8_t* p, uint32_t width, uint32_t i) {
  const uint64_t bit = uint64_t(i) * width;
  const uint32_t shift = uint32_t(bit & 7);
  const uint64_t bits = parquet_load(p + (bit >> 3), (shift + width + 7) / 8) >> shift;
  return uint32_t(bits & ((uint64_t(1) << width) - 1));
}
