// The output of elements: phases 2 to 4 of a batch (parquet_snappy.cu).
//
// An origin of 16 bits a byte says what a byte of a piece is: known, being of a literal or of the
// fragment before the piece; far, being equal to a byte of a fragment before, which its source
// names; or equal to an earlier byte of the piece. Following them (pointer jumping over bytes)
// makes all of them known or far.
//
// Far bytes are made known when all fragments are expanded (parquet_snappy_join, SOURCE-BACK). A
// fragment has sources from the first piece on that has a far byte (SnappyPage.firsts).
//
// Invariants:
//
//   EARLIER      An origin that is neither known nor far names a byte before its own. So following
//                ends, in any order and without waiting.
//   SOURCE-BACK  A source is of a fragment before that of its byte. So going from source to source
//                ends.
#pragma once

#include "block_copy.cuh"
#include "scan.cuh"
#include "snappy_page.cuh"

constexpr uint32_t SNAPPY_THREADS = 1024;
constexpr uint32_t SNAPPY_PIECE = (16 << 10) - 16;
constexpr uint32_t SNAPPY_SHORT = 16;  // bytes that one thread writes the origins of; of more a warp does

// An origin: SNAPPY_KNOWN + the byte; SNAPPY_AWAY + the place of a byte of the piece with the same
// source, which was the first to have it; or the place of another origin. Places are less than
// SNAPPY_AWAY.
using SnappyOrigin = uint16_t;
constexpr uint32_t SNAPPY_KNOWN = 0x8000;
constexpr uint32_t SNAPPY_AWAY = 0x4000;
static_assert(SNAPPY_PIECE + 4 <= SNAPPY_AWAY, "places of a piece");

// SnappyTwo is the origins of two bytes, SnappyQuad those of four, SnappyWord these bytes.
typedef uint32_t __attribute__((may_alias)) SnappyTwo;
typedef uint64_t __attribute__((may_alias)) SnappyQuad;
typedef uint32_t __attribute__((may_alias)) SnappyWord;

// SnappyPiece is a piece of the output, the bytes `begin` to `end` of the page. The origin of byte
// o is at o - begin + skew, so that four origins next to each other, from a multiple of 4 on, are
// an aligned word of output.
struct SnappyPiece {
  uint32_t begin, end, skew;
  SnappyOrigin* origins;  // SNAPPY_PIECE + 4, shared memory, aligned to 8
  uint32_t fragment;      // the first byte of its fragment
  uint32_t* first;        // the first byte of the fragment that has a source, in shared memory; SNAPPY_OWN: none has

  __device__ __forceinline__ uint32_t place(uint32_t o) const { return o - begin + skew; }

  // The origins at an even place and the next.
  __device__ __forceinline__ SnappyTwo* pair(uint32_t place) const { return reinterpret_cast<SnappyTwo*>(origins) + place / 2; }

  // away is whether bytes before the piece, from `lo` to `hi`, may be of a fragment before, or
  // equal to one that is. What other threads make of `first` meanwhile, the begin of the piece,
  // does not matter here.
  __device__ __forceinline__ bool away(uint32_t lo, uint32_t hi) const { return lo < fragment || hi > ld_relaxed(first); }
};

// SnappySpan is the part of an element in a piece, the output bytes lo to hi. Those before mid are
// bytes in memory: byte o is source[o + delta], modulo 2^32. Those from mid on are equal to the one
// `offset` before, which is in the piece.
struct SnappySpan {
  uint32_t lo, mid, hi;
  uint32_t delta;
  uint32_t offset;  // 0: a literal
};

// snappy_span is the part in a piece of an element that lies at `tag` among the elements and begins
// with output byte `start`.
static __device__ __forceinline__ SnappySpan snappy_span(const SnappyElement& element, uint32_t tag, uint32_t start,
                                                         const SnappyPiece& piece) {
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
  span.delta = -element.offset;
  span.offset = element.offset;
  return span;
}

// snappy_source is what the bytes of a span are counted from.
static __device__ __forceinline__ const uint8_t* snappy_source(const SnappyPage& page, const SnappySpan& span) {
  return span.offset == 0 ? page.elements : page.output;
}

// snappy_mark_inside writes the origins of bytes of a span that are equal to others of the piece,
// two at a time.
static __device__ __forceinline__ void snappy_mark_inside(const SnappyPiece& piece, const SnappySpan& span) {
  if (span.mid >= span.hi) return;
  uint32_t place = piece.place(span.mid), n = span.hi - span.mid;
  if (place % 2 != 0) {
    piece.origins[place] = static_cast<SnappyOrigin>(place - span.offset);
    place++;
    n--;
  }
  for (; n >= 2; n -= 2, place += 2) *piece.pair(place) = (place - span.offset) * 0x10001 + 0x10000;
  if (n != 0) piece.origins[place] = static_cast<SnappyOrigin>(place - span.offset);
}

