// Definition levels of a page, of one bit: which rows have a value, and where the values begin.
//
// Cost: of a page without NULLs, which has one run as a rule, 4 bytes written a row by all blocks
// of the page. Else one block walks the runs (parquet_heads.cuh), and every 4,096 rows take it some
// 1,200 cycles.
#pragma once

#include "parquet_heads.cuh"

// ParquetParts is a page's levels and its values.
struct ParquetParts {
  ParquetBytes levels;  // runs; at: null: there are none
  ParquetBytes values;
  bool damaged;
};

// parquet_parts finds the parts of a page.
__device__ __forceinline__ ParquetParts parquet_parts(const ParquetPage& page, ParquetBytes body) {
  uint32_t before = 0;  // bytes before the runs
  uint32_t size = page.levels;
  if (page.levels == 0) return {{nullptr, 0}, body, false};
  if (page.levels == PARQUET_SIZED_LEVELS) {
    if (body.size < 4) return {{nullptr, 0}, {body.at, 0}, true};
    before = 4;
    size = uint32_t(parquet_load(body.at, 4));
  }
  if (size > body.size - before) return {{nullptr, 0}, {body.at, 0}, true};
  return {{body.at + before, size}, {body.at + before + size, body.size - before - size}, false};
}

// parquet_all_there tells whether all rows have a value because the first run says so: the usual
// case.
__device__ __forceinline__ bool parquet_all_there(ParquetBytes levels, uint32_t rows) {
  if (levels.at == nullptr) return true;
  ParquetReader in = {levels, 0, false};
  const ParquetRun run = parquet_run(in, 1);
  return !in.failed && !run.packed && run.at == 1 && run.count >= rows;
}

// ParquetLevels is the shared memory of a block of THREADS threads that walks levels.
template <uint32_t THREADS>
struct ParquetLevels {
  ParquetWindow<THREADS> window;
  uint32_t sums[SCAN_SCRATCH];
};

// Rows next to each other that a thread finds the places of.
constexpr uint32_t PARQUET_LEVEL_ROWS = 8;

// parquet_values_of is the rows from `row` on that have a value, a bit each, of those that the list
// has runs for.
__device__ __forceinline__ uint32_t parquet_values_of(const ParquetList& runs, ParquetBytes levels, uint64_t row) {
  if (row >= runs.rows) return 0;
  uint32_t r = parquet_run_of(runs, uint32_t(row)), values = 0;
  for (uint32_t i = 0; i < PARQUET_LEVEL_ROWS && row + i < runs.rows; i++) {
    const uint32_t at = uint32_t(row) + i;
    while (r + 1 < runs.count && runs.firsts[r + 1] <= at) r++;
    values |= (runs.packed[r] != 0 ? parquet_packed(levels.at + runs.ats[r], 1, at - runs.firsts[r]) : runs.ats[r]) << i;
  }
  return values;
}

// parquet_walk_levels writes the places of a page's rows, of which the values lie from `first` on,
// and returns how many values there are; `good` becomes whether the levels are. All threads of the
// block call. A thread takes 8 rows at a time, and learns by a prefix sum how many values are
// before them. Barriers: those of the walk and of the sum, and one before the next sum.
template <uint32_t THREADS>
__device__ __forceinline__ uint32_t parquet_walk_levels(ParquetLevels<THREADS>& shared, ParquetBytes levels, uint32_t rows,
                                                        uint32_t first, uint32_t* places, bool& good) {
  uint32_t before = 0;
  good = parquet_walk_runs(shared.window, levels, 1, rows, [&](const ParquetList& runs, uint32_t from) {
    for (uint64_t round = from; round < runs.rows; round += blockDim.x * PARQUET_LEVEL_ROWS) {
      const uint64_t row = round + threadIdx.x * PARQUET_LEVEL_ROWS;
      const uint32_t values = parquet_values_of(runs, levels, row);
      uint32_t total;
      uint32_t place = first + before + block_sum_before(__popc(values), shared.sums, total);
      for (uint32_t i = 0; i < PARQUET_LEVEL_ROWS && row + i < runs.rows; i++) {
        places[row + i] = (values >> i & 1) != 0 ? place++ : PARQUET_NULL;
      }
      before += total;
      __syncthreads();
    }
  });
  return before;
}
