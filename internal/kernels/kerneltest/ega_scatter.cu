// Rows are divided so that each partition lies in one piece: the three kernels of
// paper 003, section 4.2.5, for all segments of a level at once.
//
//   ega_scatter_tiles   which tiles the segments have
//   ega_scatter_count   1: the rows of each partition
//   ega_scatter_prefix  2: where each partition begins
//   ega_scatter_pairs, _even, _odd   3: the rows go there (rows of 2, an even, an odd number of
//                                    words)
//
// Where this differs from the paper, and why: the paper's first kernel takes a row's
// index in its partition and keeps it for the third, 4 bytes a row that are written
// and read again. Here the third one finds the index itself, in shared memory, and
// asks the partition for room for a whole part by one atomic. And it writes parts
// in order of partition, not rows as they came. What the paper does to the word is
// in kerneltest/scatter_bench.cu.
//
// The order of parts in a partition is that in which blocks ask, another one at each
// run. No grouping depends on it, so that blocks need not wait for each other, as
// a stable radix sort has to (decoupled look-back).
#include "../device.cuh"

#include "../ega_scatter.cuh"

// A tile of a segment: n rows from first on.
struct ScatterTile {
  uint32_t segment, first, n;
};

// scatter_tile finds the tile of this block, by a binary search for the last segment whose tiles do
// not begin behind it. n is 0 if there are fewer tiles: the grid is for the most there can be.
__device__ __forceinline__ ScatterTile scatter_tile(const ScatterLevel& level) {
  if (blockIdx.x >= level.tiles[level.segments]) return {0, 0, 0};
  uint32_t at = 0, behind = level.segments;
  while (behind - at > 1) {
    uint32_t middle = at + (behind - at) / 2;
    if (level.tiles[middle] <= blockIdx.x) {
      at = middle;
    } else {
      behind = middle;
    }
  }
  uint32_t first = level.from[at] + (blockIdx.x - level.tiles[at]) * level.rows.most;
  uint32_t n = level.from[at + 1] - first;
  return {at, first, n < level.rows.most ? n : level.rows.most};
}

// Fills level.tiles. One block, whose threads take segments side by side, as often as it takes.
// Dynamic shared memory: SCAN_SCRATCH words. block_sum_before has the barriers, but for the one
// before its memory is used again.
extern "C" __global__ void ega_scatter_tiles(ScatterLevel level) {
  DYNAMIC_SHARED(uint32_t, scratch);
  uint32_t tiles = 0;
  for (uint32_t done = 0; done < level.segments; done += blockDim.x) {
    uint32_t s = done + threadIdx.x;
    uint32_t n = s < level.segments ? level.from[s + 1] - level.from[s] : 0;
    uint32_t total;
    uint32_t before = block_sum_before((n + level.rows.most - 1) / level.rows.most, scratch, total);
    if (s < level.segments) level.tiles[s] = tiles + before;
    tiles += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) level.tiles[level.segments] = tiles;
}

// Adds the rows of each partition to level.next. A block a tile, of any number of rows. Dynamic
// shared memory: a word a partition. Only the first words of rows are read; of rows of up to four
// words that is all memory, which is read by 32 bytes.
extern "C" __global__ void __launch_bounds__(1024) ega_scatter_count(ScatterLevel level) {
  DYNAMIC_SHARED(uint32_t, counters);
  ScatterTile tile = scatter_tile(level);
  if (tile.n == 0) return;
  const ScatterRows& rows = level.rows;
  scatter_zero(counters, 1u << rows.bits);
  __syncthreads();
  const uint64_t* words = rows.words + uint64_t(tile.first) * rows.stride;
  constexpr uint32_t AT_ONCE = 4;  // reads of a thread under way
  for (uint32_t done = 0; done < tile.n; done += AT_ONCE * blockDim.x) {
    uint64_t word[AT_ONCE];
#pragma unroll
    for (uint32_t k = 0; k < AT_ONCE; k++) {
      uint32_t r = done + k * blockDim.x + threadIdx.x;
      word[k] = r < tile.n ? words[uint64_t(r) * rows.stride] : 0;
    }
#pragma unroll
    for (uint32_t k = 0; k < AT_ONCE; k++) {
      uint32_t r = done + k * blockDim.x + threadIdx.x;
      scatter_add(counters, scatter_partition(rows, word[k]), r < tile.n);
    }
  }
  __syncthreads();
  uint32_t* sums = level.next + (uint64_t(tile.segment) << rows.bits);
  for (uint32_t p = threadIdx.x; p < 1u << rows.bits; p += blockDim.x) {
    if (counters[p] != 0) atomicAdd(sums + p, counters[p]);
  }
}

