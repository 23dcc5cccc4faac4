// Sequences of a block of a Zstandard frame (RFC 8878, sections 3.1.1.3.2 and 3.1.1.4). One lane
// reads them, since where one ends is known when it has been read; another warp does what they say
// (zstd_output.cuh).
#pragma once

#include "scan.cuh"
#include "zstd_literals.cuh"

// ZstdSequence is `literals` literals, and behind them `match` bytes that are those `offset`
// before.
struct ZstdSequence {
  uint32_t literals, match, offset;
};

enum ZstdTable : uint32_t { ZSTD_LENGTHS, ZSTD_OFFSETS, ZSTD_MATCHES, ZSTD_TABLES };

constexpr uint32_t ZSTD_LENGTH_STATES = 1 << 9, ZSTD_OFFSET_STATES = 1 << 8;

// ZstdCoding is the tables of a frame, in shared memory, and how its next sequences are read.
struct ZstdCoding {
  ZstdState lengths[ZSTD_LENGTH_STATES];
  ZstdState offsets[ZSTD_OFFSET_STATES];
  ZstdState matches[ZSTD_LENGTH_STATES];
  ZstdOdds odds[ZSTD_TABLES];
  uint8_t logs[ZSTD_TABLES];
  bool known[ZSTD_TABLES];  // there is a table
  bool made[ZSTD_TABLES];   // it is to be made of the odds
  uint32_t recent[3];       // offsets, the last one first

  __device__ __forceinline__ ZstdState* states(uint32_t table) {
    return table == ZSTD_LENGTHS ? lengths : table == ZSTD_OFFSETS ? offsets : matches;
  }
};

// zstd_symbols is how many symbols a table may have. The CPU's decoder knows offsets of 30 bits.
static __device__ __forceinline__ uint32_t zstd_symbols(uint32_t table) {
  return table == ZSTD_LENGTHS ? 36 : table == ZSTD_OFFSETS ? 31 : 53;
}

// zstd_means sets what a symbol stands for: a length, or an offset and 3. A long length begins
// where those of the symbol before end.
static __device__ __forceinline__ void zstd_means(uint32_t table, uint32_t symbol, ZstdState& state) {
  if (table == ZSTD_OFFSETS) {
    state.base = 1u << symbol;
    state.extra = static_cast<uint8_t>(symbol);
    return;
  }
  const uint32_t plain = table == ZSTD_LENGTHS ? 16 : 32, least = table == ZSTD_LENGTHS ? 0 : 3;
  if (symbol < plain) {
    state.base = symbol + least;
    state.extra = 0;
    return;
  }
  uint32_t base = plain + least, extra = 0;
  for (uint32_t i = 0;; i++) {
    if (table == ZSTD_LENGTHS) {
      extra = i < 4 ? 1 : i < 8 ? i / 2 : i == 8 ? 4 : i - 3;  // 1 1 1 1 2 2 3 3 4 6 7 … 16
    } else {
      extra = i < 4 ? 1 : i < 10 ? i / 2 : i == 10 ? 5 : i - 4;  // 1 1 1 1 2 2 3 3 4 4 5 7 8 … 16
    }
    if (i == symbol - plain) break;
    base += 1u << extra;
  }
  state.base = base;
  state.extra = static_cast<uint8_t>(extra);
}

// zstd_usual is the predefined odds of a symbol, as packed here: a nibble each, 1 more.
static __device__ __forceinline__ uint64_t zstd_usual(uint32_t table, uint32_t word) {
  if (table == ZSTD_LENGTHS) return word == 0 ? 0x2223333333333345 : word == 1 ? 0x2222234333333333 : 0;
  if (table == ZSTD_OFFSETS) return word == 0 ? 0x2222222333222222 : 0x22222222;
  return word == 0 ? 0x2222222333333452 : word == 1 ? 0x2222222222222222 : word == 2 ? 0x0022222222222222 : 0;
}

// zstd_usual_odds is the predefined odds of a table.
static __device__ __forceinline__ void zstd_usual_odds(uint32_t table, ZstdOdds& odds) {
  odds.count = table == ZSTD_LENGTHS ? 36 : table == ZSTD_OFFSETS ? 29 : 53;
  odds.log = table == ZSTD_OFFSETS ? 5 : 6;
  for (uint32_t s = 0; s < odds.count; s++) {
    odds.of[s] = static_cast<int16_t>(static_cast<int32_t>(zstd_usual(table, s / 16) >> (s % 16 * 4) & 15) - 1);
  }
}

