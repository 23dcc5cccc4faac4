// Codes of a dictionary, in runs (parquet_runs.cuh), to the words of its entries.
//
// One of PARQUET_CODE_BLOCKS blocks of a page lists its runs (parquet_heads.cuh), each of them for
// itself, and decodes its share of the codes. A batch of BATCH rows is of a warp of these blocks,
// in turns, so that the shares are alike however runs lie in lists.
//
// A lane searches the run of its first row, and goes on from there. All codes of a batch are read
// before the first entry is, so that the waits for entries overlap.
//
// Cost (counted in the source): some 60 instructions a code, besides the lists.
#pragma once

#include "parquet_heads.cuh"
#include "parquet_words.cuh"

// Counted, not measured: 122,880 codes take 230,000 instructions of warps, some 80,000 cycles of
// each of three blocks, 115,000 of two. Each block lists all runs: 8,000 cycles where these are
// usual, but 400,000 where they have 8 codes, and more blocks are sooner over with none of that.
constexpr uint32_t PARQUET_CODE_BLOCKS = 3;

// ParquetEntries is the words of a dictionary for an output.
struct ParquetEntries {
  const uint64_t* words;
  uint32_t count;
  uint32_t arrays;
};

__device__ __forceinline__ ParquetEntries parquet_entries(const ParquetJob& job, const ParquetTask& task,
                                                          const ParquetOutput& output) {
  return {reinterpret_cast<const uint64_t*>(job.parcel + task.entries), task.count, parquet_array_count(output)};
}

// parquet_put_entry writes the words of entry `code` for a row, and tells whether there is such an
// entry.
__device__ __forceinline__ bool parquet_put_entry(const ParquetEntries& entries, const ParquetArrays& arrays, uint32_t row,
                                                  uint32_t code) {
  if (code >= entries.count) return false;
  for (uint32_t a = 0; a < entries.arrays; a++) arrays.put(a, row, entries.words[uint64_t(a) * entries.count + code]);
  return true;
}

// ParquetCodes writes the words of codes, as far as they are the share of a block, which is block
// `part` of `parts`.
struct ParquetCodes {
  uint64_t* stop;
  ParquetEntries entries;
  ParquetArrays arrays;
  ParquetBytes values;
  uint32_t width;
  uint32_t part, parts;

  // The rows from `from` on that the list has runs for.
  __device__ __forceinline__ void operator()(const ParquetList& runs, uint32_t from) const {
    constexpr uint32_t EACH = 8;
    constexpr uint32_t BATCH = EACH * warpSize;
    const uint32_t block = blockDim.x / warpSize, warps = parts * block, own = part * block + warp_id();
    const uint32_t begin = from / BATCH, turn = (own + warps - begin % warps) % warps;
    bool good = true;
    for (uint64_t batch = uint64_t(begin + turn) * BATCH; batch < runs.rows; batch += uint64_t(warps) * BATCH) {
      const uint64_t first = batch + lane_id(), least = first < from ? from : first;
      uint32_t code[EACH];
      uint32_t r = least < runs.rows ? parquet_run_of(runs, uint32_t(least)) : 0;
#pragma unroll
      for (uint32_t i = 0; i < EACH; i++) {
        const uint64_t row = first + i * warpSize;
        code[i] = 0;
        if (row < from || row >= runs.rows) continue;
        while (r + 1 < runs.count && runs.firsts[r + 1] <= row) r++;
        const bool packed = runs.packed[r] != 0;
        code[i] = packed ? parquet_packed(values.at + runs.ats[r], width, uint32_t(row) - runs.firsts[r]) : runs.ats[r];
      }
#pragma unroll
      for (uint32_t i = 0; i < EACH; i++) {
        const uint64_t row = first + i * warpSize;
        if (row >= from && row < runs.rows) good &= parquet_put_entry(entries, arrays, uint32_t(row), code[i]);
      }
    }
    if (!good) parquet_stop(stop, PARQUET_STOP_DAMAGED);
  }
};

// parquet_code_width is the width of a page's codes, which is its first byte, or stops the job and
// is more than 32.
__device__ __forceinline__ uint32_t parquet_code_width(uint64_t* stop, ParquetBytes body) {
  const uint32_t width = body.size == 0 ? 0xff : body.at[0];
  if (width > 32) parquet_stop(stop, PARQUET_STOP_DAMAGED);
  return width;
}

// parquet_codes writes the words of this block's share of a page of codes. If the width is 0 all
// codes are, with runs or without; so it is without any bytes if there are no values. All THREADS
// threads of the block call, which is block `part` of `blocks`.
template <uint32_t THREADS>
__device__ __forceinline__ void parquet_codes(ParquetWindow<THREADS>& window, const ParquetJob& job,
                                              const ParquetEntries& entries, const ParquetArrays& arrays, ParquetBytes body,
                                              uint32_t rows, uint32_t part, uint32_t blocks) {
  const uint32_t parts = (blocks + PARQUET_CODE_BLOCKS - 1) / PARQUET_CODE_BLOCKS;
  if (part >= parts || (rows == 0 && body.size == 0)) return;
  const uint32_t width = parquet_code_width(job.stop, body);
  if (width > 32 || rows == 0) return;
  if (entries.count == 0) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  if (width == 0) {
    for (uint64_t row = part * THREADS + threadIdx.x; row < rows; row += parts * THREADS) {
      parquet_put_entry(entries, arrays, uint32_t(row), 0);
    }
    return;
  }
  const ParquetBytes values = {body.at + 1, body.size - 1};
  const ParquetCodes codes = {job.stop, entries, arrays, values, width, part, parts};
  if (!parquet_walk_runs(window, values, width, rows, codes)) parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
}