// Makes of the counts in level.next where each partition begins, there and in from, of
// 1 + (segments << bits) words, whose last one is where the last partition ends. A block a segment.
// Dynamic shared memory: SCAN_SCRATCH words, a word a partition.
extern "C" __global__ void __launch_bounds__(1024) ega_scatter_prefix(ScatterLevel level, uint32_t* from) {
  DYNAMIC_SHARED(uint32_t, scratch);
  uint32_t* counters = scratch + SCAN_SCRATCH;
  uint32_t partitions = 1u << level.rows.bits;
  uint64_t base = uint64_t(blockIdx.x) << level.rows.bits;
  uint32_t first = level.from[blockIdx.x];
  for (uint32_t p = threadIdx.x; p < partitions; p += blockDim.x) counters[p] = level.next[base + p];
  auto ask = [](uint32_t, uint32_t) { return 0u; };
  scatter_start(counters, partitions, scratch, ask, [&](uint32_t p, uint32_t, uint32_t start, uint32_t) {
    level.next[base + p] = first + start;
    from[base + p] = first + start;
  });
  if (blockIdx.x == level.segments - 1 && threadIdx.x == 0) from[base + partitions] = level.from[level.segments];
}

// scatter_rows moves the rows of a tile to their partitions in `to`, `units` units a row. A block a
// tile. Dynamic shared memory: the tile, `order`, two words a partition, and SCAN_SCRATCH; see
// ega_scatter.cuh.
//
// Barriers: behind the tile's copy and the zeroed counters, then those of
// scatter_order, the last of which is also behind `shift`.
template <typename Unit>
__device__ __forceinline__ void scatter_rows(const ScatterLevel& level, uint64_t* to, uint32_t units) {
  DYNAMIC_SHARED(uint64_t, memory);
  const ScatterRows& rows = level.rows;
  ScatterTile tile = scatter_tile(level);
  if (tile.n == 0) return;
  uint32_t partitions = 1u << rows.bits;
  uint32_t* order = reinterpret_cast<uint32_t*>(memory + rows.most * rows.stride);
  uint32_t* counters = order + rows.most;
  uint32_t* shift = counters + partitions;  // from a place in the tile to a row of the partition, mod 2^32
  uint32_t* scratch = shift + partitions;

  Unit* held = reinterpret_cast<Unit*>(memory);
  scatter_copy(held, reinterpret_cast<const Unit*>(rows.words) + uint64_t(tile.first) * units, tile.n * units);
  scatter_zero(counters, partitions);
  __syncthreads();
  uint32_t* next = level.next + (uint64_t(tile.segment) << rows.bits);
  auto all = [](uint32_t) { return true; };
  auto ask = [&](uint32_t p, uint32_t count) { return atomicAdd(next + p, count); };
  auto tell = [&](uint32_t p, uint32_t, uint32_t start, uint32_t answer) { shift[p] = answer - start; };
  scatter_order(rows, memory, tile.n, order, counters, scratch, all, ask, tell);
  Unit* out = reinterpret_cast<Unit*>(to);
  ScatterDivisor divisor(units);
  for (uint32_t u = threadIdx.x; u < tile.n * units; u += blockDim.x) {
    uint32_t place = divisor.of(u);
    uint32_t within = u - place * units;
    uint32_t entry = order[place];
    uint32_t row = shift[order_partition(entry)] + place;
    out[uint64_t(row) * units + within] = held[order_row(entry) * units + within];
  }
}

extern "C" __global__ void __launch_bounds__(512, 2) ega_scatter_pairs(ScatterLevel level, uint64_t* to) {
  scatter_rows<RowPair>(level, to, 1);
}

extern "C" __global__ void __launch_bounds__(512, 2) ega_scatter_even(ScatterLevel level, uint64_t* to) {
  scatter_rows<RowPair>(level, to, level.rows.stride / 2);
}

extern "C" __global__ void __launch_bounds__(512, 2) ega_scatter_odd(ScatterLevel level, uint64_t* to) {
  scatter_rows<uint64_t>(level, to, level.rows.stride);
}
