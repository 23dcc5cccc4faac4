// Frames of Zstandard (RFC 8878): their heads and blocks, and the bits in them.
//
// A frame is a head, blocks, and perhaps the low half of XXH64 of what they come to. A block is its
// bytes (raw), a byte many times (RLE), or compressed: literals (zstd_literals.cuh), and sequences
// (zstd_sequences.cuh), each of which says how many literals come next and what is repeated behind
// them. Codes of sequences, and the lengths of the codes of literals, are states of FSE tables
// (zstd_fse.cuh). Codes are read from the last bit of a stream to the first.
//
// What is refused beside what makes no sense, so that the CPU reads the page: dictionaries, and
// frames that are skipped. It is no less than what the CPU's decoder refuses (DECLINE of
// internal/decode), the content checksum included: klauspost/compress looks at it.
#pragma once

#include "device.cuh"

#include "parquet.cuh"

constexpr uint32_t ZSTD_MAGIC = 0xfd2fb528;
constexpr uint32_t ZSTD_BLOCK = 128 << 10;  // the most that a block has, and comes to

// A page with more bytes is refused: places in it have 31 bits.
constexpr uint32_t ZSTD_LIMIT = 1 << 30;

// ZstdWord is 8 aligned bytes.
typedef uint64_t __attribute__((may_alias)) ZstdWord;

// ZstdSlice is bytes of a page.
struct ZstdSlice {
  const uint8_t* at;
  uint32_t n;

  // skip leaves out the first bytes; there are as many.
  __device__ __forceinline__ void skip(uint32_t bytes) {
    at += bytes;
    n -= bytes;
  }

  // number is `bytes` bytes from `from` on, the first the lowest, up to 8; those that are not there
  // are 0.
  __device__ __forceinline__ uint64_t number(uint32_t from, uint32_t bytes) const {
    uint64_t v = 0;
    for (uint32_t i = 0; i < bytes; i++) v |= from + i < n ? static_cast<uint64_t>(at[from + i]) << (8 * i) : 0;
    return v;
  }
};

// ZstdFrame is a frame as its head says.
struct ZstdFrame {
  uint64_t content;  // what it comes to, if it is known
  uint64_t window;   // how far copies may reach
  uint32_t block;    // the most that a block comes to
  bool known;
  bool hashed;  // a checksum is behind the blocks
};

// zstd_frame reads the head of a frame, and goes behind it. false: it is refused.
static __device__ __forceinline__ bool zstd_frame(ZstdSlice& in, ZstdFrame& frame) {
  if (in.n < 6 || static_cast<uint32_t>(in.number(0, 4)) != ZSTD_MAGIC) return false;
  const uint32_t flags = in.at[4], size = flags >> 6;
  const bool single = (flags & 0x20) != 0;
  if ((flags & 0x0b) != 0) return false;  // reserved; a dictionary
  uint32_t head = 5;
  frame.window = 0;
  if (!single) {
    const uint32_t byte = in.at[head++], exponent = byte >> 3;
    if (exponent > 18) return false;  // 512 MiB or more, which the CPU's decoder does not take either
    const uint64_t base = uint64_t(1024) << exponent;
    frame.window = base + base / 8 * (byte & 7);
  }
  const uint32_t bytes = size == 0 ? single : 1u << size;
  if (in.n < head + bytes) return false;
  frame.known = bytes != 0;
  frame.content = in.number(head, bytes) + (size == 1 ? 256 : 0);
  frame.hashed = (flags & 4) != 0;
  if (single) frame.window = frame.content > 1024 ? frame.content : 1024;
  frame.block = frame.window < ZSTD_BLOCK ? static_cast<uint32_t>(frame.window) : ZSTD_BLOCK;
  in.skip(head + bytes);
  return true;
}

enum ZstdKind : uint32_t { ZSTD_RAW, ZSTD_RLE, ZSTD_COMPRESSED, ZSTD_RESERVED };

// ZstdBits reads a stream from its last bit to the first. Bits count from the word in which the
// stream begins. The words around the next bits are in registers, and the one before them is under
// way: a load takes longer than what is made of a word.
struct ZstdBits {
  const ZstdWord* words;
  uint64_t high, low, before;
  int32_t begin;  // the first bit of the stream
  int32_t pos;    // behind the next bit; less than `begin`: more was read than there is
  int32_t word;   // the one with bit `pos`: `high`

  __device__ __forceinline__ uint64_t load(int32_t i) const { return i >= 0 ? words[i] : 0; }

  // open begins to read; false: the last byte does not tell where the stream ends.
  __device__ __forceinline__ bool open(const ZstdSlice& stream) {
    if (stream.n == 0 || stream.at[stream.n - 1] == 0) return false;
    const uint32_t ahead = reinterpret_cast<uintptr_t>(stream.at) % 8;
    words = reinterpret_cast<const ZstdWord*>(stream.at - ahead);
    begin = ahead * 8;
    pos = begin + stream.n * 8 - 8 + (31 - __clz(uint32_t(stream.at[stream.n - 1])));
    word = pos >> 6;
    high = load(word);
    low = load(word - 1);
    before = load(word - 2);
    return true;
  }

  // next is the next 64 bits, the first the highest. Those before the stream are anything.
  __device__ __forceinline__ uint64_t next() const {
    const uint32_t bits = pos & 63;
    return bits == 0 ? low : high << (64 - bits) | low >> bits;
  }

  // skip goes over at most 64 bits.
  __device__ __forceinline__ void skip(uint32_t bits) {
    pos -= bits;
    if (pos >> 6 == word) return;
    word--;
    high = low;
    low = before;
    before = load(word - 2);
  }

  // read is the next `bits` bits, at most 32.
  __device__ __forceinline__ uint32_t read(uint32_t bits) {
    const uint32_t v = static_cast<uint32_t>(next() >> 1 >> (63 - bits));
    skip(bits);
    return v;
  }

  // ended tells whether all was read, and no more.
  __device__ __forceinline__ bool ended() const { return pos == begin; }
};
