// Decompression of Snappy pages (snappy.cuh), a block of threads a page.
//
// Walking from tag to tag takes a thread some 100 cycles each, and a copy may need what the copy before it makes. Here both
// are done by pointer jumping: the block takes a window of compressed bytes after the other and
//
//  1. loads it into shared memory;
//  2. finds its tags (chain.cuh): the first SNAPPY_THREADS elements that lie within the window as a whole. The next window
//     begins behind them;
//  3. reads an element a thread and adds up what they come to, so that each knows where its bytes go;
//  4. makes the output in pieces. An origin of 16 bits a byte says what a byte is (SnappyOrigin): known, being of a literal or
//     before the piece; or equal to an earlier byte of the piece;
//  5. follows the origins: each thread replaces the origins of its bytes by those that they name until all are known. The
//     others do so at the same time, so that the way doubles with each step: a byte that is d copies away from a known one
//     takes some log2(d) of them;
//  6. writes the piece.
//
// A literal longer than SNAPPY_LONG is not looked at: it ends the window before it, and begins the next one, which is then
// no window but a copy of the literal by the block. That is most of what a column of doubles comes to.
//
// Invariants:
//
//   BEHIND   Output before a piece is complete, and all threads see it (the barrier behind phase 6).
//   EARLIER  An origin that is not known names a byte before its own. So following ends, in any order and without waiting.
//   INSIDE   Elements are checked before they are followed: an element is within the block, and a copy within the output
//            (WITHIN of parquet.cuh).
//
// Barriers: one behind 1, three in 2, two in 3, one behind 4, one behind 6; in each window of some 4 KiB, whatever there
// is in it. Shared memory: 39 KiB, static.
//
// Cost, of codes of 12 characters in front of which their length is, 250,000 elements in 2 MB (counted in the source; a
// multiprocessor starts 128 instructions of threads a cycle): 10 instructions a byte for phases 1 to 3, 8 for 4, 50 for 5 (8
// steps), 2 for 6. Phase 5 is bound by the banks of shared memory: some 10 accesses of a warp for 128 bytes and step, which
// is a cycle a byte.
#include "device.cuh"

#include "block_copy.cuh"
#include "chain.cuh"
#include "parquet.cuh"
#include "scan.cuh"
#include "snappy.cuh"

// The sizes are guesses. There are few pages at a time, so that a block is as large as can be; a window of strings has about
// as many elements as there are threads; a piece holds what they come to.
constexpr uint32_t SNAPPY_THREADS = 1024;
constexpr uint32_t SNAPPY_SEGMENTS = 4;
constexpr uint32_t SNAPPY_WINDOW = SNAPPY_THREADS * SNAPPY_SEGMENTS;
constexpr uint32_t SNAPPY_PIECE = 16 << 10;
constexpr uint32_t SNAPPY_LONG = 1024;  // bytes of an element, at most SNAPPY_WINDOW
constexpr uint32_t SNAPPY_SHORT = 16;   // bytes that one thread writes the origins of; of more a warp does

// An origin: SNAPPY_KNOWN + the byte, or the place of another origin, which is less than SNAPPY_KNOWN.
using SnappyOrigin = uint16_t;
constexpr uint32_t SNAPPY_KNOWN = 0x8000;

// SnappyVector is what is loaded at once: 16 bytes of anything.
struct __attribute__((may_alias, aligned(16))) SnappyVector {
  uint64_t words[2];
};

// SnappyQuad is the origins of four bytes.
typedef uint64_t __attribute__((may_alias)) SnappyQuad;

// SnappyWord is four bytes of output.
typedef uint32_t __attribute__((may_alias)) SnappyWord;

// SnappyShared is the shared memory of a block.
struct SnappyShared {
  alignas(16) uint8_t window[SNAPPY_WINDOW + 32];  // begins up to 15 bytes late; a tag at the end is read as if whole
  union {
    uint16_t exits[SNAPPY_WINDOW];                      // phase 2
    alignas(8) SnappyOrigin origins[SNAPPY_PIECE + 4];  // phases 4 to 6
  };
  uint16_t tags[SNAPPY_THREADS];
  uint32_t sums[SCAN_SCRATCH];
  uint32_t consumed;  // bytes of the elements of the window
  uint32_t stopped;
  uint32_t damaged;
};

