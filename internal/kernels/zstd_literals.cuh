// Literals of a block of a Zstandard frame (RFC 8878, section 3.1.1.3.1): bytes as they are, a byte
// many times, or Huffman codes in one stream or four, which one lane or four read.
#pragma once

#include "zstd_fse.cuh"

constexpr uint32_t ZSTD_CODE_BITS = 11;
constexpr uint32_t ZSTD_WEIGHT_LOG = 6;

// ZstdCode is what the next bits begin with: a code of `bits` bits for a byte.
struct ZstdCode {
  uint8_t byte, bits;
};

// ZstdHuffman is the table of a frame, in shared memory. The rest is needed only to make it.
struct ZstdHuffman {
  ZstdCode codes[1 << ZSTD_CODE_BITS];
  ZstdState states[1 << ZSTD_WEIGHT_LOG];
  ZstdOdds odds;
  uint8_t weights[256];
  uint32_t starts[ZSTD_CODE_BITS + 1];  // where the codes of a weight begin
  uint32_t log;    // of the table; 0: there is none
  uint32_t count;  // of the weights, the last included
  uint32_t bytes;  // that they took in the block
};

// ZstdLiteralHead is what a block begins with.
struct ZstdLiteralHead {
  uint32_t kind;     // 0: as they are; 1: a byte many times; 2: Huffman codes behind their table; 3: the last table again
  uint32_t bytes;    // of the head
  uint32_t size;     // what they come to
  uint32_t packed;   // what they take behind the head
  uint32_t streams;  // 1 or 4
};

// zstd_literal_head reads it; false: it makes no sense.
static __device__ __forceinline__ bool zstd_literal_head(const ZstdSlice& block, ZstdLiteralHead& head) {
  if (block.n < 2) return false;
  const uint32_t format = block.at[0] >> 2 & 3;
  head.kind = block.at[0] & 3;
  head.streams = 1;
  if (head.kind < 2) {
    head.bytes = format == 1 ? 2 : format == 3 ? 3 : 1;
    head.size = static_cast<uint32_t>(block.number(0, head.bytes)) >> (head.bytes == 1 ? 3 : 4);
    head.packed = head.kind == 0 ? head.size : 1;
  } else {
    head.bytes = format < 2 ? 3 : format + 2;
    head.streams = format == 0 ? 1 : 4;
    const uint32_t bits = format < 2 ? 10 : format == 2 ? 14 : 18;
    const uint64_t sizes = block.number(0, head.bytes) >> 4;
    head.size = sizes & ((1u << bits) - 1);
    head.packed = static_cast<uint32_t>(sizes >> bits);
  }
  return head.bytes <= block.n && head.packed <= block.n - head.bytes && head.size <= ZSTD_BLOCK;
}

// zstd_packed_weights reads weights that two states of an FSE table give in turns; false: they make
// no sense. The stream ends where the next state would need bits and there are none.
static __device__ __forceinline__ bool zstd_packed_weights(ZstdHuffman& table, ZstdSlice in) {
  ZstdBits bits;
  if (!zstd_odds(in, ZSTD_CODE_BITS + 5, ZSTD_WEIGHT_LOG, table.odds) || !bits.open(in)) return false;
  const uint32_t log = table.odds.log;
  zstd_states(table.odds, table.states);
  uint32_t here = bits.read(log), there = bits.read(log), count = 0;
  while (bits.pos >= bits.begin && count < 254) {
    const ZstdState state = table.states[here];
    table.weights[count++] = state.extra;
    if (state.bits != 0 && bits.ended()) {
      table.weights[count++] = table.states[there].extra;
      table.count = count;
      return true;
    }
    here = there;
    there = state.next + bits.read(state.bits);
  }
  return false;
}

