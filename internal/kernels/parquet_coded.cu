// Where the elements of pages begin, for parquet_decode_values: the runs of coded pages, and the
// strings of pages of texts. First parquet_coded_even looks for pages of strings of one length, of
// which nothing more has to be found; then the three kernels of chain_page.cuh.
//
// Cost, of a page of 1 MB with runs of 8 codes: link and find some 60 and 100 instructions of a
// thread for each byte, walk some 40 cycles for each window, and 2,000 for each tile of them.
#include "device.cuh"

#include "parquet_coded.cuh"
#include "parquet_texts.cuh"

// parquet_chain calls each(chain, elements) for the page that a block works for, if it has a chain.
template <class Each>
static __device__ __forceinline__ void parquet_chain(const ParquetJob& job, const Each& each) {
  const ParquetPage page = job.pages[blockIdx.x % job.page_count];
  ParquetCodedPage coded;
  if (parquet_coded_page(job, page, coded)) return each(coded.runs, coded.coded);
  ParquetStringsPage texts;
  if (parquet_strings_page(job, page, texts) && *texts.each == PARQUET_UNEVEN) each(texts.chain, texts.strings);
}

// Blocks: one for each page; CHAIN_THREADS threads a block. The barriers are for the stop word, and
// for `uneven`; parquet_strings_even has more.
extern "C" __global__ void __launch_bounds__(CHAIN_THREADS) parquet_coded_even(ParquetJob job) {
  __shared__ uint32_t flag, uneven;
  if (parquet_stopped(job.stop, &flag)) return;
  ParquetStringsPage texts;
  if (!parquet_strings_page(job, job.pages[blockIdx.x], texts)) return;
  if (threadIdx.x == 0) uneven = 0;
  __syncthreads();
  parquet_strings_even(texts, &uneven);
}

// parquet_windows calls each(window) for those of the page's windows that are the block's.
template <class Each>
static __device__ __forceinline__ void parquet_windows(const ParquetJob& job, const ChainPage& chain, const Each& each) {
  const uint32_t page = blockIdx.x % job.page_count, parts = (gridDim.x - page - 1) / job.page_count + 1;
  for (uint32_t w = blockIdx.x / job.page_count; w < chain.window_count; w += parts) each(w);
}

// Blocks: a page or more; CHAIN_THREADS threads a block. The barrier is for the stop word.
extern "C" __global__ void __launch_bounds__(CHAIN_THREADS) parquet_coded_link(ParquetJob job) {
  __shared__ ChainTags shared;
  if (parquet_stopped(job.stop, shared.sums)) return;
  parquet_chain(job, [&](const ChainPage& chain, const auto& elements) {
    parquet_windows(job, chain, [&](uint32_t w) { chain_page_link(shared, chain, w, elements); });
  });
}

// Blocks: one for each page; CHAIN_WALK_THREADS threads a block.
extern "C" __global__ void __launch_bounds__(CHAIN_WALK_THREADS) parquet_coded_walk(ParquetJob job) {
  __shared__ uint32_t stopped;
  __shared__ ChainTile<ParquetCoded::NEAR> tile;
  static_assert(ParquetCoded::NEAR == ParquetStrings::NEAR);
  if (parquet_stopped(job.stop, &stopped)) return;
  parquet_chain(job, [&](const ChainPage& chain, const auto& elements) { chain_walk(tile, chain, elements); });
}

// As parquet_coded_link.
extern "C" __global__ void __launch_bounds__(CHAIN_THREADS) parquet_coded_find(ParquetJob job) {
  __shared__ ChainTags shared;
  if (parquet_stopped(job.stop, shared.sums)) return;
  parquet_chain(job, [&](const ChainPage& chain, const auto& elements) {
    parquet_windows(job, chain, [&](uint32_t w) { chain_page_find(shared, chain, w, elements); });
  });
}
