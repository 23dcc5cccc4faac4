// Where runs begin (parquet_runs.cuh), of definition levels. A block goes from run to run, but
// finds many heads at a time, by one of two ways:
//
//   STRETCH  Most runs are like the one before: DuckDB ends a run of packed codes at 256 of them,
//            parquet-mr and Arrow at 504, and only now and then one of few equal codes lies
//            between. So the lanes of a warp look at the places where heads are if the next runs
//            are like the one at hand, PARQUET_AHEAD each. Those before the first that is not are
//            proven: each is where the one before it ends. That is two loads one after the other,
//            some 800 cycles.
//   SEARCH   Where stretches are short, pointer jumping (chain.cuh) finds all heads in a window of
//            bytes, in some 3,000 cycles. The end of a page that fits into a window is always
//            searched.
//
// Cost, of 122,880 codes: in runs of 256 with 3 others among them 8,000 cycles; in runs of 8 codes
// of a byte 400,000.
#pragma once

#include "chain.cuh"
#include "parquet_runs.cuh"
#include "scan.cuh"

constexpr uint32_t PARQUET_WINDOW = 1024;  // bytes that are searched at once; no list has more runs
constexpr uint32_t PARQUET_ROUNDS = 5;     // of chain.cuh: a run of no integers has one byte
constexpr uint32_t PARQUET_AHEAD = 4;      // heads that a lane looks at

// A list has so many stretches at most; if these have fewer bytes than PARQUET_SPARSE each, the
// next PARQUET_DENSE windows are searched. Both ways find the same heads. A stretch takes 800
// cycles and a window of 1024 bytes 3,000, so that stretches of 1024 * 800 / 3,000 = 273 bytes cost
// as much as windows. Not measured: the other two say how much of the wrong way is gone before the
// next decision, 13,000 cycles of stretches, 24,000 of windows.
constexpr uint32_t PARQUET_STRETCHES = 16;
constexpr uint32_t PARQUET_SPARSE = 256;
constexpr uint32_t PARQUET_DENSE = 8;

using ParquetList = ParquetRuns<PARQUET_WINDOW>;

// ParquetWindow is the shared memory of a walk by THREADS threads.
template <uint32_t THREADS>
struct ParquetWindow {
  static constexpr uint32_t HEAD = 16;  // at least the bytes of a head: a varint of 10, a value of 4
  static constexpr uint32_t SEGMENTS = PARQUET_WINDOW / THREADS;

  uint64_t bytes[(PARQUET_WINDOW + HEAD) / 8 + 1];  // begins up to 7 bytes late
  uint16_t exits[PARQUET_WINDOW];
  uint16_t heads[PARQUET_WINDOW];
  uint32_t sums[SCAN_SCRATCH];
  uint32_t dense;  // windows to be searched before stretches are tried again
  ParquetList runs;
};

// ParquetHead is the head of a run whose varint has at most 4 bytes: enough for 2^27 integers.
struct ParquetHead {
  uint32_t bytes;   // of the varint; 0: it has more than 4
  uint32_t mask;    // the bits of the varint
  uint32_t length;  // groups of a packed run; else integers
  bool packed;

  __device__ __forceinline__ uint32_t count() const { return packed ? length * 8 : length; }

  // size is the bytes of the run, head included: less than 2^32.
  __device__ __forceinline__ uint32_t size(uint32_t width) const {
    return bytes + (packed ? length * width : (width + 7) / 8);
  }
};

// parquet_head reads a head, of the 4 bytes that begin with it, without going different ways.
__device__ __forceinline__ ParquetHead parquet_head(uint32_t four) {
  const uint32_t ends = ~four & 0x80808080, mask = ends ^ (ends - 1), v = four & mask;
  const uint32_t value = (v & 0x7f) | (v >> 1 & 0x3f80) | (v >> 2 & 0x1fc000) | (v >> 3 & 0xfe00000);
  return {ends == 0 ? 0 : uint32_t(__ffs(ends)) / 8, mask, value >> 1, (value & 1) != 0};
}

// ParquetCursor is how far a list is: the fields of ParquetRuns, in registers.
struct ParquetCursor {
  uint32_t count, rows, pos;
  bool failed;
};

