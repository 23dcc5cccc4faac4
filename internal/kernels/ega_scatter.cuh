// Rows of groups are divided into partitions by the top bits of their hash: what
// the ways to do it have in common. HASH-BITS is the rule, of package
// partition, which does the same on the host.
//
// Terms:
//
//   row        some 64-bit words; the first is its hash, or its key of one word
//   segment    rows that lie one after the other and that one level divides; at
//              level 0 all rows are one segment
//   tile       the rows of a segment that one block divides at once, in its
//              shared memory
//   partition  1 << bits of each segment
//   part       the rows of a tile that belong to one partition
//   place      where a row of a tile comes to lie if parts lie one after the other
//
// A tile in shared memory, for rows of 2 words and 4 partitions:
//
//   rows   | row 0 | row 1 | row 2 | row 3 | row 4 |    as they came
//   order  | 2: 1 | 0: 2 | 4: 2 | 1: 3 | 3: 3 |         by place: row, and its partition
//   start  | 0 | 0 | 1 | 3 |                            by partition: the place of its first row
//
// Rows are written in the order of places, so that neighbouring lanes write
// neighbouring words of a part. The rows themselves are moved once, on this way out:
// only their numbers are ordered.
#pragma once

#include "device.cuh"
#include "ega.cuh"
#include "scan.cuh"

// Most partitions of a level, in bits: more parts than that of a tile are shorter
// than what memory is written in.
constexpr uint32_t SCATTER_MOST_BITS = 11;

// Rows of a tile that one thread takes the hash of, at most: they are held in
// registers between two barriers.
constexpr uint32_t SCATTER_THREAD_ROWS = 8;

// Partitions that one thread has to do with at most: a block has 512 threads or more.
constexpr uint32_t SCATTER_THREAD_PARTS = 4;

// ScatterRows is rows and how they are divided.
struct ScatterRows {
  const uint64_t* words;  // row r is the words from r * stride on
  uint32_t count;
  uint32_t stride;
  uint32_t hashed;  // 1: word 0 is the hash; 0: it is a key of one word
  uint32_t skip;    // hash bits that the levels before have spent, at most 63
  uint32_t bits;    // of the hash that choose the partition, at most SCATTER_MOST_BITS
  uint32_t most;    // rows of a tile, at most SCATTER_THREAD_ROWS for each thread of a block
};

// ScatterLevel is the segments that a launch divides, and how.
struct ScatterLevel {
  ScatterRows rows;
  const uint32_t* from;  // segments + 1: segment s is the rows from[s] to from[s + 1]
  uint32_t* tiles;       // segments + 1: how many tiles the segments before have
  uint32_t* next;        // segments << bits: rows of a partition, then where the next part goes
  uint32_t segments;
};

// Two words that are read and written at once.
typedef uint64_t RowPair __attribute__((vector_size(16)));

// scatter_partition is the partition of a row by its first word (HASH-BITS). By way of
// the upper half, since a shift by 64 is none.
__device__ __forceinline__ uint32_t scatter_partition(const ScatterRows& rows, uint64_t word) {
  uint64_t hash = rows.hashed != 0 ? word : ega_mix(EGA_SEED, word);
  uint64_t top = hash << rows.skip >> 32;
  return uint32_t(top >> (32 - rows.bits));
}

// scatter_add counts the lanes of a full warp in the counters of their partitions,
// in shared memory, and returns how many rows of its partition were there before
// each. Lanes without a row call too, with `there` false.
//
// Lanes with the partition of the first of them are counted by one atomic: when most
// rows are of one partition, 32 atomics on one word would take turns. Of the other
// partitions none then has many lanes, or another one comes first in most warps.
__device__ __forceinline__ uint32_t scatter_add(uint32_t* counters, uint32_t partition, bool there) {
  uint32_t rows = __ballot_sync(FULL_MASK, there);
  uint32_t first = rows == 0 ? 0 : __ffs(rows) - 1;
  uint32_t shared = __shfl_sync(FULL_MASK, partition, first);
  bool same = there && partition == shared;
  uint32_t peers = __ballot_sync(FULL_MASK, same);
  uint32_t before = 0;
  if (lane_id() == first) {
    if (there) before = atomicAdd(counters + partition, uint32_t(__popc(peers)));
  } else if (there && !same) {
    before = atomicAdd(counters + partition, 1u);
  }
  uint32_t firsts = __shfl_sync(FULL_MASK, before, first);
  return same ? firsts + __popc(peers & lanes_below()) : before;
}

// scatter_zero sets n words to 0, by all threads of a block.
__device__ __forceinline__ void scatter_zero(uint32_t* words, uint32_t n) {
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) words[i] = 0;
}

