// Codes of a dictionary, in runs (parquet_runs.cuh), to the words of its entries.
//
// Where a run begins only the run before it tells. Three ways, each for what the one before it leaves:
//
//   FEW   Some writers put a page into few runs, DuckDB all of it into one as a rule. Each block that works for the page
//         reads the heads of the first of them; if these have all rows, it decodes its share of codes.
//   EVEN  Others end a run of packed codes as soon as its head would take more than a byte, which makes runs of 504 codes. So
//         it is guessed that all runs are like the first one, and every thread checks those of its codes, as with strings of
//         one length (parquet_strings.cuh): if each run ends where the next one is thought to be, the guess is proven.
//   WALK  A block decodes the page, going from run to run (parquet_runs.cuh).
//
// Codes are decoded by warps, BATCH at a time: a lane searches the run of its first one, and goes on from there. All codes of
// a batch are read before the first entry is, so that the waits for entries overlap.
//
// Cost (counted in the source): some 60 instructions a code, 80 if it checks its run; in a walk some 80 cycles a run besides.
// A page of 122,880 codes takes a walk some 60,000 cycles, in runs of 8 codes a million.
#pragma once

#include "parquet_runs.cuh"
#include "parquet_words.cuh"

// What FEW means. A guess: heads come from memory one after the other, 300 cycles each, and all blocks of a page wait.
using ParquetFewRuns = ParquetRuns<16>;

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

// parquet_put_entry writes the words of entry `code` for a row, and tells whether there is such an entry.
__device__ __forceinline__ bool parquet_put_entry(const ParquetEntries& entries, const ParquetArrays& arrays, uint32_t row,
                                                  uint32_t code) {
  if (code >= entries.count) return false;
  for (uint32_t a = 0; a < entries.arrays; a++) arrays.put(a, row, entries.words[uint64_t(a) * entries.count + code]);
  return true;
}

// parquet_expand writes the words of the rows from `from` on that the list has runs for. The warps of `parts` blocks share
// them, of which this is block `part`.
template <uint32_t MOST>
__device__ __forceinline__ void parquet_expand(const ParquetRuns<MOST>& runs, uint64_t* stop, const ParquetEntries& entries,
                                               const ParquetArrays& arrays, ParquetBytes values, uint32_t width,
                                               uint32_t from, uint32_t part, uint32_t parts) {
  constexpr uint32_t EACH = 8;
  constexpr uint32_t BATCH = EACH * warpSize;
  const uint32_t warps = blockDim.x / warpSize;
  bool good = true;
  for (uint64_t batch = from + uint64_t(part * warps + warp_id()) * BATCH; batch < runs.rows;
       batch += uint64_t(parts * warps) * BATCH) {
    const uint64_t first = batch + lane_id();
    uint32_t code[EACH];
    uint32_t r = first < runs.rows ? parquet_run_of(runs, uint32_t(first)) : 0;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
      const uint64_t row = first + i * warpSize;
      code[i] = 0;
      if (row >= runs.rows) continue;
      while (r + 1 < runs.count && runs.firsts[r + 1] <= row) r++;
      const bool packed = runs.packed[r] != 0;
      code[i] = packed ? parquet_packed(values.at + runs.ats[r], width, uint32_t(row) - runs.firsts[r]) : runs.ats[r];
    }
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
      const uint64_t row = first + i * warpSize;
      if (row < runs.rows) good &= parquet_put_entry(entries, arrays, uint32_t(row), code[i]);
    }
  }
  if (!good) parquet_stop(stop, PARQUET_STOP_DAMAGED);
}

// ParquetEven is a guess (EVEN): run i has its head at i * bytes, and `rows` codes.
struct ParquetEven {
  uint32_t rows;
  uint32_t bytes;
};