// parquet_alike lists the run at the cursor and those behind it that have the same head, none or
// more of them. All lanes of a warp call, with the same cursor. It lists only runs that are whole:
// others, and heads of many bytes, are for parquet_one.
__device__ __forceinline__ void parquet_alike(ParquetList& list, ParquetCursor& cursor, ParquetBytes values, uint32_t width,
                                              uint32_t rows) {
  const uint32_t four = uint32_t(parquet_load(values.at + cursor.pos, 4));
  const ParquetHead head = parquet_head(four);
  const uint32_t size = head.size(width), count = head.count(), code_bits = (width + 7) / 8 * 8;
  if (head.bytes == 0 || count == 0) return;
  const uint32_t room = PARQUET_WINDOW - cursor.count, wanted = (rows - cursor.rows - 1) / count + 1;
  const uint32_t most = room < wanted ? room : wanted;
  uint64_t words[PARQUET_AHEAD];
#pragma unroll
  for (uint32_t k = 0; k < PARQUET_AHEAD; k++) {
    const uint32_t i = k * warpSize + lane_id();
    const uint64_t at = cursor.pos + uint64_t(i) * size;
    words[k] = i < most && at + size <= values.size ? parquet_load(values.at + at, 8) : ~uint64_t(four);
  }
  uint32_t alike = 0;
#pragma unroll
  for (uint32_t k = 0; k < PARQUET_AHEAD; k++) {
    const uint32_t i = k * warpSize + lane_id();
    const uint64_t code = words[k] >> (head.bytes * 8) & ((uint64_t(1) << code_bits) - 1);
    const bool same = ((uint32_t(words[k]) ^ four) & head.mask) == 0;
    const uint32_t others = ~__ballot_sync(FULL_MASK, same && (head.packed || code >> width == 0));
    if (alike == k * warpSize) alike += others == 0 ? warpSize : __ffs(others) - 1;
    if (i >= alike) continue;
    const uint32_t at = head.packed ? cursor.pos + i * size + head.bytes : uint32_t(code);
    parquet_put_run(list, cursor.count + i, cursor.rows + i * count, at, head.packed);
  }
  const uint64_t there = cursor.rows + uint64_t(alike) * count;
  cursor = {cursor.count + alike, there < rows ? uint32_t(there) : rows, cursor.pos + alike * size, false};
}

// parquet_one lists one run, whatever it is like. All lanes of a warp call, with the same cursor.
__device__ __forceinline__ void parquet_one(ParquetList& list, ParquetCursor& cursor, ParquetBytes values, uint32_t width,
                                            uint32_t rows) {
  ParquetReader in = {values, cursor.pos, false};
  const ParquetRun run = parquet_run(in, width);
  if (lane_id() == 0) parquet_put_run(list, cursor.count, cursor.rows, run.at, run.packed);
  const bool more = run.count < rows - cursor.rows;
  cursor = {cursor.count + 1, more ? cursor.rows + uint32_t(run.count) : rows, in.pos, in.failed};
}

// parquet_stretches lists runs by STRETCH. All lanes of one warp call.
template <uint32_t THREADS>
__device__ __forceinline__ void parquet_stretches(ParquetWindow<THREADS>& window, ParquetBytes values, uint32_t width,
                                                  uint32_t rows) {
  ParquetList& list = window.runs;
  const uint32_t from = list.pos;
  ParquetCursor cursor = {0, list.rows, from, false};
  uint32_t stretches = 0;
  while (!cursor.failed && cursor.rows < rows && cursor.count < PARQUET_WINDOW && stretches < PARQUET_STRETCHES) {
    const uint32_t before = cursor.count;
    parquet_alike(list, cursor, values, width, rows);
    if (cursor.count == before) parquet_one(list, cursor, values, width, rows);
    stretches++;
  }
  __syncwarp();
  if (lane_id() != 0) return;
  list.count = cursor.count;
  list.rows = cursor.rows;
  list.pos = cursor.pos;
  list.failed = cursor.failed;
  if (cursor.pos - from < stretches * PARQUET_SPARSE) window.dense = PARQUET_DENSE;
}

// ParquetNext is the chain of a window: where a run ends whose head is at p, if that is in the
// window.
struct ParquetNext {
  static constexpr uint32_t OUTSIDE = 0xffff;

  const uint8_t* bytes;
  uint32_t limit;  // bytes of the window
  uint32_t width;

  __device__ __forceinline__ uint32_t operator()(uint32_t p) const {
    if (p >= limit) return OUTSIDE;
    const ParquetHead head = parquet_head(uint32_t(parquet_load(bytes + p, 4)));
    const uint32_t size = head.size(width);
    return head.bytes != 0 && size < limit - p ? p + size : OUTSIDE;
  }
};