// scatter_start turns counters of partitions, in shared memory, into the places of their first
// rows. The thread that has a partition calls ask(partition, count), unless count is 0, which asks
// device memory for something, and later tell(partition, count, start, answer). Returns the sum of
// all counts. All threads of a block call; begins with a barrier behind the counting, and has one
// behind it for whoever reads start or what was told.
//
// A thread has neighbouring partitions, as their sum is what the scan needs. It asks for all of
// them before it needs an answer, so that one latency is waited for, and that while the block
// scans.
template <typename Ask, typename Tell>
__device__ __forceinline__ uint32_t scatter_start(uint32_t* counters, uint32_t partitions, uint32_t* scratch, Ask ask,
                                                  Tell tell) {
  uint32_t share = (partitions + blockDim.x - 1) / blockDim.x;
  uint32_t from = threadIdx.x * share;
  decltype(ask(0u, 0u)) answers[SCATTER_THREAD_PARTS];
  uint32_t counts[SCATTER_THREAD_PARTS];
  uint32_t sum = 0, total;
  __syncthreads();
#pragma unroll
  for (uint32_t k = 0; k < SCATTER_THREAD_PARTS; k++) {
    counts[k] = k < share && from + k < partitions ? counters[from + k] : 0;
    answers[k] = counts[k] == 0 ? 0 : ask(from + k, counts[k]);
    sum += counts[k];
  }
  uint32_t start = block_sum_before(sum, scratch, total);
#pragma unroll
  for (uint32_t k = 0; k < SCATTER_THREAD_PARTS; k++) {
    if (k >= share || from + k >= partitions) continue;
    counters[from + k] = start;
    tell(from + k, counts[k], start, answers[k]);
    start += counts[k];
  }
  __syncthreads();
  return total;
}

// scatter_order fills `order` for those of the n rows of a tile in shared memory for
// which there(row) says so: counts them, calls scatter_start, and writes each row's number and
// partition to its place. The counters are 0 before. Returns how many rows there are.
// Ends with a barrier behind all that.
template <typename There, typename Ask, typename Tell>
__device__ __forceinline__ uint32_t scatter_order(const ScatterRows& rows, const uint64_t* tile, uint32_t n, uint32_t* order,
                                                  uint32_t* counters, uint32_t* scratch, There there, Ask ask,
                                                  Tell tell) {
  constexpr uint32_t NONE = 0xffffffff;
  uint32_t ranks[SCATTER_THREAD_ROWS];  // partition << 16 | rows of it before
#pragma unroll
  for (uint32_t k = 0; k < SCATTER_THREAD_ROWS; k++) {
    uint32_t r = k * blockDim.x + threadIdx.x;
    ranks[k] = NONE;
    if (k * blockDim.x >= n) continue;
    bool counts = r < n && there(r);
    uint32_t part = counts ? scatter_partition(rows, tile[r * rows.stride]) : 0;
    uint32_t rank = scatter_add(counters, part, counts);
    if (counts) ranks[k] = part << 16 | rank;
  }
  uint32_t all = scatter_start(counters, 1u << rows.bits, scratch, ask, tell);
#pragma unroll
  for (uint32_t k = 0; k < SCATTER_THREAD_ROWS; k++) {
    uint32_t r = k * blockDim.x + threadIdx.x;
    if (ranks[k] != NONE) order[counters[ranks[k] >> 16] + (ranks[k] & 0xffff)] = r | (ranks[k] & 0xffff0000);
  }
  __syncthreads();
  return all;
}

// The row and the partition that an entry of `order` stands for: the row has 16 bits, so that a
// tile has 2^16 rows at most.
__device__ __forceinline__ uint32_t order_row(uint32_t entry) { return entry & 0xffff; }
__device__ __forceinline__ uint32_t order_partition(uint32_t entry) { return entry >> 16; }

// scatter_copy copies n units to shared memory, four at a time, so that four reads of a thread are
// under way. All threads of a block share it; who reads them waits at a barrier.
template <typename Unit>
__device__ __forceinline__ void scatter_copy(Unit* to, const Unit* from, uint32_t n) {
  uint32_t i = threadIdx.x;
  for (; i + 3 * blockDim.x < n; i += 4 * blockDim.x) {
    Unit a = from[i], b = from[i + blockDim.x], c = from[i + 2 * blockDim.x], d = from[i + 3 * blockDim.x];
    to[i] = a;
    to[i + blockDim.x] = b;
    to[i + 2 * blockDim.x] = c;
    to[i + 3 * blockDim.x] = d;
  }
  for (; i < n; i += blockDim.x) to[i] = from[i];
}

// ScatterDivisor divides by the units of a row without a division: a number below
// 2^24 times 2^32/d, rounded up, is wrong by less than 1/d (Granlund and Montgomery 1994).
struct ScatterDivisor {
  uint32_t d, reciprocal;
  __device__ __forceinline__ explicit ScatterDivisor(uint32_t d) : d(d), reciprocal(0xffffffffu / d + 1) {}
  __device__ __forceinline__ uint32_t of(uint32_t n) const { return d == 1 ? n : __umulhi(n, reciprocal); }
};