// SnappyOutput is where a page goes.
struct SnappyOutput {
  uint8_t* bytes;
  uint32_t size;
  uint32_t done;  // bytes that are there (BEHIND)
};

// SnappyPiece is a piece of the output of a window: the bytes `begin` to `end`, counted from the window's first. The origin
// of byte o is at o - begin + skew, so that four origins next to each other, at a multiple of 4, are an aligned word of
// output.
struct SnappyPiece {
  uint8_t* window;  // where the window's output begins
  uint32_t begin, end, skew;
};

// SnappySpan is the part of an element in a piece: the output bytes lo to hi, counted from the window's first. Those before
// mid are bytes in memory, byte o the one at o + delta (modulo 2^32) of the window or, of a copy, of the output. Those from
// mid on are equal to the one `offset` before, which is in the piece.
struct SnappySpan {
  uint32_t lo, mid, hi;
  uint32_t delta;
  uint32_t offset;  // 0: a literal, whose mid is hi
};

// SnappyNext is the chain of a window: where an element ends that begins at p. It ends with the last one that the limit
// allows, or with one that is long or not within the limit.
struct SnappyNext {
  const uint8_t* window;
  uint32_t limit;

  __device__ __forceinline__ bool takes(uint32_t p, uint32_t bytes) const {
    return bytes <= limit - p && bytes <= SNAPPY_LONG;
  }
  __device__ __forceinline__ uint32_t operator()(uint32_t p) const {
    if (p >= limit) return CHAIN_END;
    const uint32_t bytes = snappy_element(window + p).bytes();
    return takes(p, bytes) && p + bytes < limit ? p + bytes : CHAIN_END;
  }
};

// snappy_load is phase 1: n bytes, by the aligned vectors that they lie in. It returns where the first one is.
static __device__ __forceinline__ const uint8_t* snappy_load(SnappyShared& shared, const uint8_t* from, uint32_t n) {
  const uint32_t skew = reinterpret_cast<uintptr_t>(from) % sizeof(SnappyVector);
  const SnappyVector* source = reinterpret_cast<const SnappyVector*>(from - skew);
  SnappyVector* target = reinterpret_cast<SnappyVector*>(shared.window);
  for (uint32_t i = threadIdx.x; i * sizeof(SnappyVector) < skew + n; i += SNAPPY_THREADS) target[i] = source[i];
  return shared.window + skew;
}

// snappy_span is the part in a piece of the element that begins with byte `start` of the window's output.
static __device__ __forceinline__ SnappySpan snappy_span(const SnappyElement& element, uint32_t tag, uint32_t start,
                                                         uint32_t done, const SnappyPiece& piece) {
  SnappySpan span;
  const uint32_t end = start + element.length;
  span.lo = start > piece.begin ? start : piece.begin;
  span.hi = end < piece.end ? end : piece.end;
  if (element.literal) {
    span.mid = span.hi;
    span.delta = tag + element.header - start;
    span.offset = 0;
    return span;
  }
  const uint32_t inside = piece.begin + element.offset;
  span.mid = inside < span.lo ? span.lo : inside < span.hi ? inside : span.hi;
  span.delta = done - element.offset;
  span.offset = element.offset;
  return span;
}

// snappy_mark writes the origins of every stride-th byte of a span, from the first-th on. Bytes in memory are loaded
// several at a time, since they may come from far away.
static __device__ __forceinline__ void snappy_mark(SnappyOrigin* origins, const SnappySpan& span, const uint8_t* source,
                                                   const SnappyPiece& piece, uint32_t first, uint32_t stride) {
  const uint32_t place = piece.skew - piece.begin;
  for (uint32_t o = span.lo + first; o < span.mid; o += 4 * stride) {
    uint8_t bytes[4];
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
      if (o + k * stride < span.mid) bytes[k] = source[o + k * stride + span.delta];
    }
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
      if (o + k * stride < span.mid) origins[place + o + k * stride] = static_cast<SnappyOrigin>(SNAPPY_KNOWN | bytes[k]);
    }
  }
  for (uint32_t o = span.mid + first; o < span.hi; o += stride) {
    origins[place + o] = static_cast<SnappyOrigin>(place + o - span.offset);
  }
}

