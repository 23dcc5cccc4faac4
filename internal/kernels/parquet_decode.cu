// Encoded pages to arrays: a word or more for each row, for every output of the page's source. parquet.cuh has the terms.
//
// Two kernels, one after the other; a task is a page for an output:
//
//   parquet_decode_values  several blocks a task: values whose place is known, which are numbers, or can be guessed and
//                          checked, which are most strings (EVEN of parquet_strings.cuh) and codes (FEW and EVEN of
//                          parquet_codes.cuh). The first block checks the levels.
//   parquet_decode_walks   a block a task, for the rest: values of which only those before tell where they are (WALK).
//
// Both are bound by latency, not by bytes: a parcel has few pages, and a row costs 8 to 24 bytes written, and fewer read.
#include "device.cuh"

#include "parquet_codes.cuh"
#include "parquet_levels.cuh"
#include "parquet_strings.cuh"

// Threads of a block of parquet_decode_walks.
constexpr uint32_t PARQUET_WALK_THREADS = 512;

// parquet_numbers writes the numbers of a thread, every threads'th from `thread` on.
static __device__ __forceinline__ void parquet_numbers(const ParquetJob& job, const ParquetOutput& output,
                                                       const ParquetArrays& arrays, ParquetBytes values, uint32_t rows,
                                                       uint32_t thread, uint32_t threads) {
  const bool wide = output.physical == PARQUET_INT64 || output.physical == PARQUET_DOUBLE;
  const uint32_t width = wide ? 8 : 4;
  if (uint64_t(rows) * width > values.size) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  bool outside = false;
  for (uint64_t row = thread; row < rows; row += threads) {
    const uint64_t bits = parquet_load(values.at + row * width, width);
    uint64_t value;
    if (output.physical == PARQUET_DOUBLE) {
      value = parquet_float(output, __builtin_bit_cast(double, bits));
    } else if (output.physical == PARQUET_FLOAT) {
      value = parquet_float(output, __builtin_bit_cast(float, uint32_t(bits)));
    } else {
      value = parquet_int(output, wide ? int64_t(bits) : int32_t(uint32_t(bits)), outside);
    }
    parquet_put(output, arrays, uint32_t(row), value);
  }
  if (outside) parquet_stop(job.stop, PARQUET_STOP_RANGE);
}

// Blocks: a multiple of the job's tasks, of which there is at least one; block b works for task b % tasks, so that all tasks
// begin at once. Threads a block: whole warps. The barrier is for the stop word; codes have one more.
extern "C" __global__ void __launch_bounds__(256) parquet_decode_values(ParquetJob job) {
  __shared__ uint32_t flag;
  __shared__ ParquetFewRuns runs;
  if (parquet_stopped(job.stop, &flag)) return;
  const uint32_t parts = gridDim.x / job.task_count;
  const uint32_t part = blockIdx.x / job.task_count;
  ParquetTask* task = &job.tasks[blockIdx.x % job.task_count];
  const ParquetPage page = job.pages[task->page];
  const ParquetOutput output = job.outputs[task->output];
  const ParquetParts body = parquet_parts(page, parquet_bytes(job, page));
  if (body.damaged) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  if (part == 0) parquet_no_nulls(job.stop, body.levels, page.rows);
  const ParquetArrays arrays = parquet_arrays(job, output, page);
  if (page.coded != 0) {
    const ParquetEntries entries = parquet_entries(job, *task, output);
    return parquet_few_codes(runs, job, task, entries, arrays, body.values, page.rows, part, parts);
  }
  const uint32_t thread = part * blockDim.x + threadIdx.x;
  if (output.physical == PARQUET_BYTES) {
    parquet_even_strings(job, task, arrays, body.values, page.rows, thread, parts * blockDim.x);
  } else {
    parquet_numbers(job, output, arrays, body.values, page.rows, thread, parts * blockDim.x);
  }
}

// Any number of blocks, each of which takes tasks in turn; 512 threads a block. The first barrier is for the stop word, the
// others before a task takes the shared memory of the one before.
extern "C" __global__ void __launch_bounds__(PARQUET_WALK_THREADS) parquet_decode_walks(ParquetJob job) {
  __shared__ union {
    uint32_t flag;
    ParquetCodes codes;
    ParquetWalk<PARQUET_WALK_THREADS> walk;
  } shared;
  if (parquet_stopped(job.stop, &shared.flag)) return;
  for (uint32_t t = blockIdx.x; t < job.task_count; t += gridDim.x) {
    const ParquetTask task = job.tasks[t];
    if (task.walk == 0) continue;  // the same for all threads
    const ParquetPage page = job.pages[task.page];
    const ParquetOutput output = job.outputs[task.output];
    const ParquetParts body = parquet_parts(page, parquet_bytes(job, page));
    const ParquetArrays arrays = parquet_arrays(job, output, page);
    __syncthreads();
    if (page.coded == 0) {
      parquet_walk_strings(shared.walk, job, arrays, body.values, page.rows);
      continue;
    }
    parquet_walk_codes(shared.codes, job, parquet_entries(job, task, output), arrays, body.values, page.rows);
  }
}
