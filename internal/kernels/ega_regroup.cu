// Groups of a table become rows of groups by some of their keys (ega_regroup.cuh), dense and in any
// order. The table stays as it is. The rows are combined by the kernels that combine any rows.
//
// Who takes part: blocks of EGA_REGROUP_THREADS threads, each of which takes as many slots in turn.
// Nobody changes the table meanwhile. A thread makes a row in shared memory; then the block copies
// its rows, which lie one behind the other in the result. Rows lie in shared memory with an odd
// number of words between them: see parquet_rows.cu.
//
// Cost: the slots are read once, and a row is written for each group.
#include "ega_regroup.cuh"
#include "scan.cuh"

constexpr uint32_t EGA_REGROUP_THREADS = 128;

// Makes rows of the groups in the slots from `first` on, before `end`, which is at most one more
// than the table has slots. There is room for as many rows. Adds up in out, which is 0 before: how
// many were made, and how many of these have a value; its third word is not 0 if some could not be
// made (EgaRegroupStop, ParquetStop). Threads a block: EGA_REGROUP_THREADS; dynamic shared memory:
// threads * (words of a row | 1) * 8 bytes; any number of blocks. The first barrier is for rows
// that others have made and for their place, the second before they make the next;
// block_sum_before has two.
extern "C" __global__ void __launch_bounds__(EGA_REGROUP_THREADS)
    ega_regroup_rows(EgaLayout layout, EgaTable table, EgaRegroupPlan regroup, uint64_t first, uint64_t end, uint64_t* rows,
                     uint64_t* out) {
  DYNAMIC_SHARED(uint64_t, tile);
  __shared__ uint32_t scratch[SCAN_SCRATCH];
  __shared__ uint64_t at;
  const EgaGlobal place(table, ega_stride<EgaAny>(layout));
  const uint32_t stride = 1 + regroup.key_words + layout.state_words, apart = stride | 1;
  uint64_t valued = 0;
  for (uint64_t turn = first + uint64_t(blockIdx.x) * blockDim.x; turn < end; turn += global_threads()) {
    const uint64_t i = turn + threadIdx.x;
    const uint32_t slot = static_cast<uint32_t>(i);
    const bool used = i < end && (layout.key_words == 1 ? ega_used<EgaKeys<1>>(layout, place, slot) : ega_used<EgaAny>(layout, place, slot));
    uint32_t count;
    const uint32_t before = block_sum_before(used ? 1 : 0, scratch, count);
    if (threadIdx.x == 0 && count > 0) at = atomicAdd(out, uint64_t(count));
    if (used) valued += ega_regroup_row(layout, regroup, place.word(slot, 0), tile + before * apart, out + 2) ? 1 : 0;
    __syncthreads();
    for (uint32_t w = threadIdx.x; w < count * stride; w += blockDim.x) {
      rows[at * stride + w] = tile[w / stride * apart + w % stride];
    }
    __syncthreads();
  }
  ega_add_up(out + 1, valued);
}