// snappy_mark_short writes the origins of a span of at most SNAPPY_SHORT bytes, two at a time.
// Bytes in memory lie in up to three aligned words, which are loaded at once; each holds a byte
// that is wanted.
static __device__ __forceinline__ void snappy_mark_short(const SnappyPage& page, const SnappyPiece& piece,
                                                         const SnappySpan& span) {
  if (span.lo < span.mid) {
    const uint8_t* from = snappy_source(page, span) + (span.lo + span.delta);
    const uint32_t ahead = reinterpret_cast<uintptr_t>(from) % 8, bits = ahead * 8, end = ahead + span.mid - span.lo;
    const CopyWord* words = reinterpret_cast<const CopyWord*>(from - ahead);
    const uint64_t first = words[0], second = end > 8 ? words[1] : 0, third = end > 16 ? words[2] : 0;
    uint64_t low = bits == 0 ? first : first >> bits | second << (64 - bits);
    uint64_t high = bits == 0 ? second : second >> bits | third << (64 - bits);
    uint32_t place = piece.place(span.lo), n = span.mid - span.lo;
    if (place % 2 != 0) {
      piece.origins[place++] = static_cast<SnappyOrigin>(SNAPPY_KNOWN | (low & 0xff));
      low = low >> 8 | high << 56;
      high >>= 8;
      n--;
    }
    for (; n >= 2; n -= 2, place += 2) {
      *piece.pair(place) = SNAPPY_KNOWN * 0x10001 | (low & 0xff) | (low & 0xff00) << 8;
      low = low >> 16 | high << 48;
      high >>= 16;
    }
    if (n != 0) piece.origins[place] = static_cast<SnappyOrigin>(SNAPPY_KNOWN | (low & 0xff));
  }
  snappy_mark_inside(piece, span);
}

// snappy_away is whether some bytes in memory of a span may be far.
static __device__ __forceinline__ bool snappy_away(const SnappyPiece& piece, const SnappySpan& span) {
  return span.offset != 0 && span.lo < span.mid && piece.away(span.lo + span.delta, span.mid + span.delta);
}

// snappy_mark_away writes the origin of byte o, which is equal to byte `from` before the piece.
static __device__ __forceinline__ void snappy_mark_away(const SnappyPage& page, const SnappyPiece& piece, uint32_t o,
                                                        uint32_t from) {
  const uint32_t place = piece.place(o);
  const uint32_t source = from < piece.fragment ? from : from >= ld_relaxed(piece.first) ? page.sources[from] : SNAPPY_OWN;
  if (source == SNAPPY_OWN) {
    piece.origins[place] = static_cast<SnappyOrigin>(SNAPPY_KNOWN | page.output[from]);
    return;
  }
  piece.origins[place] = static_cast<SnappyOrigin>(SNAPPY_AWAY | place);
  page.sources[o] = source;
  if (ld_relaxed(piece.first) > piece.begin) atomicMin(piece.first, piece.begin);
}

// snappy_mark_aways writes the origins of the bytes in memory of all spans that may have far ones
// (away); all lanes of a full warp call. Bytes of all spans are numbered, and lanes take them in
// turns: spans are short, and what they are equal to is read from far away.
static __device__ __forceinline__ void snappy_mark_aways(const SnappyPage& page, const SnappyPiece& piece,
                                                         const SnappySpan& own, bool away) {
  const uint32_t bytes = away ? own.mid - own.lo : 0;
  const uint32_t end = warp_sum_through(bytes), first = end - bytes, total = __shfl_sync(FULL_MASK, end, 31);
  for (uint32_t begin = 0; begin < total; begin += warpSize) {
    const uint32_t i = begin + lane_id();
    uint32_t lane = 0;  // the last whose first byte is not behind: those without bytes are passed over
#pragma unroll
    for (uint32_t step = 16; step != 0; step /= 2) {
      if (__shfl_sync(FULL_MASK, first, lane + step) <= i) lane += step;
    }
    const uint32_t lo = __shfl_sync(FULL_MASK, own.lo, lane), delta = __shfl_sync(FULL_MASK, own.delta, lane);
    const uint32_t o = lo + i - __shfl_sync(FULL_MASK, first, lane);
    if (i < total) snappy_mark_away(page, piece, o, o + delta);
  }
}

