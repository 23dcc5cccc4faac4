// What the sequences of a block of a Zstandard frame come to. A warp does so many sequences at a
// time as it has lanes. All their literals are copied first. Of the matches those can be copied
// whose source lies before the first one that is not: that one itself at least, in practice most of
// them.
//
// A match may reach into what it makes itself. Its bytes are then those between its source and its
// begin, over and over, so that no lane waits for what another one, or itself, has just written.
#pragma once

#include "zstd_sequences.cuh"

constexpr uint32_t ZSTD_SHORT = 32;  // bytes that a lane copies; longer ones are the work of the warp. Not measured

// ZstdTarget is where a frame goes, and how far it is.
struct ZstdTarget {
  uint8_t* output;
  uint32_t begin;  // of the frame
  uint32_t out;    // the next byte
  uint32_t end;    // of the page
};

// ZstdCopy is `n` bytes: those from `from` on, of which `period` are there, over and over.
struct ZstdCopy {
  uint8_t* to;
  const uint8_t* from;
  uint32_t period, n;
};

// zstd_copy_short does a copy. Eight loads are under way at once.
static __device__ __forceinline__ void zstd_copy_short(const ZstdCopy& copy) {
  uint32_t from = 0;
  for (uint32_t k = 0; k < copy.n; k += 8) {
    uint8_t bytes[8];
#pragma unroll
    for (uint32_t j = 0; j < 8; j++) {
      if (k + j < copy.n) bytes[j] = copy.from[from];
      from = from + 1 == copy.period ? 0 : from + 1;
    }
#pragma unroll
    for (uint32_t j = 0; j < 8; j++) {
      if (k + j < copy.n) copy.to[k + j] = bytes[j];
    }
  }
}

// zstd_copy_long does a copy that all lanes of a warp have.
static __device__ __forceinline__ void zstd_copy_long(const ZstdCopy& copy) {
  for (uint32_t k = lane_id(); k < copy.n; k += warpSize) copy.to[k] = copy.from[k < copy.period ? k : k % copy.period];
}

// zstd_copies does a copy a lane, of those that `have` one. All lanes of a warp call. The barrier
// is for the bytes.
static __device__ __forceinline__ void zstd_copies(const ZstdCopy& own, bool have) {
  const bool brief = own.n <= ZSTD_SHORT;
  if (have && brief) zstd_copy_short(own);
  for (uint32_t rest = __ballot_sync(FULL_MASK, have && !brief); rest != 0; rest &= rest - 1) {
    const uint32_t lane = __ffs(rest) - 1;
    ZstdCopy copy;
    copy.to = reinterpret_cast<uint8_t*>(__shfl_sync(FULL_MASK, reinterpret_cast<uint64_t>(own.to), lane));
    copy.from = reinterpret_cast<const uint8_t*>(__shfl_sync(FULL_MASK, reinterpret_cast<uint64_t>(own.from), lane));
    copy.period = __shfl_sync(FULL_MASK, own.period, lane);
    copy.n = __shfl_sync(FULL_MASK, own.n, lane);
    zstd_copy_long(copy);
  }
  __syncwarp();
}

// zstd_matches copies a match a lane, which begins at output byte `at`. All lanes of a warp call.
static __device__ __forceinline__ void zstd_matches(const ZstdTarget& target, const ZstdSequence& sequence, uint32_t at) {
  const uint32_t source = at - sequence.offset, n = sequence.match;
  const ZstdCopy copy{target.output + at, target.output + source, sequence.offset, n};
  const uint32_t end = source + (sequence.offset < n ? sequence.offset : n);
  bool pending = n != 0;
  for (uint32_t rest; (rest = __ballot_sync(FULL_MASK, pending)) != 0;) {
    const uint32_t done = __shfl_sync(FULL_MASK, at, __ffs(rest) - 1);
    const bool ready = pending && end <= done;
    zstd_copies(copy, ready);
    pending = pending && !ready;
  }
}

// zstd_run does what n sequences say, the next literals first; false: they reach beyond something
// (REACHED of parquet_zstd.cu). All lanes of a warp call.
static __device__ __forceinline__ bool zstd_run(const ZstdSequence* sequences, uint32_t n, const ZstdFrame& frame,
                                                ZstdTarget& target, uint32_t end, ZstdSlice& literals) {
  for (uint32_t first = 0; first < n; first += warpSize) {
    const uint32_t i = first + lane_id();
    const ZstdSequence own = i < n ? sequences[i] : ZstdSequence{0, 0, 0};
    const uint32_t literal_end = warp_sum_through(own.literals), match_end = warp_sum_through(own.literals + own.match);
    const uint32_t at = target.out + match_end - own.match;
    const bool good = literal_end <= literals.n && target.out + match_end <= end && own.offset <= at - target.begin &&
                      own.offset <= frame.window;
    if (!__all_sync(FULL_MASK, good)) return false;
    const uint32_t before = literal_end - own.literals;
    zstd_copies({target.output + at - own.literals, literals.at + before, own.literals, own.literals}, own.literals != 0);
    zstd_matches(target, own, at);
    literals.skip(__shfl_sync(FULL_MASK, literal_end, warpSize - 1));
    target.out += __shfl_sync(FULL_MASK, match_end, warpSize - 1);
  }
  return true;
}
