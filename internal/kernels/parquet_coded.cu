// Where the runs of coded pages begin, for parquet_decode_values: the three kernels of
// chain_page.cuh, one after the other.
//
// Cost, of a page of 1 MB with runs of 8 codes: link and find some 60 and 100 instructions of a
// thread for each byte, walk some 40 cycles for each window, and 2,000 for each tile of them.
#include "device.cuh"

#include "parquet_coded.cuh"

// ParquetCodedShare is the page that a block works for, and which of its windows are the block's:
// every parts-th from `part` on.
struct ParquetCodedShare {
  ParquetCodedPage page;
  uint32_t part, parts;
};

// parquet_coded_share is what this block does. false: nothing, since the page has no runs.
static __device__ __forceinline__ bool parquet_coded_share(const ParquetJob& job, ParquetCodedShare& share) {
  const uint32_t page = blockIdx.x % job.page_count;
  share.part = blockIdx.x / job.page_count;
  share.parts = (gridDim.x - page - 1) / job.page_count + 1;
  return parquet_coded_page(job, job.pages[page], share.page);
}

// Blocks: a page or more; CHAIN_THREADS threads a block. The barrier is for the stop word.
extern "C" __global__ void __launch_bounds__(CHAIN_THREADS) parquet_coded_link(ParquetJob job) {
  __shared__ ChainTags shared;
  ParquetCodedShare share;
  if (parquet_stopped(job.stop, shared.sums) || !parquet_coded_share(job, share)) return;
  const ChainPage& runs = share.page.runs;
  for (uint32_t w = share.part; w < runs.window_count; w += share.parts) {
    chain_page_link(shared, runs, w, share.page.coded);
  }
}

// Blocks: one for each page; CHAIN_WALK_THREADS threads a block.
extern "C" __global__ void __launch_bounds__(CHAIN_WALK_THREADS) parquet_coded_walk(ParquetJob job) {
  __shared__ uint32_t stopped;
  __shared__ ChainTile<ParquetCoded::NEAR> tile;
  ParquetCodedShare share;
  if (parquet_stopped(job.stop, &stopped) || !parquet_coded_share(job, share)) return;
  chain_walk(tile, share.page.runs, share.page.coded);
}

// As parquet_coded_link.
extern "C" __global__ void __launch_bounds__(CHAIN_THREADS) parquet_coded_find(ParquetJob job) {
  __shared__ ChainTags shared;
  ParquetCodedShare share;
  if (parquet_stopped(job.stop, shared.sums) || !parquet_coded_share(job, share)) return;
  const ChainPage& runs = share.page.runs;
  for (uint32_t w = share.part; w < runs.window_count; w += share.parts) {
    chain_page_find(shared, runs, w, share.page.coded);
  }
}
