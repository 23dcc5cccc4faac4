// Codes of a dictionary, in runs (parquet_bytes.cuh), to the words of its entries. A block decodes a page.
//
// Where a run begins only the run before it tells, so one thread reads the heads of runs, and the block the codes in them. In
// turns, until there are codes for all rows:
//
//   1. The block copies the bytes at the next head, WINDOW of them, to shared memory: the heads of short runs follow one
//      another closely, and a load from there takes a tenth of the time.
//   2. Thread 0 lists runs, up to the end of the window or of the list. The bytes of a long run may lie behind the window;
//      then the next window begins behind them.
//   3. Each warp takes BATCH codes at a time: a lane searches the run of its first one, and goes on from there. Codes are
//      read from the page, a batch of them before the first entry is, so that the waits for entries overlap.
//
// Cost: some 80 cycles a run in phase 2 (writers make runs of 256 codes and more, or of 8 at least), and some 60 instructions
// a code in phase 3. A page of 122,880 codes in runs of 256 takes some 50,000 cycles.
#pragma once

#include "parquet_bytes.cuh"
#include "parquet_words.cuh"

// ParquetCodes is the shared memory of a block that decodes codes.
struct ParquetCodes {
  static constexpr uint32_t WINDOW = 8192;
  static constexpr uint32_t HEAD = 16;  // at least the bytes of a head: a varint of 10, a value of 4
  static constexpr uint32_t RUNS = 1024;
  static constexpr uint32_t BATCH = 8 * warpSize;

  uint64_t window[WINDOW / 8 + 1];
  uint32_t firsts[RUNS];  // row that a run begins with; of the page
  uint32_t ats[RUNS];     // where its bits begin among the values, or the code
  uint8_t packed[RUNS];
  uint32_t runs;
  uint32_t rows;  // before the next run
  uint32_t pos;   // of the next head among the values
  bool failed;
};

// parquet_stage is phase 1. The words of the page are copied as they are aligned: the byte at pos is byte `pos % 8` of them,
// counted from the address.
__device__ __forceinline__ void parquet_stage(ParquetCodes& codes, ParquetBytes values, uint32_t pos) {
  const uint8_t* from = values.at + pos;
  const uint32_t before = uint32_t(reinterpret_cast<uint64_t>(from) & 7);
  const uint64_t* words = reinterpret_cast<const uint64_t*>(from - before);
  const uint32_t left = values.size - pos;
  const uint32_t size = before + (left < ParquetCodes::WINDOW ? left : ParquetCodes::WINDOW);
  for (uint32_t i = threadIdx.x; i < (size + 7) / 8; i += blockDim.x) codes.window[i] = words[i];
}

// parquet_list is phase 2, of the window that begins at codes.pos; one thread calls. At least one head is read if there is
// any.
__device__ __forceinline__ void parquet_list(ParquetCodes& codes, ParquetBytes values, uint32_t width, uint32_t rows) {
  const uint32_t window = codes.pos;
  const uint32_t before = uint32_t(reinterpret_cast<uint64_t>(values.at + window) & 7);
  // The window as if all of the values from there on were in it: what is behind its end is not read.
  const uint8_t* at = reinterpret_cast<const uint8_t*>(codes.window) + before;
  ParquetReader in = {{at, values.size - window}, 0, false};
  codes.runs = 0;
  while (codes.rows < rows && codes.runs < ParquetCodes::RUNS && in.pos + ParquetCodes::HEAD <= ParquetCodes::WINDOW) {
    const ParquetRun run = parquet_run(in, width);
    if (in.failed) break;
    if (run.count == 0) continue;
    codes.firsts[codes.runs] = codes.rows;
    codes.ats[codes.runs] = run.packed ? window + run.at : run.at;
    codes.packed[codes.runs] = run.packed;
    codes.runs++;
    codes.rows = run.count < rows - codes.rows ? codes.rows + uint32_t(run.count) : rows;
  }
  codes.pos = window + in.pos;
  codes.failed = in.failed;
}

