// What the kernels of parquet_snappy.cu know of a page, and where they keep what they find out.
//
// Its elements are found window by window (chain_page.cuh); an element is of the window that its
// tag is in. The output is divided into fragments of SNAPPY_FRAGMENT bytes.
//
// In work memory, behind the room of the page:
//
//   | room: size + PARQUET_PADDING | flag | table: as long as the elements | a ChainWindow each |
//   expanded                       aligned to 16                           aligned to 4
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
  uint32_t* again;  // 1: copies reach across fragments
};

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
  p.again = reinterpret_cast<uint32_t*>(work + ((page.expanded + page.size + PARQUET_PADDING + 15) & ~uint64_t(15)));
  p.place(reinterpret_cast<uint8_t*>(p.again + 4));
  return header != 0 && size == p.size && (p.size == 0) == (p.n == 0);
}
