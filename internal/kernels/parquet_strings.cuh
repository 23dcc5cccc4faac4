// PLAIN strings: each its length in 4 bytes, then its bytes. Only a string's end tells where the
// next one begins.
//
// EVEN. Most columns of strings hold codes of one length. So it is guessed first that all strings
// of a page have the length of the first one: then the place of each is known, and every thread
// checks the lengths of its own. If all are right, the guess is proven: the first string is where
// it is thought to be, and each one where the string before it ends. Else the page is walked.
//
// WALK (a block a page). A window of the page is cut into segments of 32 bytes, one a thread.
// Strings that the device takes have at most 15 bytes, so that from any place in a segment the next
// string begins at most 19 bytes further on, and the first one of the next segment in one of its
// first 19 bytes (ENTRIES). Three phases:
//
//   1. A thread finds, for each place of its segment, where the chain of strings from there leaves
//      the segment, and how many strings begin on the way: from the last place to the first, each
//      from what is known of a later place. The first ENTRIES places of it are a function from
//      entries to exits.
//   2. A lane for each entry follows the functions of the 32 segments of its warp, one after the
//      other; then one thread follows those of the warps from the entry of the window, and a lane
//      of each warp those of its segments again: each thread knows its entry, and how many strings
//      begin before.
//   3. A thread writes its strings, which it meets in order.
//
// A place from which no short string is whole within the page is BAD, and so is each from which the
// chain comes to one. If the chain of the page comes to one before its rows are over, that string
// is long, or the page damaged.
//
// Cost of a window of 16 KiB (counted in the source): phase 1 has 32 steps of some 50 cycles, phase
// 2 has 80 of 35, phase 3 some 3 strings a thread: 6,000 cycles, near to 5 GB/s a block. chain.cuh
// finds elements of any length, for half as much again in instructions: what is known of the
// lengths here is what makes functions of a segment small. Pages where strings may be longer are
// those of parquet_texts.cuh.
#pragma once

#include "parquet_bytes.cuh"
#include "parquet_cut.cuh"
#include "parquet_words.cuh"

constexpr uint32_t PARQUET_MAX_INLINE = 15;  // bytes of a string within a key

// parquet_string writes the words of the string of `size` bytes at p: its bytes, zeros, and its
// size in the last byte.
__device__ __forceinline__ void parquet_string(const ParquetArrays& arrays, uint32_t row, const uint8_t* p, uint32_t size) {
  const uint64_t lo = parquet_load(p, size < 8 ? size : 8);
  const uint64_t hi = parquet_load(p + 8, size < 8 ? 0 : size - 8) | uint64_t(size) << 56;
  arrays.put(0, row, lo);
  arrays.put(1, row, hi);
  arrays.put(2, row, parquet_hash_words(lo, hi));
}

// parquet_put_told writes what an output is that is told of a string of any size; false: it is its
// words.
__device__ __forceinline__ bool parquet_put_told(const ParquetJob& job, const ParquetOutput& output, const ParquetArrays& arrays,
                                                 uint32_t row, const uint8_t* p, uint32_t size) {
  if (output.form == PARQUET_LENGTH) {
    arrays.put(0, row, size);
  } else if (output.form == PARQUET_CHARACTERS) {
    int64_t characters;
    parquet_skip(p, size, size, characters);
    arrays.put(0, row, uint64_t(characters));
  } else if (output.form == PARQUET_MATCH) {
    arrays.put(0, row, parquet_matches(job.stop, job.patterns + output.pattern, p, size) ? 1 : 0);
  } else {
    return false;
  }
  return true;
}

// parquet_put_short writes what an output is of the string of `size` bytes at p, which is not long
// if its words are wanted.
__device__ __forceinline__ void parquet_put_short(const ParquetJob& job, const ParquetOutput& output, const ParquetArrays& arrays,
                                                  uint32_t row, const uint8_t* p, uint32_t size) {
  if (!parquet_put_told(job, output, arrays, row, p, size)) parquet_string(arrays, row, p, size);
}

