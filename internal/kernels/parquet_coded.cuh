// The runs of coded pages: where each begins, and which rows are its.
//
// A page's runs (parquet_runs.cuh) are a chain of elements, which parquet_coded.cu finds window by
// window before pages are decoded (chain_page.cuh). So the rows of a page can be divided among any
// number of blocks: each looks for the window that its first row is in, and lists runs from there
// on (ParquetCodedRuns).
//
// An element is a run. A packed run of no groups has one byte: it is one element with the run
// behind it. The chain ends with a run that is damaged; so is the page, if rows are left.
#pragma once

#include "chain_page.cuh"
#include "parquet_levels.cuh"

// ParquetCodedRun is a run: `count` integers, of which there are none where the chain ends.
struct ParquetCodedRun {
  uint32_t count;
  uint32_t at;  // packed: where its bits begin, from the element on; else the value
  bool packed;
  uint32_t bytes;  // of the element; CHAIN_NONE: the chain ends with it
};

// ParquetCoded is the runs of a page of codes, as chain_page.cuh wants them.
struct ParquetCoded {
  // A packed run of 504 codes (Arrow, parquet-mr) has up to 1,000 bytes if codes have 15 bits, one
  // of 256 (DuckDB) if they have 31.
  static constexpr uint32_t NEAR = 1024;

  uint32_t width;  // of a code: 1 to 32 bits
  uint32_t rows;   // of the page
  bool truth;      // as parquet_run has it

  // code is the value of a run that begins with these bytes, if it is not packed.
  __device__ __forceinline__ uint64_t code(const ParquetHead& head, uint64_t eight) const {
    const uint64_t v = eight >> (head.bytes * 8) & ((uint64_t(1) << ((width + 7) / 8 * 8)) - 1);
    return truth && v != 0 ? 1 : v;
  }

  // skipped is how many bytes there are before the run of an element: of one without groups.
  static __device__ __forceinline__ uint32_t skipped(const uint8_t* at) { return at[0] == 1 ? 1 : 0; }

  // Heads of more than 4 bytes, and damaged runs, are endless.
  __device__ __forceinline__ uint32_t bytes(const uint8_t* at) const {
    const uint32_t skip = skipped(at);
    const uint64_t eight = parquet_load(at + skip, 8);
    const ParquetHead head = parquet_head(uint32_t(eight));
    const uint32_t size = head.size(width);
    const bool good = head.bytes != 0 && (head.packed || code(head, eight) >> width == 0);
    return good && size < CHAIN_ENDLESS ? skip + size : CHAIN_ENDLESS;
  }

  __device__ __forceinline__ uint32_t behind(const uint8_t* at, uint32_t left) const { return run(at, left).bytes; }

  __device__ __forceinline__ uint32_t length(const uint8_t* at, uint32_t left) const { return run(at, left).count; }

  __device__ __forceinline__ uint32_t most() const { return rows; }

  // run reads the element at `at`, with `left` bytes of the page from there on.
  __device__ __forceinline__ ParquetCodedRun run(const uint8_t* at, uint32_t left) const {
    const uint32_t size = bytes(at), skip = skipped(at);
    if (size > left) return any_run(at, left, skip);
    const uint64_t eight = parquet_load(at + skip, 8);
    const ParquetHead head = parquet_head(uint32_t(eight));
    const uint32_t count = head.count();
    return {count < rows ? count : rows, head.packed ? skip + head.bytes : uint32_t(code(head, eight)), head.packed, size};
  }

  // any_run is the same of a run that is the last or has a long head, or is damaged. Not all
  // writers fill the last group.
  __device__ __forceinline__ ParquetCodedRun any_run(const uint8_t* at, uint32_t left, uint32_t skip) const {
    ParquetReader in = {{at, left}, skip, false};
    const ParquetRun run = parquet_run(in, width, truth);
    if (in.failed) return {0, 0, false, CHAIN_NONE};
    return {uint32_t(run.count < rows ? run.count : rows), run.at, run.packed, in.pos};
  }
};

// ParquetCodedPart is the runs of a page of codes and the width of these; more than 32: the page is
// damaged.
struct ParquetCodedPart {
  ParquetBytes runs;
  uint32_t width;
};

