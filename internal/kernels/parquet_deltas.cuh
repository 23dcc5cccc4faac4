// Integers in DELTA_BINARY_PACKED: the first value, then blocks of differences. The twin is deltas
// of internal/parquetio.
//
//   header: varint block size | varint miniblocks a block | varint count | zigzag first value
//   block:  zigzag least difference | a width for each miniblock | miniblocks
//
// A miniblock holds a multiple of 32 differences less the least one, packed by its width. A block
// of threads has a page. Only a miniblock tells where the next one begins: one thread lists pieces
// of 32 differences, as many at a time as the list has room for. Then a thread takes 8 differences
// side by side, and learns by a prefix sum what the value before them is. Sums are modulo 2^64;
// those of INT32 are right modulo 2^32.
//
// Cost: the thread that lists waits for some loads for each miniblock, one after the other.
#pragma once

#include "parquet_bytes.cuh"
#include "parquet_words.cuh"
#include "scan.cuh"

constexpr uint32_t PARQUET_DELTA_PIECE = 32;   // differences of a piece
constexpr uint32_t PARQUET_DELTA_EACH = 8;     // of a thread
constexpr uint32_t PARQUET_DELTA_LISTED = 128;  // pieces of a list

// ParquetDeltaHead is the header of a page; good: it makes sense.
struct ParquetDeltaHead {
  uint32_t minis;     // of a block
  uint32_t per_mini;  // differences
  uint64_t count;     // of values
  uint64_t first;
  bool good;
};

// parquet_zigzag is a varint with the sign in its lowest bit.
__device__ __forceinline__ uint64_t parquet_zigzag(ParquetReader& in) {
  const uint64_t v = in.varint();
  return v >> 1 ^ (0 - (v & 1));
}

// parquet_delta_head reads the header of a page of at most `rows` values. The largest block is
// that of the twin.
__device__ __forceinline__ ParquetDeltaHead parquet_delta_head(ParquetReader& in, uint32_t rows) {
  const uint64_t block = in.varint(), minis = in.varint();
  ParquetDeltaHead head = {uint32_t(minis), 0, in.varint(), 0, false};
  head.first = parquet_zigzag(in);
  if (in.failed || block == 0 || block > 65536 || block % 128 != 0 || minis == 0 || minis > block) return head;
  head.per_mini = uint32_t(block) / head.minis;
  head.good = block % minis == 0 && head.per_mini % PARQUET_DELTA_PIECE == 0 && head.count <= rows;
  return head;
}

// ParquetDeltaWalk is where the thread that lists pieces has come to.
struct ParquetDeltaWalk {
  ParquetReader in;
  uint64_t least;    // of the block
  uint32_t widths;   // where the width of its next miniblock is
  uint32_t minis;    // of the block that are still to come
  uint32_t in_mini;  // differences of the miniblock that are not listed
  uint32_t width;
};

// ParquetDeltas is the shared memory of a block of threads: a list of pieces.
struct ParquetDeltas {
  uint64_t leasts[PARQUET_DELTA_LISTED];
  uint32_t ats[PARQUET_DELTA_LISTED];  // where they begin among the values
  uint8_t widths[PARQUET_DELTA_LISTED];
  uint64_t sums[SCAN_SCRATCH];
  uint32_t flag;
  bool failed;
};

// parquet_next_mini goes on to the next miniblock, in the next block if need be.
__device__ __forceinline__ void parquet_next_mini(ParquetDeltaWalk& walk, const ParquetDeltaHead& head) {
  if (walk.minis == 0) {
    walk.least = parquet_zigzag(walk.in);
    walk.in.failed |= walk.in.left() < head.minis;
    if (walk.in.failed) return;
    walk.widths = walk.in.pos;
    walk.minis = head.minis;
    walk.in.pos += head.minis;
  }
  walk.width = walk.in.bytes.at[walk.widths++];
  walk.minis--;
  walk.in_mini = head.per_mini;
  walk.in.failed |= walk.width > 64;
}

// parquet_list_deltas makes the list anew, of the next `wanted` differences or as many as it has
// room for. Writers may leave off the end of the last miniblock: a piece need not have more bits
// than are wanted (WITHIN).
__device__ __forceinline__ void parquet_list_deltas(ParquetDeltas& list, ParquetDeltaWalk& walk, const ParquetDeltaHead& head,
                                                    uint32_t wanted) {
  for (uint32_t piece = 0; piece < PARQUET_DELTA_LISTED && wanted > 0 && !walk.in.failed; piece++) {
    if (walk.in_mini == 0) parquet_next_mini(walk, head);
    if (walk.in.failed) break;
    const uint32_t n = wanted < PARQUET_DELTA_PIECE ? wanted : PARQUET_DELTA_PIECE;
    const uint32_t size = PARQUET_DELTA_PIECE / 8 * walk.width, left = walk.in.left();
    walk.in.failed = (n * walk.width + 7) / 8 > left;
    list.leasts[piece] = walk.least;
    list.ats[piece] = walk.in.pos;
    list.widths[piece] = uint8_t(walk.width);
    walk.in.pos += size < left ? size : left;
    walk.in_mini -= PARQUET_DELTA_PIECE;
    wanted -= n;
  }
  list.failed = walk.in.failed;
}