// parquet_why_bad is why no short string is whole at place `at` of a page.
__device__ __forceinline__ ParquetStop parquet_why_bad(ParquetBytes values, uint32_t at) {
  if (values.size < 4 || at > values.size - 4) return PARQUET_STOP_DAMAGED;
  const uint32_t size = uint32_t(parquet_load(values.at + at, 4));
  return size > values.size - 4 - at ? PARQUET_STOP_DAMAGED : PARQUET_STOP_LONG;
}

// parquet_even_strings writes the strings of a thread, every threads'th from `thread` on, if they
// are of one length; else it leaves the page to a walk.
__device__ __forceinline__ void parquet_even_strings(const ParquetJob& job, ParquetTask* task, const ParquetOutput& output,
                                                     const ParquetArrays& arrays, ParquetBytes values, uint32_t rows,
                                                     uint32_t thread, uint32_t threads) {
  if (rows == 0) return;
  const uint64_t size = values.size < 4 ? 0 : parquet_load(values.at, 4);
  if (values.size < 4 || size > PARQUET_MAX_INLINE || size > values.size - 4) {
    return parquet_stop(job.stop, parquet_why_bad(values, 0));
  }
  bool even = rows * (size + 4) <= values.size;
  for (uint32_t row = thread; even && row < rows; row += threads) {
    const uint8_t* at = values.at + row * (size + 4);
    even = parquet_load(at, 4) == size;
    if (even) parquet_put_short(job, output, arrays, row, at + 4, uint32_t(size));
  }
  if (!even) st_relaxed(&task->walk, 1);
}

// Bytes of a segment, and places of it that the chain may enter it by.
constexpr uint32_t PARQUET_SEGMENT = 32;
constexpr uint32_t PARQUET_ENTRIES = 4 + PARQUET_MAX_INLINE;

// ParquetPath is what the chain does from a place on: where it leaves the segment (or warp, or
// window), counted from its end, or PARQUET_BAD; and how many strings begin before. 0 strings and
// place e at an end: entry e.
struct ParquetPath {
  uint16_t exit;
  uint16_t strings;
};
constexpr uint16_t PARQUET_BAD = 0xffff;

// ParquetWalk is the shared memory of a walk by THREADS threads.
template <uint32_t THREADS>
struct ParquetWalk {
  uint16_t paths[PARQUET_SEGMENT][THREADS];  // of each place of each segment: exit, or BAD_PLACE, and strings << 8
  ParquetPath warps[THREADS / warpSize][PARQUET_ENTRIES];  // of each entry
  ParquetPath warp_starts[THREADS / warpSize];             // entry, and strings of the window before
  ParquetPath starts[THREADS];
  ParquetPath end;  // of the window
  static constexpr uint32_t BAD_PLACE = 0xff;

  // through is the path that goes on with segment `segment`.
  __device__ __forceinline__ ParquetPath through(ParquetPath path, uint32_t segment) const {
    if (path.exit == PARQUET_BAD) return path;
    const uint32_t next = paths[path.exit][segment];
    const uint32_t exit = next & 0xff;
    return {exit == BAD_PLACE ? PARQUET_BAD : uint16_t(exit), uint16_t(path.strings + (next >> 8))};
  }
};

// parquet_paths is phase 1: the segment of the thread begins at place `from` of the values. The
// bytes that may be of a size are loaded once; behind the page they are zeros, and the strings from
// there not whole.
template <uint32_t THREADS>
__device__ __forceinline__ void parquet_paths(ParquetWalk<THREADS>& walk, ParquetBytes values, uint64_t from) {
  constexpr uint32_t WORDS = PARQUET_SEGMENT / 8 + 1;
  uint64_t words[WORDS];
#pragma unroll
  for (uint32_t w = 0; w < WORDS; w++) {
    const uint64_t at = from + 8 * w;
    const uint64_t left = at < values.size ? values.size - at : 0;
    words[w] = parquet_load(values.at + at, left < 8 ? uint32_t(left) : 8);
  }
#pragma unroll
  for (uint32_t place = PARQUET_SEGMENT; place-- > 0;) {
    const uint32_t shift = place % 8 * 8;
    uint64_t four = words[place / 8] >> shift;
    if (shift > 32) four |= words[place / 8 + 1] << (64 - shift);
    const uint32_t size = uint32_t(four);
    const uint32_t next = place + 4 + size;
    uint32_t path = ParquetWalk<THREADS>::BAD_PLACE;
    if (size <= PARQUET_MAX_INLINE && from + next <= values.size) {
      path = (next < PARQUET_SEGMENT ? walk.paths[next][threadIdx.x] : next - PARQUET_SEGMENT) + (1 << 8);
    }
    walk.paths[place][threadIdx.x] = uint16_t(path);
  }
}

