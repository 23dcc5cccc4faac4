// Strings to the words that they have in a key or a state, by the store of the run
// (parquet_texts.cuh).
//
//   parquet_texts_entries  before codes are decoded: the entries of dictionaries
//   parquet_texts_rows     before rows are made, once it is known which are kept: the strings of
//                          pages of values of which parquet_decode_values has noted where they
//                          are; and rows become NULL whose string does not count
//
// A thread makes the words of one string. Cost, of 80 bytes that are in the store: 11 loads for
// each byte order of hash and comparison, of neighbours in a page mostly, and two misses, of the
// slot and of the arena.
#include "device.cuh"

#include "parquet_texts.cuh"

// Threads of a block.
constexpr uint32_t PARQUET_TEXT_THREADS = 256;

// Blocks: a multiple of the job's dictionaries, of which there is one or more; PARQUET_TEXT_THREADS
// threads a block. The barrier is for the stop word; parquet_each_string has more.
extern "C" __global__ void __launch_bounds__(PARQUET_TEXT_THREADS) parquet_texts_entries(ParquetJob job) {
  __shared__ uint32_t flag;
  __shared__ uint32_t sums[SCAN_SCRATCH];
  if (parquet_stopped(job.stop, &flag)) return;
  const ParquetDict dict = job.dicts[blockIdx.x % job.dict_count];
  const ParquetPage page = job.pages[dict.page];
  const ParquetOutput output = job.outputs[dict.output];
  const ParquetArrays arrays = {reinterpret_cast<uint64_t*>(job.work + dict.words), page.rows};
  const uint32_t part = blockIdx.x / job.dict_count, parts = gridDim.x / job.dict_count;
  parquet_each_string(job, page, page.rows, part, parts, sums, [&](uint32_t entry, const uint8_t* p, uint32_t size) {
    parquet_cut_of(job, output, p, size);
    if (parquet_put_told(job, output, arrays, entry, p, size)) return;
    if (output.form == PARQUET_REF) return parquet_put_ref(job, arrays, entry, p, size);
    parquet_words_of_text(job, arrays, output.words, entry, p, size);
  });
}

// Any number of blocks, each of which takes as many rows as it has threads in turn;
// PARQUET_TEXT_THREADS threads a block. The barrier is for the stop word.
extern "C" __global__ void __launch_bounds__(PARQUET_TEXT_THREADS) parquet_texts_rows(ParquetJob job) {
  __shared__ uint32_t flag;
  if (parquet_stopped(job.stop, &flag)) return;
  const uint64_t rows = job.kept == nullptr ? job.rows : *job.made;
  for (uint64_t i = global_thread(); i < rows; i += global_threads()) {
    const uint32_t row = job.kept == nullptr ? uint32_t(i) : job.kept[i];
    for (uint32_t o = 0; o < job.text_end; o++) {
      const ParquetOutput output = job.outputs[o];
      if (output.texts == 0) continue;
      uint32_t* places = job.places + o * job.array_words;
      const uint32_t place = places[row];
      if (place == PARQUET_NULL) continue;
      if (output.only != 0 && !parquet_is_true(job, output.only - 1, row)) {
        places[row] = PARQUET_NULL;
      } else {
        parquet_settle_raw(job, output, place);
      }
    }
  }
}