// parquet_run_of is the number of the listed run that a row is in.
__device__ __forceinline__ uint32_t parquet_run_of(const ParquetCodes& codes, uint32_t row) {
  uint32_t low = 0, high = codes.runs;  // firsts[low] <= row < firsts[high]
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (codes.firsts[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// parquet_code is the code of a row in run r.
__device__ __forceinline__ uint32_t parquet_code(const ParquetCodes& codes, ParquetBytes values, uint32_t width, uint32_t r,
                                                 uint32_t row) {
  if (codes.packed[r] == 0) return codes.ats[r];
  const uint64_t bit = uint64_t(row - codes.firsts[r]) * width;
  const uint32_t shift = uint32_t(bit & 7);
  const uint64_t bits = parquet_load(values.at + codes.ats[r] + (bit >> 3), (shift + width + 7) / 8) >> shift;
  return uint32_t(bits & ((uint64_t(1) << width) - 1));
}

// ParquetEntries is the words of a dictionary for an output.
struct ParquetEntries {
  const uint64_t* words;
  uint32_t count;
  uint32_t arrays;
};

// parquet_put_entry writes the words of entry `code` for a row, and tells whether there is such an entry.
__device__ __forceinline__ bool parquet_put_entry(const ParquetEntries& entries, const ParquetArrays& arrays, uint32_t row,
                                                  uint32_t code) {
  if (code >= entries.count) return false;
  for (uint32_t a = 0; a < entries.arrays; a++) arrays.put(a, row, entries.words[uint64_t(a) * entries.count + code]);
  return true;
}

// parquet_expand is phase 3, of the rows from `from` on, which the list has runs for.
__device__ __forceinline__ void parquet_expand(const ParquetCodes& codes, uint64_t* stop, const ParquetEntries& entries,
                                               const ParquetArrays& arrays, ParquetBytes values, uint32_t width,
                                               uint32_t from) {
  constexpr uint32_t EACH = ParquetCodes::BATCH / warpSize;
  const uint64_t warps = blockDim.x / warpSize;
  bool good = true;
  for (uint64_t batch = from + uint64_t(warp_id()) * ParquetCodes::BATCH; batch < codes.rows;
       batch += warps * ParquetCodes::BATCH) {
    const uint64_t first = batch + lane_id();
    uint32_t code[EACH];
    uint32_t r = first < codes.rows ? parquet_run_of(codes, uint32_t(first)) : 0;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
      const uint64_t row = first + i * warpSize;
      code[i] = 0;
      if (row >= codes.rows) continue;
      while (r + 1 < codes.runs && codes.firsts[r + 1] <= row) r++;
      code[i] = parquet_code(codes, values, width, r, uint32_t(row));
    }
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
      const uint64_t row = first + i * warpSize;
      if (row < codes.rows) good &= parquet_put_entry(entries, arrays, uint32_t(row), code[i]);
    }
  }
  if (!good) parquet_stop(stop, PARQUET_STOP_DAMAGED);
}

// parquet_expand_codes writes the words of a page of codes, whose values are the width of a code in a byte, and runs. If the
// width is 0, all codes are, with runs or without. All threads of the block call. Barriers: before the window is read, before
// the list is, and before both are made anew.
__device__ __forceinline__ void parquet_expand_codes(ParquetCodes& codes, const ParquetJob& job, const ParquetEntries& entries,
                                                     const ParquetArrays& arrays, ParquetBytes body, uint32_t rows) {
  if (rows == 0) return;
  const uint32_t width = body.size == 0 ? 0xff : body.at[0];
  if (width > 32 || entries.count == 0) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  if (width == 0) {
    for (uint32_t row = threadIdx.x; row < rows; row += blockDim.x) parquet_put_entry(entries, arrays, row, 0);
    return;
  }
  const ParquetBytes values = {body.at + 1, body.size - 1};
  if (threadIdx.x == 0) {
    codes.rows = 0;
    codes.pos = 0;
  }
  for (uint32_t from = 0, pos = 0; from < rows;) {
    parquet_stage(codes, values, pos);
    __syncthreads();
    if (threadIdx.x == 0) parquet_list(codes, values, width, rows);
    __syncthreads();
    parquet_expand(codes, job.stop, entries, arrays, values, width, from);
    from = codes.rows;
    pos = codes.pos;
    if (codes.failed) {  // the same for all
      parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
      return;
    }
    __syncthreads();
  }
}
