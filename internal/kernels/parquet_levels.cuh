// Definition levels of a page, of one bit: that no row is NULL (NO-NULLS), and where the values begin.
#pragma once

#include "parquet_bytes.cuh"

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

// parquet_ones tells whether `count` bits from p on are ones; the threads of the block look at a byte each in turn, and each
// tells of its own.
__device__ __forceinline__ bool parquet_ones(const uint8_t* p, uint32_t count) {
  bool ones = true;
  for (uint32_t i = threadIdx.x; i < count / 8; i += blockDim.x) ones &= p[i] == 0xff;
  const uint32_t mask = (1u << count % 8) - 1;
  return ones && (mask == 0 || (p[count / 8] & mask) == mask);
}

// parquet_no_nulls stops the job unless the levels of so many rows are all 1. All threads of the block call: each reads the
// heads of all runs, which is one as a rule, and its share of bits. No barriers.
__device__ __forceinline__ void parquet_no_nulls(uint64_t* stop, ParquetBytes levels, uint32_t rows) {
  if (levels.at == nullptr) return;
  ParquetReader in = {levels, 0, false};
  for (uint32_t seen = 0; seen < rows;) {
    const ParquetRun run = parquet_run(in, 1);
    if (in.failed) return parquet_stop(stop, PARQUET_STOP_DAMAGED);
    const uint32_t count = run.count < rows - seen ? uint32_t(run.count) : rows - seen;
    const bool ones = count == 0 || (run.packed ? parquet_ones(levels.at + run.at, count) : run.at == 1);
    if (!ones) parquet_stop(stop, PARQUET_STOP_NULLS);
    seen += count;
  }
}
