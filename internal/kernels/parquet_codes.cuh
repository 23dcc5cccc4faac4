// Codes of a dictionary, in runs (parquet_bytes.cuh), to the words of its entries.
//
// Where a run begins only the run before it tells. Three ways, each for what the one before it leaves:
//
//   FEW   Some writers put a page into few runs, DuckDB all of it into one as a rule. Each block that works for the page
//         reads the heads of the first of them; if these have all rows, it decodes its share of codes.
//   EVEN  Others end a run of packed codes as soon as its head would take more than a byte, which makes runs of 504 codes. So
//         it is guessed that all runs are like the first one, and every thread checks those of its codes, as with strings of
//         one length (parquet_strings.cuh): if each run ends where the next one is thought to be, the guess is proven.
//   WALK  A block decodes the page, in turns, until there are codes for all rows:
//         1. It copies the bytes at the next head, WINDOW of them, to shared memory: the heads of short runs follow one
//            another closely, and a load from there takes a tenth of the time.
//         2. Thread 0 lists runs, up to the end of the window or of the list. The bytes of a long run may lie behind the
//            window; then the next window begins behind them.
//         3. The block decodes the codes of these runs.
//
// Codes are decoded by warps, BATCH at a time: a lane searches the run of its first one, and goes on from there. All codes of
// a batch are read before the first entry is, so that the waits for entries overlap.
//
// Cost (counted in the source): some 60 instructions a code, 80 if it checks its run; in a walk some 80 cycles a run besides.
// A page of 122,880 codes takes a walk some 60,000 cycles, in runs of 8 codes a million.
#pragma once

#include "parquet_bytes.cuh"
#include "parquet_words.cuh"

// ParquetRuns is a list of at most MOST runs, one behind the other, in shared memory.
template <uint32_t MOST>
struct ParquetRuns {
  uint32_t firsts[MOST];  // row that a run begins with; of the page
  uint32_t ats[MOST];     // where its bits begin among the values, or the code
  uint8_t packed[MOST];
  uint32_t count;
  uint32_t rows;  // before the next run
  uint32_t pos;   // of the next head among the values
  bool failed;    // it is damaged
};

// ParquetCodes is the shared memory of a walk.
struct ParquetCodes {
  static constexpr uint32_t WINDOW = 8192;
  static constexpr uint32_t HEAD = 16;  // at least the bytes of a head: a varint of 10, a value of 4

  uint64_t window[WINDOW / 8 + 1];
  ParquetRuns<1024> runs;
};

// What FEW means. A guess: heads come from memory one after the other, 300 cycles each, and all blocks of a page wait.
using ParquetFewRuns = ParquetRuns<16>;

// parquet_list lists runs, which go on at list.pos; one thread calls. The reader has the values from place `from` on, and no
// head beyond `last` of its bytes is read.
template <uint32_t MOST>
__device__ __forceinline__ void parquet_list(ParquetRuns<MOST>& list, ParquetReader in, uint32_t from, uint32_t last,
                                             uint32_t width, uint32_t rows) {
  list.count = 0;
  while (list.rows < rows && list.count < MOST && in.pos <= last) {
    const ParquetRun run = parquet_run(in, width);
    if (in.failed) break;
    if (run.count == 0) continue;
    list.firsts[list.count] = list.rows;
    list.ats[list.count] = run.packed ? from + run.at : run.at;
    list.packed[list.count] = run.packed;
    list.count++;
    list.rows = run.count < rows - list.rows ? list.rows + uint32_t(run.count) : rows;
  }
  list.pos = from + in.pos;
  list.failed = in.failed;
}

// parquet_stage is phase 1 of a walk, at place `pos`. The words of the page are copied as they are aligned; it returns where
// the byte at pos is.
__device__ __forceinline__ const uint8_t* parquet_stage(ParquetCodes& codes, ParquetBytes values, uint32_t pos) {
  const uint8_t* from = values.at + pos;
  const uint32_t before = uint32_t(reinterpret_cast<uint64_t>(from) & 7);
  const uint64_t* words = reinterpret_cast<const uint64_t*>(from - before);
  const uint32_t left = values.size - pos;
  const uint32_t size = before + (left < ParquetCodes::WINDOW ? left : ParquetCodes::WINDOW);
  for (uint32_t i = threadIdx.x; i < (size + 7) / 8; i += blockDim.x) codes.window[i] = words[i];
  return reinterpret_cast<const uint8_t*>(codes.window) + before;
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
// all codes are, with runs or without. All threads of the block call. The barrier is for the list.
__device__ __forceinline__ void parquet_few_codes(ParquetFewRuns& runs, const ParquetJob& job, ParquetTask* task,
                                                  const ParquetEntries& entries, const ParquetArrays& arrays,
                                                  ParquetBytes body, uint32_t rows, uint32_t part, uint32_t parts) {
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

// parquet_walk_codes writes the words of a page of codes whose width is 1 to 32. All threads of the block call. Barriers:
// before the window is read, before the list is, and before both are made anew.
__device__ __forceinline__ void parquet_walk_codes(ParquetCodes& codes, const ParquetJob& job, const ParquetEntries& entries,
                                                   const ParquetArrays& arrays, ParquetBytes body, uint32_t rows) {
  const uint32_t width = body.at[0];
  const ParquetBytes values = {body.at + 1, body.size - 1};
  ParquetRuns<1024>& runs = codes.runs;
  if (threadIdx.x == 0) runs.rows = 0;
  for (uint32_t from = 0, pos = 0; from < rows;) {
    const uint8_t* window = parquet_stage(codes, values, pos);
    __syncthreads();
    if (threadIdx.x == 0) {
      // As if all of the values from there on were in the window: what is behind its end is not read.
      const ParquetReader in = {{window, values.size - pos}, 0, false};
      parquet_list(runs, in, pos, ParquetCodes::WINDOW - ParquetCodes::HEAD, width, rows);
    }
    __syncthreads();
    parquet_expand(runs, job.stop, entries, arrays, values, width, from, 0, 1);
    from = runs.rows;
    pos = runs.pos;
    if (runs.failed) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);  // the same for all
    __syncthreads();
  }
}
