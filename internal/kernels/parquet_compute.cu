// Programs over the values of a row: the filter of a query, and its computed keys and arguments. A
// thread runs the program for a row (parquet_program.cuh).
//
// Rows that the program keeps are listed. Their order is that of the blocks' atomics: nothing
// depends on it.
//
// Cost: a step is some 15 instructions, and a load 12 bytes read; rows that are not kept end with
// their warp.
#include "device.cuh"

#include "parquet_program.cuh"
#include "parquet_words.cuh"
#include "scan.cuh"

// parquet_load is the word of an output in row r.
static __device__ __forceinline__ ParquetResult parquet_load_output(const ParquetJob& job, uint64_t number, uint32_t r) {
  const uint32_t place = job.places[number * job.array_words + r];
  if (place == PARQUET_NULL) return {0, true, false};
  return {job.arrays[job.outputs[number].array * job.array_words + place], false, false};
}

// parquet_store writes the word of a computed output in row r.
static __device__ __forceinline__ void parquet_store(const ParquetJob& job, const ParquetStep& step,
                                                     const ParquetRegisters& of, uint32_t r) {
  const ParquetOutput output = job.outputs[step.constant];
  uint32_t* place = job.places + step.constant * job.array_words + r;
  if (of.bad(step.a)) return parquet_stop(job.stop, PARQUET_STOP_RANGE);
  if (of.null(step.a)) {
    *place = PARQUET_NULL;
    if (output.nulls == 0) parquet_stop(job.stop, PARQUET_STOP_NULLS);
    return;
  }
  bool outside = false;
  const bool is_double = output.physical == PARQUET_DOUBLE;
  const uint64_t value = is_double ? parquet_float(output, of.number(step.a)) : parquet_int(output, of.integer(step.a), outside);
  parquet_put(output, {job.arrays + output.array * job.array_words, job.array_words}, r, value);
  *place = r;
  if (outside) parquet_stop(job.stop, PARQUET_STOP_RANGE);
}

// Runs the program on the job's rows. PARQUET_COMPUTE_THREADS threads a block; dynamic shared
// memory: a word for each thread and register; any number of blocks, each of which takes as many
// rows as it has threads in turn. The barrier is for the stop word; keeping rows has more.
extern "C" __global__ void __launch_bounds__(PARQUET_COMPUTE_THREADS) parquet_compute_run(ParquetJob job) {
  DYNAMIC_SHARED(uint64_t, words);
  __shared__ uint32_t flag;
  __shared__ uint32_t sums[SCAN_SCRATCH];
  __shared__ uint64_t first_kept;
  if (parquet_stopped(job.stop, &flag)) return;
  for (uint64_t first = uint64_t(blockIdx.x) * blockDim.x; first < job.rows; first += global_threads()) {
    const uint64_t row = first + threadIdx.x;
    const uint32_t r = row < job.rows ? uint32_t(row) : job.rows - 1;
    bool live = row < job.rows;
    ParquetRegisters registers = {words + threadIdx.x, 0, 0};
    for (uint32_t s = 0; s < job.step_count; s++) {
      const ParquetStep step = job.steps[s];
      if (step.code == PARQUET_KEEP) {
        if (live && registers.bad(step.a)) parquet_stop(job.stop, PARQUET_STOP_RANGE);
        live = live && registers.is(step.a);
        block_list(live, r, job.kept, job.made, sums, &first_kept);
        if (__ballot_sync(FULL_MASK, live) == 0) break;  // the same for the warp; a block keeps rows once
      } else if (step.code == PARQUET_STORE) {
        if (live) parquet_store(job, step, registers, r);
      } else {
        const bool loads = step.code == PARQUET_LOAD;
        const ParquetResult result =
            loads ? parquet_load_output(job, step.constant, r) : parquet_result(step, registers);
        registers.put(step.to, result.word, result.null, result.bad);
      }
    }
  }
}
