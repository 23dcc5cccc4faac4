// Pages in DELTA_BINARY_PACKED to arrays, behind parquet_decode_levels: parquet_deltas.cuh. It is a
// kernel of its own so that only batches that have such pages load and launch it.
#include "device.cuh"

#include "parquet_deltas.cuh"
#include "parquet_levels.cuh"

constexpr uint32_t PARQUET_DELTA_THREADS = PARQUET_DELTA_PIECE * PARQUET_DELTA_LISTED / PARQUET_DELTA_EACH;

// Any number of blocks, each of which takes tasks in turn; PARQUET_DELTA_THREADS threads a block.
// The first barrier is for the stop word, the others before a task takes the shared memory of the
// one before.
extern "C" __global__ void __launch_bounds__(PARQUET_DELTA_THREADS) parquet_deltas_decode(ParquetJob job) {
  __shared__ ParquetDeltas shared;
  if (parquet_stopped(job.stop, &shared.flag)) return;
  for (uint32_t t = blockIdx.x; t < job.task_count; t += gridDim.x) {
    const ParquetTask task = job.tasks[t];
    const ParquetPage page = job.pages[task.page];
    if (page.encoding != PARQUET_DELTAS) continue;  // the same for all threads
    const ParquetOutput output = job.outputs[task.output];
    const ParquetBytes body = parquet_parts(page, parquet_bytes(job, page)).values;
    __syncthreads();
    parquet_deltas(shared, job, output, parquet_arrays(job, output, page), body, task.values, page.rows);
  }
}
