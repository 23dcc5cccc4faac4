// Encoded pages to arrays: a word or more for each row, for every output of the page's source.
// parquet.cuh has the terms.
//
// parquet_coded.cu finds the runs of coded pages, and the strings of pages of texts, before. Three
// kernels, one after the other; a task is a page for an output:
//
//   parquet_decode_levels  several blocks a task: the places of rows, and how many values there are
//                          (parquet_levels.cuh).
//   parquet_decode_values  several blocks a task: numbers, codes (parquet_codes.cuh), and strings
//                          whose places can be guessed and checked, which are most (EVEN of
//                          parquet_strings.cuh), or are known (parquet_texts.cuh).
//   parquet_decode_walks   a block a task, for other strings (WALK).
//
// All are bound by latency, not by bytes: a parcel has few pages, and a row costs 8 to 24 bytes
// written, and fewer read.
#include "device.cuh"

#include "parquet_codes.cuh"
#include "parquet_levels.cuh"
#include "parquet_numbers.cuh"
#include "parquet_strings.cuh"
#include "parquet_texts.cuh"

// Threads of a block of parquet_decode_values, and of the others.
constexpr uint32_t PARQUET_VALUE_THREADS = 256;
constexpr uint32_t PARQUET_WALK_THREADS = 512;

// ParquetShare is the task that a block works for, and its part of it: of the blocks of a grid,
// whose number is a multiple of that of tasks, block b works for task b % tasks, so that all tasks
// begin at once.
struct ParquetShare {
  ParquetTask* task;
  uint32_t part, parts;

  __device__ __forceinline__ uint32_t thread() const { return part * blockDim.x + threadIdx.x; }
  __device__ __forceinline__ uint32_t threads() const { return parts * blockDim.x; }
};

static __device__ __forceinline__ ParquetShare parquet_share(const ParquetJob& job) {
  return {&job.tasks[blockIdx.x % job.task_count], blockIdx.x / job.task_count, gridDim.x / job.task_count};
}

// Blocks: as ParquetShare has it; PARQUET_WALK_THREADS threads a block. The barrier is for the stop
// word; a walk has more.
extern "C" __global__ void __launch_bounds__(PARQUET_WALK_THREADS) parquet_decode_levels(ParquetJob job) {
  __shared__ union {
    uint32_t flag;
    ParquetLevels<PARQUET_WALK_THREADS> levels;
  } shared;
  if (parquet_stopped(job.stop, &shared.flag)) return;
  const ParquetShare share = parquet_share(job);
  const ParquetPage page = job.pages[share.task->page];
  const ParquetParts body = parquet_parts(page, parquet_bytes(job, page));
  if (body.damaged) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  uint32_t* places = job.places + share.task->output * job.array_words + page.first;
  uint32_t values = page.rows;
  if (parquet_all_there(body.levels, page.rows)) {
    for (uint64_t row = share.thread(); row < page.rows; row += share.threads()) places[row] = page.first + uint32_t(row);
  } else if (share.part == 0) {
    bool good;
    __syncthreads();  // all have read the flag
    values = parquet_walk_levels(shared.levels, body.levels, page.rows, page.first, places, good);
    if (!good) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
    if (values < page.rows && job.outputs[share.task->output].nulls == 0) parquet_stop(job.stop, PARQUET_STOP_NULLS);
  }
  if (share.part == 0 && threadIdx.x == 0) share.task->values = values;
}

// Blocks: as ParquetShare has it; PARQUET_VALUE_THREADS threads a block. The barrier is for the
// stop word; codes have more.
extern "C" __global__ void __launch_bounds__(PARQUET_VALUE_THREADS) parquet_decode_values(ParquetJob job) {
  __shared__ uint32_t flag;
  __shared__ ParquetCodesShared codes;
  if (parquet_stopped(job.stop, &flag)) return;
  const ParquetShare share = parquet_share(job);
  const uint32_t values = share.task->values;
  const ParquetPage page = job.pages[share.task->page];
  const ParquetOutput output = job.outputs[share.task->output];
  const ParquetBytes body = parquet_parts(page, parquet_bytes(job, page)).values;
  const ParquetArrays arrays = parquet_arrays(job, output, page);
  if (page.coded != 0) {
    const ParquetEntries entries = parquet_entries(job, *share.task, output);
    parquet_codes(codes, job, page, entries, arrays, body, values, share.part, share.parts);
  } else if (page.texts != 0) {
    parquet_each_string(job, page, values, share.part, share.parts, codes.sums, [&](uint32_t row, const uint8_t* p, uint32_t size) {
      parquet_put_raw(job, output, arrays, row, p, size);
    });
  } else if (page.encoding == PARQUET_DELTAS) {
    return;  // parquet_deltas_decode does
  } else if (output.physical == PARQUET_BYTES) {
    parquet_even_strings(job, share.task, output, arrays, body, values, share.thread(), share.threads());
  } else {
    parquet_numbers(job, page, output, arrays, body, values, share.thread(), share.threads());
  }
}

// Any number of blocks, each of which takes tasks in turn; PARQUET_WALK_THREADS threads a block.
// The first barrier is for the stop word, the others before a task takes the shared memory of the
// one before.
extern "C" __global__ void __launch_bounds__(PARQUET_WALK_THREADS) parquet_decode_walks(ParquetJob job) {
  __shared__ union {
    uint32_t flag;
    ParquetWalk<PARQUET_WALK_THREADS> walk;
  } shared;
  if (parquet_stopped(job.stop, &shared.flag)) return;
  for (uint32_t t = blockIdx.x; t < job.task_count; t += gridDim.x) {
    const ParquetTask task = job.tasks[t];
    if (task.walk == 0) continue;  // the same for all threads
    const ParquetPage page = job.pages[task.page];
    const ParquetOutput output = job.outputs[task.output];
    const ParquetBytes body = parquet_parts(page, parquet_bytes(job, page)).values;
    const ParquetArrays arrays = parquet_arrays(job, output, page);
    __syncthreads();
    parquet_walk_strings(shared.walk, job, output, arrays, body, task.values);
  }
}