// parquet_wide_packed is number i of those packed from p on, of up to 64 bits each.
__device__ __forceinline__ uint64_t parquet_wide_packed(const uint8_t* p, uint32_t width, uint32_t i) {
  const uint32_t bit = i * width, shift = bit & 7, bytes = (shift + width + 7) / 8;
  p += bit >> 3;
  uint64_t v = parquet_load(p, bytes < 8 ? bytes : 8) >> shift;
  if (bytes > 8) v |= parquet_load(p + 8, 1) << (64 - shift);
  return width == 64 ? v : v & ((uint64_t(1) << width) - 1);
}

// parquet_sum_before is block_sum_before of 64 bits.
__device__ __forceinline__ uint64_t parquet_sum_before(uint64_t v, uint64_t* scratch, uint64_t& total) {
  const auto through = [](uint64_t sum) {
#pragma unroll
    for (uint32_t distance = 1; distance < warpSize; distance *= 2) {
      const uint64_t before = __shfl_up_sync(FULL_MASK, sum, distance);
      if (lane_id() >= distance) sum += before;
    }
    return sum;
  };
  const uint32_t warps = blockDim.x / warpSize;
  const uint64_t own = through(v);
  if (lane_id() == warpSize - 1) scratch[warp_id()] = own;
  __syncthreads();
  const uint64_t sums = through(lane_id() < warps ? scratch[lane_id()] : 0);
  total = __shfl_sync(FULL_MASK, sums, warpSize - 1);
  const uint64_t before = __shfl_sync(FULL_MASK, sums, (warp_id() + warpSize - 1) % warpSize);
  return own - v + (warp_id() == 0 ? 0 : before);
}

// parquet_put_delta writes value `row` of a page, and tells in `outside` whether its output admits
// it.
__device__ __forceinline__ void parquet_put_delta(const ParquetOutput& output, const ParquetArrays& arrays, uint32_t row,
                                                  uint64_t value, bool& outside) {
  const int64_t v = output.physical == PARQUET_INT32 ? int32_t(uint32_t(value)) : int64_t(value);
  parquet_put(output, arrays, row, parquet_int(output, v, outside));
}

// parquet_deltas writes the values of a page, `rows` of them, of at most page_rows. All threads of
// the block call. Barriers: before a list is made and behind it, and that of the sum.
__device__ __forceinline__ void parquet_deltas(ParquetDeltas& shared, const ParquetJob& job, const ParquetOutput& output,
                                               const ParquetArrays& arrays, ParquetBytes values, uint32_t rows,
                                               uint32_t page_rows) {
  constexpr uint32_t TILE = PARQUET_DELTA_PIECE * PARQUET_DELTA_LISTED;
  if (rows == 0 && values.size == 0) return;
  ParquetDeltaWalk walk = {{values, 0, false}, 0, 0, 0, 0, 0};
  const ParquetDeltaHead head = parquet_delta_head(walk.in, page_rows);
  if (!head.good || head.count < rows) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  bool outside = false;
  if (rows > 0 && threadIdx.x == 0) parquet_put_delta(output, arrays, 0, head.first, outside);
  uint64_t last = head.first;
  for (uint32_t done = 1; done < rows; done += TILE) {  // values
    __syncthreads();
    if (threadIdx.x == 0) parquet_list_deltas(shared, walk, head, rows - done);
    __syncthreads();
    if (shared.failed) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
    const uint32_t here = rows - done < TILE ? rows - done : TILE;
    const uint32_t from = threadIdx.x * PARQUET_DELTA_EACH, piece = from / PARQUET_DELTA_PIECE;
    uint64_t through[PARQUET_DELTA_EACH], sum = 0, total;
#pragma unroll
    for (uint32_t i = 0; i < PARQUET_DELTA_EACH; i++) {
      if (from + i < here) {
        const uint8_t* at = values.at + shared.ats[piece];
        sum += shared.leasts[piece] + parquet_wide_packed(at, shared.widths[piece], from % PARQUET_DELTA_PIECE + i);
      }
      through[i] = sum;
    }
    const uint64_t before = last + parquet_sum_before(sum, shared.sums, total);
#pragma unroll
    for (uint32_t i = 0; i < PARQUET_DELTA_EACH; i++) {
      if (from + i < here) parquet_put_delta(output, arrays, done + from + i, before + through[i], outside);
    }
    last += total;
  }
  if (outside) parquet_stop(job.stop, PARQUET_STOP_RANGE);
}
