// What the kernels of parquet_snappy.cu know of a page, and where they keep what they find out.
//
// Its elements are found window by window (chain_page.cuh); an element is of the window that its
// tag is in. The output is divided into fragments of SNAPPY_FRAGMENT bytes.
//
// In work memory, behind the room of the page; the last two only where there is more than one
// fragment:
//
//   | room: size + PARQUET_PADDING | flag | table: as long as the elements | a ChainWindow each |
//   expanded                       aligned to 16                           aligned to 4
//
//   | firsts: 4 bytes a fragment | sources: 4 bytes for each of the page |
#pragma once

#include "device.cuh"

#include "chain_page.cuh"
#include "parquet.cuh"
#include "snappy.cuh"

constexpr uint32_t SNAPPY_FRAGMENT = 64 << 10;

// A page with more bytes is refused: what the elements of one with as many come to has 31 bits,
// true or not.
constexpr uint32_t SNAPPY_LIMIT = 32 << 20;

// SnappyPage is a page.
struct SnappyPage : ChainPage {
  uint32_t size;
  uint8_t* output;
  uint32_t* across;   // 1: copies reach across fragments
  uint32_t* firsts;   // of each fragment: the first byte that has a source, or its end
  uint32_t* sources;  // of each byte from there on: SNAPPY_OWN, or the byte of a fragment before that it is equal to

  __device__ __forceinline__ uint32_t fragments() const { return (size + SNAPPY_FRAGMENT - 1) / SNAPPY_FRAGMENT; }
};

constexpr uint32_t SNAPPY_OWN = 0xffffffff;

// snappy_page reads where a page lies; false: it is damaged. Levels in front of a v2 page are not
// of the block.
static __device__ __forceinline__ bool snappy_page(const uint8_t* parcel, uint8_t* work, const ParquetPage& page, SnappyPage& p) {
  const uint32_t levels = page.levels == PARQUET_SIZED_LEVELS ? 0 : page.levels;
  if (page.bytes > SNAPPY_LIMIT || levels > page.bytes || levels > page.size) return false;
  const uint8_t* block = parcel + page.at + levels;
  uint64_t size;
  const uint32_t header = snappy_size(block, page.bytes - levels, size);
  p.elements = block + header;
  p.n = page.bytes - levels - header;
  p.size = page.size - levels;
  p.output = work + page.expanded + levels;
  p.across = reinterpret_cast<uint32_t*>(work + ((page.expanded + page.size + PARQUET_PADDING + 15) & ~uint64_t(15)));
  p.place(reinterpret_cast<uint8_t*>(p.across + 4));
  p.firsts = reinterpret_cast<uint32_t*>(p.windows + p.window_count);
  p.sources = p.firsts + p.fragments();
  return header != 0 && size == p.size && (p.size == 0) == (p.n == 0);
}