// snappy_mark_all is phase 4, for a span a thread: each marks its own if it is short, then the warp marks the others. A
// span may be empty.
static __device__ __forceinline__ void snappy_mark_all(SnappyShared& shared, const SnappySpan& own, const uint8_t* window,
                                                       const uint8_t* output, const SnappyPiece& piece) {
  const bool some = own.lo < own.hi, brief = some && own.hi - own.lo <= SNAPPY_SHORT;
  if (brief) snappy_mark(shared.origins, own, own.offset == 0 ? window : output, piece, 0, 1);
  for (uint32_t rest = __ballot_sync(FULL_MASK, some && !brief); rest != 0; rest &= rest - 1) {
    const uint32_t lane = __ffs(rest) - 1;
    SnappySpan span;
    span.lo = __shfl_sync(FULL_MASK, own.lo, lane);
    span.mid = __shfl_sync(FULL_MASK, own.mid, lane);
    span.hi = __shfl_sync(FULL_MASK, own.hi, lane);
    span.delta = __shfl_sync(FULL_MASK, own.delta, lane);
    span.offset = __shfl_sync(FULL_MASK, own.offset, lane);
    snappy_mark(shared.origins, span, span.offset == 0 ? window : output, piece, lane_id(), warpSize);
  }
}

// snappy_follow is phase 5 for the four bytes of a quad, which become known. Origins that others are about to replace are
// read as they come: whichever it is, it is the same byte in the end (EARLIER). Only this thread writes the quad.
static __device__ __forceinline__ uint32_t snappy_follow(SnappyOrigin* origins, uint32_t quad) {
  SnappyQuad* all = reinterpret_cast<SnappyQuad*>(origins) + quad;
  uint64_t packed = *all;
  constexpr uint64_t known = SNAPPY_KNOWN * uint64_t(0x0001000100010001);
  while ((packed & known) != known) {
    uint64_t next = 0;
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
      uint32_t origin = packed >> (16 * k) & 0xffff;
      if (origin < SNAPPY_KNOWN) origin = static_cast<volatile SnappyOrigin*>(origins)[origin];
      next |= static_cast<uint64_t>(origin) << (16 * k);
    }
    *all = packed = next;
  }
  return (packed & 0xff) | (packed >> 8 & 0xff00) | (packed >> 16 & 0xff0000) | (packed >> 24 & 0xff000000);
}

// snappy_write is phases 5 and 6. The first and the last quad may be of the piece only in part: what is in their other
// origins is nothing, and is made known first.
static __device__ __forceinline__ void snappy_write(SnappyShared& shared, const SnappyPiece& piece) {
  const uint32_t end = piece.skew + piece.end - piece.begin;
  uint8_t* bytes = piece.window + piece.begin - piece.skew;
  for (uint32_t i = threadIdx.x * 4; i < end; i += 4 * SNAPPY_THREADS) {
    const bool whole = i >= piece.skew && i + 4 <= end;
    for (uint32_t k = i; !whole && k < i + 4; k++) {
      if (k < piece.skew || k >= end) shared.origins[k] = SNAPPY_KNOWN;
    }
    const uint32_t word = snappy_follow(shared.origins, i / 4);
    if (whole) {
      *reinterpret_cast<SnappyWord*>(bytes + i) = word;
      continue;
    }
    for (uint32_t k = i; k < i + 4; k++) {
      if (k >= piece.skew && k < end) bytes[k] = static_cast<uint8_t>(word >> (8 * (k - i)));
    }
  }
}