// parquet_stage brings the bytes from place `pos` on into a window, as the words of the page are
// aligned; it returns where the first is. All threads of the block call; the barrier is for the
// bytes.
template <uint32_t THREADS>
__device__ __forceinline__ const uint8_t* parquet_stage(ParquetWindow<THREADS>& window, ParquetBytes values, uint32_t pos) {
  constexpr uint32_t MOST = PARQUET_WINDOW + ParquetWindow<THREADS>::HEAD;
  const uint8_t* from = values.at + pos;
  const uint32_t before = uint32_t(reinterpret_cast<uint64_t>(from) & 7), left = values.size - pos;
  const uint64_t* words = reinterpret_cast<const uint64_t*>(from - before);
  const uint32_t size = before + (left < MOST ? left : MOST);
  for (uint32_t i = threadIdx.x; i < (size + 7) / 8; i += THREADS) window.bytes[i] = words[i];
  __syncthreads();
  return reinterpret_cast<const uint8_t*>(window.bytes) + before;
}

// parquet_search lists the runs that begin in a window, by SEARCH, up to the last that is needed.
// All threads of the block call. The barriers: those of the stage, of the chain and of sums, and
// one before the next sum.
template <uint32_t THREADS>
__device__ __forceinline__ void parquet_search(ParquetWindow<THREADS>& window, ParquetBytes values, uint32_t width,
                                               uint32_t rows) {
  ParquetList& list = window.runs;
  const uint32_t pos = list.pos, left = values.size - pos;
  uint32_t before = list.rows;
  const uint8_t* bytes = parquet_stage(window, values, pos);
  if (threadIdx.x == 0 && window.dense > 0) window.dense--;
  const ParquetNext next = {bytes, left < PARQUET_WINDOW ? left : PARQUET_WINDOW, width};
  const uint32_t found =
      chain_find<ParquetWindow<THREADS>::SEGMENTS, PARQUET_ROUNDS>(next, 0, window.exits, window.sums, window.heads);
  for (uint32_t base = 0; base < found && before < rows; base += THREADS) {
    const uint32_t i = base + threadIdx.x;
    ParquetReader in = {{bytes, left}, i < found ? window.heads[i] : 0u, false};
    const ParquetRun run = parquet_run(in, width);
    const uint32_t count = i < found && run.count < rows ? uint32_t(run.count) : i < found ? rows : 0;
    uint32_t total;
    const uint32_t first = before + block_sum_up_to(count, rows, window.sums, total);
    if (i < found && first < rows) {
      parquet_put_run(list, i, first, run.packed ? pos + run.at : run.at, run.packed);
      if (in.failed) list.failed = true;
      if (i + 1 == found || count >= rows - first) {  // of one thread
        list.count = i + 1;
        list.rows = count < rows - first ? first + count : rows;
        list.pos = pos + in.pos;
      }
    }
    before = total < rows - before ? before + total : rows;
    __syncthreads();
  }
}

// parquet_is_dense tells whether the next list is to be made by SEARCH.
template <uint32_t THREADS>
__device__ __forceinline__ bool parquet_is_dense(const ParquetWindow<THREADS>& window, ParquetBytes values) {
  return window.dense > 0 || values.size - window.runs.pos <= PARQUET_WINDOW;
}

// parquet_walk_runs walks as many integers as there are rows, of 1 to 32 bits. Each time that
// window.runs has some more of them, all threads call each(window.runs, first row of these). All
// THREADS threads of the block call, and are told the same: whether the runs are good. Barriers:
// before the list is begun, before it is read, and before it is made anew, at which all know how.
template <uint32_t THREADS, class Each>
__device__ __forceinline__ bool parquet_walk_runs(ParquetWindow<THREADS>& window, ParquetBytes values, uint32_t width,
                                                  uint32_t rows, const Each& each) {
  ParquetList& list = window.runs;
  if (threadIdx.x == 0) {
    window.dense = 0;
    list.rows = list.pos = 0;
    list.failed = false;
  }
  bool dense = values.size <= PARQUET_WINDOW;
  __syncthreads();
  for (uint32_t from = 0; from < rows;) {
    if (dense) {
      parquet_search(window, values, width, rows);
    } else if (warp_id() == 0) {
      parquet_stretches(window, values, width, rows);
    }
    __syncthreads();
    if (list.failed) return false;
    each(list, from);
    from = list.rows;
    dense = parquet_is_dense(window, values);
    __syncthreads();
  }
  return true;
}
