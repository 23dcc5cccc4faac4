// What the kernels of parquet_snappy.cu know of a page, and where they keep what they find out.
//
// The elements of a page are divided into windows of SNAPPY_WINDOW bytes; an element is of the
// window that its tag is in. The output is divided into fragments of SNAPPY_FRAGMENT bytes.
//
// In work memory, behind the room of the page:
//
//   | room: size + PARQUET_PADDING | flag | table: as long as the elements | a SnappyWindow each |
//   expanded                       aligned to 16                           aligned to 4
//
// A window's part of the table has 16 bits for every other of its positions (snappy_entries). They
// hold its exits at first: where a chain of elements leaves the window that comes in at a position
// of its first half. Later they hold the positions of its tags: an element has 2 bytes or more, so
// that they suffice.
#pragma once

#include "device.cuh"

#include "parquet.cuh"
#include "snappy.cuh"

constexpr uint32_t SNAPPY_WINDOW = 4096;
constexpr uint32_t SNAPPY_ENTRIES = SNAPPY_WINDOW / 2;  // of the table, for a window
constexpr uint32_t SNAPPY_FRAGMENT = 64 << 10;
constexpr uint32_t SNAPPY_NONE = 0xffffffff;

// A page with more bytes is refused: what the elements of one with as many come to has 31 bits,
// true or not.
constexpr uint32_t SNAPPY_LIMIT = 32 << 20;

// An exit below SNAPPY_LAST is where the next element begins, from the window's begin; from there
// on, SNAPPY_LAST + the position of the window's last element.
constexpr uint32_t SNAPPY_LAST = 0x8000;

// SnappyWindow is what becomes known of a window.
struct SnappyWindow {
  uint32_t entry;  // the position of its first tag, or SNAPPY_NONE: it lies within a literal
  uint32_t tags;
  uint32_t bytes;  // that its elements come to
};

// SnappyPage is a page.
struct SnappyPage {
  const uint8_t* elements;
  uint32_t n;  // bytes of elements
  uint32_t size;
  uint8_t* output;
  uint32_t* again;  // 1: copies reach across fragments
  uint16_t* table;  // SNAPPY_ENTRIES for each window but the last
  SnappyWindow* windows;
  uint32_t window_count;
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
  p.table = reinterpret_cast<uint16_t*>(p.again + 4);
  p.window_count = (p.n + SNAPPY_WINDOW - 1) / SNAPPY_WINDOW;
  p.windows = reinterpret_cast<SnappyWindow*>(p.table + ((p.n + 3) & ~3u) / 2);
  return header != 0 && size == p.size && (p.size == 0) == (p.n == 0);
}

// snappy_entries is the number of words of the table that a window has.
static __device__ __forceinline__ uint32_t snappy_entries(const SnappyPage& page, uint32_t window) {
  const uint32_t left = page.n - window * SNAPPY_WINDOW;
  return left < SNAPPY_WINDOW ? (left + 1) / 2 : SNAPPY_ENTRIES;
}