// snappy_mark_long writes the origins of a span that has no far bytes; all lanes of a full warp
// call.
static __device__ __forceinline__ void snappy_mark_long(const SnappyPage& page, const SnappyPiece& piece,
                                                        const SnappySpan& span) {
  const uint8_t* source = snappy_source(page, span);
  for (uint32_t o = span.lo + lane_id(); o < span.mid; o += warpSize) {
    piece.origins[piece.place(o)] = static_cast<SnappyOrigin>(SNAPPY_KNOWN | source[o + span.delta]);
  }
  for (uint32_t o = span.mid + lane_id(); o < span.hi; o += warpSize) {
    piece.origins[piece.place(o)] = static_cast<SnappyOrigin>(piece.place(o) - span.offset);
  }
}

// snappy_mark writes the origins of a span a thread, which may be empty; all lanes of a full warp
// call.
static __device__ __forceinline__ void snappy_mark(const SnappyPage& page, const SnappyPiece& piece, SnappySpan own) {
  const bool away = own.lo < own.hi && snappy_away(piece, own);
  if (__any_sync(FULL_MASK, away)) {
    snappy_mark_aways(page, piece, own, away);
    if (away) own.lo = own.mid;
  }
  const bool some = own.lo < own.hi, brief = some && own.hi - own.lo <= SNAPPY_SHORT;
  if (brief) snappy_mark_short(page, piece, own);
  for (uint32_t rest = __ballot_sync(FULL_MASK, some && !brief); rest != 0; rest &= rest - 1) {
    const uint32_t lane = __ffs(rest) - 1;
    SnappySpan span;
    span.lo = __shfl_sync(FULL_MASK, own.lo, lane);
    span.mid = __shfl_sync(FULL_MASK, own.mid, lane);
    span.hi = __shfl_sync(FULL_MASK, own.hi, lane);
    span.delta = __shfl_sync(FULL_MASK, own.delta, lane);
    span.offset = __shfl_sync(FULL_MASK, own.offset, lane);
    snappy_mark_long(page, piece, span);
  }
}

// snappy_follow returns the origins of a quad, each known or far. Each step replaces the others by
// those that they name; other threads do the same, so that the way doubles with each step. Origins
// that they are about to replace are read as they come: whichever it is, it is the same byte in the
// end (EARLIER). Only this thread writes the quad.
static __device__ __forceinline__ uint64_t snappy_follow(const SnappyPiece& piece, uint32_t quad) {
  constexpr uint64_t known = SNAPPY_KNOWN * uint64_t(0x0001000100010001);
  SnappyQuad* own = reinterpret_cast<SnappyQuad*>(piece.origins) + quad;
  uint64_t packed = *own;
  while (((packed | packed << 1) & known) != known) {  // SNAPPY_AWAY is the bit beside SNAPPY_KNOWN
    uint64_t next = 0;
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
      uint32_t origin = packed >> (16 * k) & 0xffff;
      if (origin < SNAPPY_AWAY) origin = static_cast<volatile SnappyOrigin*>(piece.origins)[origin];
      next |= static_cast<uint64_t>(origin) << (16 * k);
    }
    *own = packed = next;
  }
  return packed;
}

// snappy_write writes the bytes of a piece, those that are far with their sources; all threads of
// the block call. The first and the last quad may be of the piece only in part: what is in their
// other origins is nothing, and is made known first.
static __device__ __forceinline__ void snappy_write(const SnappyPage& page, const SnappyPiece& piece) {
  const uint32_t end = piece.place(piece.end);
  const bool sources = *piece.first <= piece.begin;
  uint8_t* bytes = page.output + piece.begin - piece.skew;
  for (uint32_t i = threadIdx.x * 4; i < end; i += 4 * blockDim.x) {
    const bool whole = i >= piece.skew && i + 4 <= end;
    for (uint32_t k = i; !whole && k < i + 4; k++) {
      if (k < piece.skew || k >= end) piece.origins[k] = SNAPPY_KNOWN;
    }
    const uint64_t packed = snappy_follow(piece, i / 4);
    for (uint32_t k = i; sources && k < i + 4; k++) {
      const uint32_t origin = packed >> (16 * (k - i)) & 0xffff, place = origin - SNAPPY_AWAY;
      if (k < piece.skew || k >= end || place == k) continue;  // the first that had its source has it
      page.sources[piece.begin + k - piece.skew] =
          origin >= SNAPPY_KNOWN ? SNAPPY_OWN : page.sources[piece.begin + place - piece.skew];
    }
    const uint32_t word = (packed & 0xff) | (packed >> 8 & 0xff00) | (packed >> 16 & 0xff0000) | (packed >> 24 & 0xff000000);
    if (whole) {
      *reinterpret_cast<SnappyWord*>(bytes + i) = word;
      continue;
    }
    for (uint32_t k = i; k < i + 4; k++) {
      if (k >= piece.skew && k < end) bytes[k] = static_cast<uint8_t>(word >> (8 * (k - i)));
    }
  }
}