// snappy_window is phases 2 to 6 for the first `limit` bytes of the window, whose first element lies within them and is
// not long. It adds to output.done. false: the block is damaged; true: shared.consumed bytes of the window are done.
static __device__ __forceinline__ bool snappy_window(SnappyShared& shared, const uint8_t* window, uint32_t limit,
                                                     SnappyOutput& output) {
  const SnappyNext next{window, limit};
  uint32_t count = chain_find<SNAPPY_SEGMENTS, 4>(next, shared.exits, shared.sums, shared.tags, SNAPPY_THREADS);
  if (count > SNAPPY_THREADS) count = SNAPPY_THREADS;
  uint32_t tag = 0;
  SnappyElement element{0, 0, 0, true};
  if (threadIdx.x < count) {
    tag = shared.tags[threadIdx.x];
    element = snappy_element(window + tag);
    if (!next.takes(tag, element.bytes())) element = {0, 0, 0, true};  // the last one: the next window's
    if (threadIdx.x == count - 1) shared.consumed = tag + element.bytes();
  }
  uint32_t total;
  const uint32_t start = block_sum_before(element.length, shared.sums, total);
  if (total > output.size - output.done) return false;
  if (!element.literal && (element.offset == 0 || element.offset > output.done + start)) {
    shared.damaged = 1;
    element.length = 0;
  }
  uint8_t* bytes = output.bytes + output.done;
  for (uint32_t begin = 0; begin < total; begin += SNAPPY_PIECE) {
    SnappyPiece piece{bytes, begin, total - begin < SNAPPY_PIECE ? total : begin + SNAPPY_PIECE, 0};
    piece.skew = reinterpret_cast<uintptr_t>(bytes + begin) % 4;
    snappy_mark_all(shared, snappy_span(element, tag, start, output.done, piece), window, output.bytes, piece);
    __syncthreads();
    if (shared.damaged != 0) return false;
    snappy_write(shared, piece);
    __syncthreads();
  }
  output.done += total;
  return true;
}

// snappy_expand decompresses a Snappy block of n bytes, which comes to size bytes exactly. All threads of the block call.
// false: it is damaged; all threads are told the same.
static __device__ bool snappy_expand(SnappyShared& shared, const uint8_t* block, uint32_t n, uint8_t* bytes, uint32_t size) {
  uint64_t promised;
  uint32_t at = snappy_size(block, n, promised);
  if (at == 0 || promised != size) return false;
  SnappyOutput output{bytes, size, 0};
  while (at < n) {
    const uint32_t left = n - at, limit = left < SNAPPY_WINDOW ? left : SNAPPY_WINDOW;
    const uint8_t* window = snappy_load(shared, block + at, limit);
    __syncthreads();
    const SnappyElement first = snappy_element(window);
    if (first.bytes() > left) return false;
    if (first.bytes() > SNAPPY_LONG) {  // a literal
      if (first.length > size - output.done) return false;
      block_copy(bytes + output.done, block + at + first.header, first.length);
      output.done += first.length;
      at += first.bytes();
      __syncthreads();
      continue;
    }
    if (!snappy_window(shared, window, limit, output)) return false;
    at += shared.consumed;
  }
  return output.done == size;
}

// parquet_snappy_page expands a page; the levels of a v2 page are in front, as they are.
static __device__ __forceinline__ bool parquet_snappy_page(SnappyShared& shared, const uint8_t* parcel, uint8_t* work,
                                                           const ParquetPage& page) {
  const uint32_t levels = page.levels == PARQUET_SIZED_LEVELS ? 0 : page.levels;
  if (page.bytes > SNAPPY_LIMIT || page.size > SNAPPY_LIMIT || levels > page.bytes || levels > page.size) return false;
  const uint8_t* from = parcel + page.at;
  uint8_t* to = work + page.expanded;
  block_copy(to, from, levels);
  return snappy_expand(shared, from + levels, page.bytes - levels, to + levels, page.size - levels);
}

// Expands the n pages that are compressed to their places in the work memory. Threads a block: SNAPPY_THREADS; any number
// of blocks, which take pages in turn. A page that is damaged stops the parcel (PARQUET_STOP_DAMAGED): what is in its room
// then means nothing, and the block leaves.
extern "C" __global__ void __launch_bounds__(SNAPPY_THREADS)
    parquet_snappy_expand(const uint8_t* parcel, uint8_t* work, const ParquetPage* pages, uint32_t n, uint64_t* stop) {
  __shared__ SnappyShared shared;
  if (threadIdx.x == 0) shared.damaged = 0;
  if (parquet_stopped(stop, &shared.stopped)) return;
  for (uint32_t i = blockIdx.x; i < n; i += gridDim.x) {
    if (pages[i].snappy == 0 || parquet_snappy_page(shared, parcel, work, pages[i])) continue;
    if (threadIdx.x == 0) parquet_stop(stop, PARQUET_STOP_DAMAGED);
    return;
  }
}