// parquet_even_code reads the code of a row if its run is as guessed; so is the last one, or it has more codes. `entries`
// codes are good ones.
__device__ __forceinline__ bool parquet_even_code(ParquetEven even, ParquetBytes values, uint32_t width, uint32_t row,
                                                  uint32_t rows, uint32_t entries, uint32_t& code) {
  const uint32_t first = row - row % even.rows;
  const uint64_t head = uint64_t(row / even.rows) * even.bytes;
  if (head >= values.size) return false;
  ParquetReader in = {values, uint32_t(head), false};
  const ParquetRun run = parquet_run(in, width);
  const bool last = rows - first <= even.rows;
  if (in.failed || !run.packed || run.count < (last ? rows - first : even.rows)) return false;
  if (!last && (run.count > even.rows || in.pos != head + even.bytes)) return false;
  code = parquet_packed(values.at + run.at, width, row - first);
  return code < entries;
}

// parquet_even_codes writes the words of a thread's rows, every threads'th from `thread` on, if its runs are like the first
// two of the list; else it leaves the page to a walk, which also finds out what is wrong with a code.
__device__ __forceinline__ void parquet_even_codes(const ParquetFewRuns& runs, ParquetTask* task,
                                                   const ParquetEntries& entries, const ParquetArrays& arrays,
                                                   ParquetBytes values, uint32_t width, uint32_t rows, uint32_t thread,
                                                   uint32_t threads) {
  bool good = runs.packed[0] != 0 && runs.packed[1] != 0 && runs.ats[1] > runs.ats[0];
  const ParquetEven even = {runs.firsts[1], runs.ats[1] - runs.ats[0]};
  for (uint64_t row = thread; good && row < rows; row += threads) {
    uint32_t code;
    good = parquet_even_code(even, values, width, uint32_t(row), rows, entries.count, code) &&
           parquet_put_entry(entries, arrays, uint32_t(row), code);
  }
  if (!good) st_relaxed(&task->walk, 1);
}

// parquet_code_width is the width of a page's codes, which is its first byte, or stops the job and is more than 32.
__device__ __forceinline__ uint32_t parquet_code_width(uint64_t* stop, ParquetBytes body) {
  const uint32_t width = body.size == 0 ? 0xff : body.at[0];
  if (width > 32) parquet_stop(stop, PARQUET_STOP_DAMAGED);
  return width;
}

// parquet_few_codes writes the words of this block's part of a page of codes, or leaves the page to a walk. If the width is 0
// all codes are, with runs or without; so it is without any bytes if there are no values. All threads of the block call. The barrier is for the list.
__device__ __forceinline__ void parquet_few_codes(ParquetFewRuns& runs, const ParquetJob& job, ParquetTask* task,
                                                  const ParquetEntries& entries, const ParquetArrays& arrays,
                                                  ParquetBytes body, uint32_t rows, uint32_t part, uint32_t parts) {
  if (rows == 0 && body.size == 0) return;
  const uint32_t width = parquet_code_width(job.stop, body);
  const uint32_t thread = part * blockDim.x + threadIdx.x, threads = parts * blockDim.x;
  if (width > 32 || rows == 0) return;
  if (entries.count == 0) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  if (width == 0) {
    for (uint64_t row = thread; row < rows; row += threads) parquet_put_entry(entries, arrays, uint32_t(row), 0);
    return;
  }
  const ParquetBytes values = {body.at + 1, body.size - 1};
  if (threadIdx.x == 0) {
    runs.rows = 0;
    parquet_list(runs, {values, 0, false}, 0, values.size, width, rows);
  }
  __syncthreads();
  if (runs.failed) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  if (runs.rows == rows) {
    parquet_expand(runs, job.stop, entries, arrays, values, width, 0, part, parts);
  } else {
    parquet_even_codes(runs, task, entries, arrays, values, width, rows, thread, threads);
  }
}

// parquet_walk_codes writes the words of a page of codes whose width is 1 to 32. All threads of the block call.
__device__ __forceinline__ void parquet_walk_codes(ParquetWindow& window, const ParquetJob& job, const ParquetEntries& entries,
                                                   const ParquetArrays& arrays, ParquetBytes body, uint32_t rows) {
  const uint32_t width = body.at[0];
  const ParquetBytes values = {body.at + 1, body.size - 1};
  const bool good = parquet_walk_runs(window, values, width, rows, [&](uint32_t from) {
    parquet_expand(window.runs, job.stop, entries, arrays, values, width, from, 0, 1);
  });
  if (!good) parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
}