// parquet_coded_part finds them among the values of a page.
__device__ __forceinline__ ParquetCodedPart parquet_coded_part(const ParquetPage& page, ParquetBytes values) {
  if (page.encoding != PARQUET_TRUTHS) {
    if (values.size == 0) return {values, 0xff};
    return {{values.at + 1, values.size - 1}, values.at[0]};
  }
  if (values.size < 4) return {values, 0xff};
  const uint32_t size = uint32_t(parquet_load(values.at, 4));
  if (size > values.size - 4) return {values, 0xff};
  return {{values.at + 4, size}, 1};
}

// ParquetCodedPage is a page of codes.
struct ParquetCodedPage {
  ChainPage runs;
  ParquetCoded coded;
};

// parquet_coded_page reads where the runs of a page lie, and what is found out of them; false: it
// has none. A damaged page has none either: parquet_codes tells.
__device__ __forceinline__ bool parquet_coded_page(const ParquetJob& job, const ParquetPage& page, ParquetCodedPage& p) {
  if (page.coded == 0) return false;
  const ParquetParts body = parquet_parts(page, parquet_bytes(job, page));
  if (body.damaged) return false;
  const ParquetCodedPart part = parquet_coded_part(page, body.values);
  if (part.runs.size == 0) return false;
  p.coded = {part.width, page.rows, page.encoding == PARQUET_TRUTHS};
  p.runs.elements = part.runs.at;
  p.runs.n = part.runs.size;
  p.runs.place(job.work + page.runs);
  return p.coded.width >= 1 && p.coded.width <= 32;
}

// ParquetCodedRuns lists runs of a page, one list after the other. All threads of the block call,
// with the same arguments.
struct ParquetCodedRuns {
  const ParquetCodedPage& page;
  uint32_t window;  // of the next run that is not listed,
  uint32_t run;     // its number there,
  uint32_t row;     // and its first row

  // seek goes to the window that has a row; false: the runs do not come so far. The barriers: one
  // before the answer is written, that of the sum, and one behind both.
  template <uint32_t MOST>
  __device__ __forceinline__ bool seek(ParquetRuns<MOST>& list, uint32_t* sums, uint32_t wanted) {
    uint32_t sum = 0;
    if (threadIdx.x == 0) list.failed = true;
    __syncthreads();
    for (uint32_t first = 0; first < page.runs.window_count && sum <= wanted; first += blockDim.x) {
      const uint32_t w = first + threadIdx.x, own = w < page.runs.window_count ? page.runs.windows[w].sum : 0;
      uint32_t total;
      const uint32_t before = add_up_to(sum, block_sum_up_to(own, page.coded.rows, sums, total), page.coded.rows);
      if (before <= wanted && wanted - before < own) {
        list.pos = w;
        list.rows = before;
        list.failed = false;
      }
      sum = add_up_to(sum, total, page.coded.rows);
      __syncthreads();
    }
    window = list.pos;
    run = 0;
    row = list.rows;
    return !list.failed;
  }

  // next makes the list anew, of the runs from here on up to the one that has row `wanted` - 1, or
  // as many as it has room for; false: they do not come so far. Barriers: before the list is made,
  // that of each sum, and one behind it.
  template <uint32_t MOST>
  __device__ __forceinline__ bool next(ParquetRuns<MOST>& list, uint32_t* sums, uint32_t wanted) {
    uint32_t count = 0;
    while (row < wanted && count < MOST) {
      while (window < page.runs.window_count && run == page.runs.windows[window].count) {
        window++;
        run = 0;
      }
      if (window == page.runs.window_count) return false;
      const uint32_t here = page.runs.windows[window].count - run, room = MOST - count;
      uint32_t n = here < room ? here : room;
      if (n > blockDim.x) n = blockDim.x;
      ParquetCodedRun own = {0, 0, false, 0};
      uint32_t at = 0;
      if (threadIdx.x < n) {
        at = window * CHAIN_WINDOW + page.runs.table[window * CHAIN_ENTRIES + run + threadIdx.x];
        own = page.coded.run(page.runs.elements + at, page.runs.n - at);
      }
      uint32_t total;
      const uint32_t first = add_up_to(row, block_sum_up_to(own.count, page.coded.rows, sums, total), page.coded.rows);
      if (threadIdx.x < n) parquet_put_run(list, count + threadIdx.x, first, own.packed ? at + own.at : own.at, own.packed);
      row = add_up_to(row, total, page.coded.rows);
      run += n;
      count += n;
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      list.count = count;
      list.rows = row;
    }
    __syncthreads();
    return true;
  }
};