// parquet_starts is phase 2, of a window that the chain enters at `entry`. Barriers: before
// functions of the thread's warp are read (of the warp alone), those of the warps, and their
// starts.
template <uint32_t THREADS>
__device__ __forceinline__ void parquet_starts(ParquetWalk<THREADS>& walk, uint32_t entry) {
  const uint32_t segments = warp_id() * warpSize;  // the first of the warp
  __syncwarp();
  if (lane_id() < PARQUET_ENTRIES) {
    ParquetPath path = {uint16_t(lane_id()), 0};
    for (uint32_t s = 0; s < warpSize; s++) path = walk.through(path, segments + s);
    walk.warps[warp_id()][lane_id()] = path;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ParquetPath path = {uint16_t(entry), 0};
    for (uint32_t w = 0; w < THREADS / warpSize; w++) {
      walk.warp_starts[w] = path;
      if (path.exit == PARQUET_BAD) continue;
      const ParquetPath next = walk.warps[w][path.exit];
      path = {next.exit, uint16_t(path.strings + next.strings)};
    }
    walk.end = path;
  }
  __syncthreads();
  if (lane_id() == 0) {
    ParquetPath path = walk.warp_starts[warp_id()];
    for (uint32_t s = 0; s < warpSize; s++) {
      walk.starts[segments + s] = path;
      path = walk.through(path, segments + s);
    }
  }
  __syncwarp();
}

// parquet_segment is phase 3: it writes the strings that begin in the thread's segment, the first
// of them of row `row`.
__device__ __forceinline__ void parquet_segment(const ParquetJob& job, const ParquetOutput& output, const ParquetArrays& arrays,
                                                ParquetBytes values, uint64_t from, uint32_t entry, uint64_t row, uint32_t rows) {
  for (uint32_t place = entry; place < PARQUET_SEGMENT && row < rows; row++) {
    const uint64_t at = from + place;
    const uint64_t size = at + 4 <= values.size ? parquet_load(values.at + at, 4) : PARQUET_MAX_INLINE + 1;
    if (size > PARQUET_MAX_INLINE || at + 4 + size > values.size) {
      return parquet_stop(job.stop, parquet_why_bad(values, uint32_t(at)));
    }
    parquet_put_short(job, output, arrays, uint32_t(row), values.at + at + 4, uint32_t(size));
    place += 4 + uint32_t(size);
  }
}

// parquet_walk_strings writes the strings of a page by a walk. All THREADS threads of the block
// call. Each window but the last moves the walk on by its size; the last one ends with the rows, or
// with a bad place, of which there is one before the page ends. No barrier is needed between
// windows: what the threads of other warps read of one is overwritten behind the first barrier of
// the next.
template <uint32_t THREADS>
__device__ __forceinline__ void parquet_walk_strings(ParquetWalk<THREADS>& walk, const ParquetJob& job, const ParquetOutput& output,
                                                     const ParquetArrays& arrays, ParquetBytes values, uint32_t rows) {
  uint64_t window = 0;
  uint32_t entry = 0;
  for (uint64_t row = 0; row < rows;) {
    const uint64_t from = window + threadIdx.x * PARQUET_SEGMENT;
    parquet_paths(walk, values, from);
    parquet_starts(walk, entry);
    const ParquetPath start = walk.starts[threadIdx.x];
    if (start.exit != PARQUET_BAD) {
      parquet_segment(job, output, arrays, values, from, start.exit, row + start.strings, rows);
    }
    const ParquetPath end = walk.end;
    if (end.exit == PARQUET_BAD) return;  // the same for all: the rows are over, or the job has been stopped
    row += end.strings;
    entry = end.exit;
    window += THREADS * PARQUET_SEGMENT;
  }
}