// zstd_weights reads the weights of a table, of all symbols but the last one, whose weight follows
// from the others; false: they make no sense. For one thread.
static __device__ __forceinline__ bool zstd_weights(ZstdHuffman& table, const ZstdSlice& in) {
  if (in.n < 2) return false;
  const uint32_t head = in.at[0];
  if (head < 128) {
    if (head >= in.n || !zstd_packed_weights(table, {in.at + 1, head})) return false;
    table.bytes = 1 + head;
  } else {
    table.count = head - 127;
    table.bytes = 1 + (table.count + 1) / 2;
    if (table.bytes > in.n) return false;
    for (uint32_t i = 0; i < table.count; i++) table.weights[i] = in.at[1 + i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
  }
  for (uint32_t w = 0; w <= ZSTD_CODE_BITS; w++) table.starts[w] = 0;
  uint32_t total = 0;
  for (uint32_t i = 0; i < table.count; i++) {
    const uint32_t w = table.weights[i];
    if (w > ZSTD_CODE_BITS) return false;
    table.starts[w]++;
    total += 1u << w >> 1;
  }
  if (total == 0 || total >= 1 << ZSTD_CODE_BITS) return false;
  const uint32_t log = 32 - __clz(total), rest = (1u << log) - total;
  if ((rest & (rest - 1)) != 0) return false;
  const uint32_t last = 32 - __clz(rest);
  table.weights[table.count++] = static_cast<uint8_t>(last);
  table.starts[last]++;
  if (table.starts[1] < 2 || table.starts[1] % 2 != 0) return false;
  table.log = log;
  uint32_t start = 0;
  for (uint32_t w = 1; w <= ZSTD_CODE_BITS; w++) {
    const uint32_t many = table.starts[w];
    table.starts[w] = start;
    start += many << (w - 1);
  }
  return true;
}

// zstd_table makes the table that `in` begins with; false: it makes no sense. All lanes of a warp
// call. The barriers: behind the weights; behind where each weight's codes are, which all lanes
// have read before it moves on; and behind the table.
static __device__ __forceinline__ bool zstd_table(ZstdHuffman& table, const ZstdSlice& in) {
  if (lane_id() == 0 && !zstd_weights(table, in)) table.log = 0;
  __syncwarp();
  const uint32_t log = table.log;
  if (log == 0) return false;
  for (uint32_t s = 0; s < table.count; s++) {
    const uint32_t w = table.weights[s];
    if (w == 0) continue;
    const uint32_t start = table.starts[w], n = 1u << (w - 1);
    __syncwarp();
    const ZstdCode code{static_cast<uint8_t>(s), static_cast<uint8_t>(log + 1 - w)};
    for (uint32_t i = lane_id(); i < n; i += warpSize) table.codes[start + i] = code;
    if (lane_id() == 0) table.starts[w] = start + n;
    __syncwarp();
  }
  __syncwarp();
  return true;
}

// ZSTD_TOGETHER codes are in the 64 bits that are looked at once, however long they are.
constexpr uint32_t ZSTD_TOGETHER = 64 / ZSTD_CODE_BITS;

// zstd_stream decodes n literals of a stream; false: it does not come to as many.
static __device__ __forceinline__ bool zstd_stream(const ZstdHuffman& table, const ZstdSlice& in, uint8_t* out, uint32_t n) {
  ZstdBits bits;
  if (!bits.open(in)) return false;
  const uint32_t away = 64 - table.log;
  for (uint32_t i = 0; i < n; i += ZSTD_TOGETHER) {
    uint64_t next = bits.next();
    uint32_t used = 0;
#pragma unroll
    for (uint32_t j = 0; j < ZSTD_TOGETHER; j++) {
      if (i + j >= n) break;
      const ZstdCode code = table.codes[next >> away];
      out[i + j] = code.byte;
      next <<= code.bits;
      used += code.bits;
    }
    bits.skip(used);
  }
  return bits.ended();
}

// zstd_streams decodes literals; false: they make no sense. All lanes of a warp call. The barrier
// is for the literals.
static __device__ __forceinline__ bool zstd_streams(const ZstdHuffman& table, ZstdSlice in, uint32_t streams, uint8_t* out,
                                                    uint32_t n) {
  bool good = true;
  const uint32_t lane = lane_id();
  if (streams == 1) {
    if (lane == 0) good = zstd_stream(table, in, out, n);
  } else {
    if (in.n < 10 || n < 6) return false;
    const uint32_t each = (n + 3) / 4;
    uint32_t from = 6;
    ZstdSlice own{in.at, 0};
    for (uint32_t i = 0; i < 4; i++) {
      const uint32_t bytes = i < 3 ? static_cast<uint32_t>(in.number(2 * i, 2)) : in.n - from;
      if (bytes > in.n - from) return false;
      if (i == lane) own = {in.at + from, bytes};
      from += bytes;
    }
    if (lane < 4) good = 3 * each < n && zstd_stream(table, own, out + lane * each, lane < 3 ? each : n - 3 * each);
  }
  __syncwarp();
  return __all_sync(FULL_MASK, good);
}

// zstd_literals makes the literals of a block, in `room` of ZSTD_BLOCK bytes if the block does not
// have them as they are; false: they make no sense. All lanes of a warp call. The barrier is for
// the literals.
static __device__ __forceinline__ bool zstd_literals(ZstdHuffman& table, const ZstdSlice& block, const ZstdLiteralHead& head,
                                                     uint8_t* room, ZstdSlice& literals) {
  ZstdSlice in{block.at + head.bytes, head.packed};
  literals = {head.kind == 0 ? in.at : room, head.size};
  if (head.kind == 0) return true;
  if (head.kind == 1) {
    const uint8_t byte = in.at[0];
    for (uint32_t i = lane_id(); i < head.size; i += warpSize) room[i] = byte;
    __syncwarp();
    return true;
  }
  if (head.kind == 2) {
    if (!zstd_table(table, in)) return false;
    in.skip(table.bytes);
  } else if (table.log == 0) {
    return false;
  }
  return zstd_streams(table, in, head.streams, room, head.size);
}