// zstd_codings reads how the sequences are coded, up to their stream; false: it makes no sense. For
// one thread.
static __device__ __forceinline__ bool zstd_codings(ZstdCoding& coding, ZstdSlice& in, uint32_t& count) {
  if (in.n < 1) return false;
  const uint32_t first = in.at[0], bytes = first < 128 ? 1 : first < 255 ? 2 : 3;
  if (in.n < bytes) return false;
  count = first < 128 ? first : first < 255 ? (first - 128) << 8 | in.at[1] : 0x7f00 + static_cast<uint32_t>(in.number(1, 2));
  in.skip(bytes);
  if (count == 0) return in.n == 0;
  if (in.n < 1 || (in.at[0] & 3) != 0) return false;
  const uint32_t modes = in.at[0];
  in.skip(1);
  for (uint32_t t = 0; t < ZSTD_TABLES; t++) {
    const uint32_t mode = modes >> (6 - 2 * t) & 3;
    coding.made[t] = mode == 0 || mode == 2;
    if (mode == 0) zstd_usual_odds(t, coding.odds[t]);
    if (mode == 1) {
      if (in.n < 1 || in.at[0] >= zstd_symbols(t)) return false;
      ZstdState state{0, 0, 0, 0};
      zstd_means(t, in.at[0], state);
      coding.states(t)[0] = state;
      coding.logs[t] = 0;
      in.skip(1);
    }
    if (mode == 2 && !zstd_odds(in, zstd_symbols(t), t == ZSTD_OFFSETS ? 8 : 9, coding.odds[t])) return false;
    if (mode == 3 && !coding.known[t]) return false;
    if (coding.made[t]) coding.logs[t] = coding.odds[t].log;
    coding.known[t] = true;
  }
  return true;
}

// zstd_make makes the tables whose odds were read. All lanes of a warp call. The barriers: behind
// the states, and behind what they stand for.
static __device__ __forceinline__ void zstd_make(ZstdCoding& coding) {
  const uint32_t lane = lane_id();
  if (lane < ZSTD_TABLES && coding.made[lane]) zstd_states(coding.odds[lane], coding.states(lane));
  __syncwarp();
  for (uint32_t t = 0; t < ZSTD_TABLES; t++) {
    if (!coding.made[t]) continue;
    ZstdState* states = coding.states(t);
    for (uint32_t i = lane; i < 1u << coding.logs[t]; i += warpSize) zstd_means(t, states[i].extra, states[i]);
  }
  __syncwarp();
}

// ZstdReader reads sequences, of one lane.
struct ZstdReader {
  ZstdBits bits;
  uint32_t length, offset, match;  // states
  uint32_t recent[3];

  // open begins; false: there is no stream.
  __device__ __forceinline__ bool open(const ZstdCoding& coding, const ZstdSlice& in) {
    if (!bits.open(in)) return false;
    length = bits.read(coding.logs[ZSTD_LENGTHS]);
    offset = bits.read(coding.logs[ZSTD_OFFSETS]);
    match = bits.read(coding.logs[ZSTD_MATCHES]);
    for (uint32_t i = 0; i < 3; i++) recent[i] = coding.recent[i];
    return bits.pos >= bits.begin;
  }

  // far is the offset that a value stands for, before so many literals; 0: none.
  __device__ __forceinline__ uint32_t far(uint32_t value, uint32_t literals) {
    uint32_t from = 2, to = value - 3;
    if (value <= 3) {
      from = value - (literals != 0);
      to = from < 3 ? recent[0] : recent[0] - 1;
      if (from == 1) to = recent[1];
      if (from == 2) to = recent[2];
      if (from == 0) return to;
    }
    if (from != 1) recent[2] = recent[1];
    recent[1] = recent[0];
    recent[0] = to;
    return to;
  }

  // next is the next sequence; false: its bits are not there, or it has no offset. Behind the last
  // one no states follow. All that is added to a sequence has 62 bits at most.
  __device__ __forceinline__ bool next(const ZstdCoding& coding, bool last, ZstdSequence& sequence) {
    const ZstdState l = coding.lengths[length], o = coding.offsets[offset], m = coding.matches[match];
    uint64_t v = bits.next();
    const uint32_t value = o.base + static_cast<uint32_t>(v >> 1 >> (63 - o.extra));
    v <<= o.extra;
    sequence.match = m.base + static_cast<uint32_t>(v >> 1 >> (63 - m.extra));
    v <<= m.extra;
    sequence.literals = l.base + static_cast<uint32_t>(v >> 1 >> (63 - l.extra));
    bits.skip(o.extra + m.extra + l.extra);
    sequence.offset = far(value, sequence.literals);
    if (!last) {
      v = bits.next();
      length = l.next + static_cast<uint32_t>(v >> 1 >> (63 - l.bits));
      v <<= l.bits;
      match = m.next + static_cast<uint32_t>(v >> 1 >> (63 - m.bits));
      v <<= m.bits;
      offset = o.next + static_cast<uint32_t>(v >> 1 >> (63 - o.bits));
      bits.skip(l.bits + m.bits + o.bits);
    }
    return bits.pos >= bits.begin && sequence.offset != 0;
  }
};
