// Codes of a dictionary, in runs, to the words of its entries.
//
// The rows of a page are divided evenly among its blocks, however its runs lie. A block lists the
// runs of its rows (parquet_coded.cuh), as many at a time as the list has room for. A batch of
// BATCH rows is a warp's. A lane searches the run of its first row, and goes on from there. All
// codes of a batch are read before the first entry is, so that the waits for entries overlap.
//
// Cost (counted in the source): some 60 instructions a code, and for each block some 6,000 cycles
// until the first runs are listed.
#pragma once

#include "parquet_coded.cuh"
#include "parquet_words.cuh"

// Runs of a list: of 8 codes, the shortest that are packed, those of 2,048 rows.
constexpr uint32_t PARQUET_LISTED = 256;

using ParquetCodedList = ParquetRuns<PARQUET_LISTED>;

// ParquetCodesShared is the shared memory of a block that decodes codes.
struct ParquetCodesShared {
  ParquetCodedList runs;
  uint32_t sums[SCAN_SCRATCH];
};

// ParquetEntries is the words of a dictionary for an output.
struct ParquetEntries {
  const uint64_t* words;
  uint32_t count;
  uint32_t arrays;
};

__device__ __forceinline__ ParquetEntries parquet_entries(const ParquetJob& job, const ParquetTask& task,
                                                          const ParquetOutput& output) {
  const uint8_t* from = (task.entries & PARQUET_IN_WORK) != 0 ? job.work : job.parcel;
  return {reinterpret_cast<const uint64_t*>(from + (task.entries & ~PARQUET_IN_WORK)), task.count, parquet_array_count(output)};
}

// parquet_put_entry writes the words of entry `code` for a row, and tells whether there is such an
// entry.
__device__ __forceinline__ bool parquet_put_entry(const ParquetEntries& entries, const ParquetArrays& arrays, uint32_t row,
                                                  uint32_t code) {
  if (code >= entries.count) return false;
  for (uint32_t a = 0; a < entries.arrays; a++) arrays.put(a, row, entries.words[uint64_t(a) * entries.count + code]);
  return true;
}

// ParquetCodes writes the words of codes.
struct ParquetCodes {
  uint64_t* stop;
  ParquetEntries entries;
  ParquetArrays arrays;
  const uint8_t* values;
  uint32_t width;

  // The rows from `from` to `to` - 1, for which the list has runs.
  __device__ __forceinline__ void operator()(const ParquetCodedList& runs, uint32_t from, uint32_t to) const {
    constexpr uint32_t EACH = 8;
    constexpr uint32_t BATCH = EACH * warpSize;
    bool good = true;
    for (uint64_t batch = from + warp_id() * BATCH; batch < to; batch += blockDim.x * EACH) {
      const uint64_t first = batch + lane_id();
      uint32_t code[EACH];
      uint32_t r = first < to ? parquet_run_of(runs, uint32_t(first)) : 0;
#pragma unroll
      for (uint32_t i = 0; i < EACH; i++) {
        const uint64_t row = first + i * warpSize;
        code[i] = 0;
        if (row >= to) continue;
        while (r + 1 < runs.count && runs.firsts[r + 1] <= row) r++;
        const bool packed = runs.packed[r] != 0;
        code[i] = packed ? parquet_packed(values + runs.ats[r], width, uint32_t(row) - runs.firsts[r]) : runs.ats[r];
      }
#pragma unroll
      for (uint32_t i = 0; i < EACH; i++) {
        const uint64_t row = first + i * warpSize;
        if (row < to) good &= parquet_put_entry(entries, arrays, uint32_t(row), code[i]);
      }
    }
    if (!good) parquet_stop(stop, PARQUET_STOP_DAMAGED);
  }
};

// parquet_listed_codes writes the words of rows lo to hi - 1 of a page. All threads of the block
// call. The barriers: those of the lists, and one before a list is made anew.
__device__ __forceinline__ void parquet_listed_codes(ParquetCodesShared& shared, const ParquetCodedPage& page,
                                                     const ParquetCodes& codes, uint32_t lo, uint32_t hi) {
  ParquetCodedRuns runs = {page, 0, 0, 0};
  if (!runs.seek(shared.runs, shared.sums, lo)) return parquet_stop(codes.stop, PARQUET_STOP_DAMAGED);
  for (uint32_t from = lo; from < hi;) {
    if (!runs.next(shared.runs, shared.sums, hi)) return parquet_stop(codes.stop, PARQUET_STOP_DAMAGED);
    const uint32_t to = runs.row < hi ? runs.row : hi;
    if (from < to) {
      codes(shared.runs, from, to);
      from = to;
    }
    __syncthreads();
  }
}

// parquet_codes writes the words of this block's share of the rows of a page of codes: number
// `share` of `shares`. If the width is 0 all codes are, with runs or without; so it is without any
// bytes if there are no values. All threads of the block call.
__device__ __forceinline__ void parquet_codes(ParquetCodesShared& shared, const ParquetJob& job, const ParquetPage& page,
                                              const ParquetEntries& entries, const ParquetArrays& arrays, ParquetBytes body,
                                              uint32_t rows, uint32_t share, uint32_t shares) {
  if (rows == 0 && body.size == 0) return;
  const ParquetCodedPart part = parquet_coded_part(page, body);
  const uint32_t width = part.width;
  if (width > 32) parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  if (width > 32 || rows == 0) return;
  if (entries.count == 0) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  const uint32_t each = (rows + shares - 1) / shares, lo = share * each;
  if (lo >= rows) return;
  const uint32_t hi = rows - lo < each ? rows : lo + each;
  if (width == 0) {
    for (uint32_t row = lo + threadIdx.x; row < hi; row += blockDim.x) parquet_put_entry(entries, arrays, row, 0);
    return;
  }
  ParquetCodedPage coded;
  if (!parquet_coded_page(job, page, coded)) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  parquet_listed_codes(shared, coded, {job.stop, entries, arrays, part.runs.at, width}, lo, hi);
}
