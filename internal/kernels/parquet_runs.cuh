// Runs of small integers: codes of dictionaries, definition levels.
//
// WALK. Only a run tells where the next one begins, so one thread reads the heads of runs, and the block their integers. In
// turns, until there are enough:
//
//   1. The block copies the bytes at the next head, WINDOW of them, to shared memory: the heads of short runs follow one
//      another closely, and a load from there takes a tenth of the time.
//   2. Thread 0 lists runs, up to the end of the window or of the list: some 80 cycles a run. The bytes of a long run may lie
//      behind the window; then the next window begins behind them.
//   3. The block does what it wants with the integers of these runs.
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

// ParquetWindow is the shared memory of a walk.
struct ParquetWindow {
  static constexpr uint32_t WINDOW = 8192;
  static constexpr uint32_t HEAD = 16;  // at least the bytes of a head: a varint of 10, a value of 4

  uint64_t bytes[WINDOW / 8 + 1];
  ParquetRuns<1024> runs;
};

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

// parquet_stage is phase 1 of a walk, at place `pos`. The words of the page are copied as they are aligned; it returns where
// the byte at pos is.
__device__ __forceinline__ const uint8_t* parquet_stage(ParquetWindow& window, ParquetBytes values, uint32_t pos) {
  const uint8_t* from = values.at + pos;
  const uint32_t before = uint32_t(reinterpret_cast<uint64_t>(from) & 7);
  const uint64_t* words = reinterpret_cast<const uint64_t*>(from - before);
  const uint32_t left = values.size - pos;
  const uint32_t size = before + (left < ParquetWindow::WINDOW ? left : ParquetWindow::WINDOW);
  for (uint32_t i = threadIdx.x; i < (size + 7) / 8; i += blockDim.x) window.bytes[i] = words[i];
  return reinterpret_cast<const uint8_t*>(window.bytes) + before;
}

// parquet_walk_runs walks as many integers as there are rows, of 1 to 32 bits. Each time that window.runs has some more of
// them, all threads call each(first row of these). All threads of the block call, and are told the same: whether the runs are
// good. Barriers: before the window is read, before the list is, and before both are made anew.
template <class Each>
__device__ __forceinline__ bool parquet_walk_runs(ParquetWindow& window, ParquetBytes values, uint32_t width, uint32_t rows,
                                                  const Each& each) {
  ParquetRuns<1024>& runs = window.runs;
  if (threadIdx.x == 0) runs.rows = 0;
  bool good = true;
  for (uint32_t from = 0, pos = 0; good && from < rows;) {
    const uint8_t* bytes = parquet_stage(window, values, pos);
    __syncthreads();
    if (threadIdx.x == 0) {
      // As if all of the values from there on were in the window: what is behind its end is not read.
      const ParquetReader in = {{bytes, values.size - pos}, 0, false};
      parquet_list(runs, in, pos, ParquetWindow::WINDOW - ParquetWindow::HEAD, width, rows);
    }
    __syncthreads();
    each(from);
    from = runs.rows;
    pos = runs.pos;
    good = !runs.failed;
    __syncthreads();
  }
  return good;
}
