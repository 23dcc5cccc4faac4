// Partitions as chains of pages, which kernels get from a PagePool while they fill
// them (paper 000, section 6.2): no rows are counted beforehand, and none are gathered
// afterwards.
//
// Terms: those of ega_scatter.cuh, and
//
//   chain      the pages of a partition, by number; between launches all are full but the last
//   asked      rows of a partition for which somebody asked for room; row i is row i % page_rows of
//              page i / page_rows
//   directory  a hash table of all pages, by partition and number
//   left       rows for which there was no page
//
// Layout, of pages that hold 4 rows; a page is nothing but rows:
//
//   rows[5] = 6                          partition 5 has 6 rows
//   lengths[5] = 2                       in 2 pages
//   directory: | 5, 1 -> page 7 | - | - | 5, 0 -> page 9 | 2, 0 -> page 3 | - | ...
//
// How a block gets room for a part of n rows: an atomic adds n to rows[p] and says how many were
// asked for before. The rows lie in one page or in two. Whoever asks for the first row of a page
// gets it from the pool and writes it to the directory; all others look there until it has been.
//
// Where this differs from the paper, and why: there a chain has a tail, where pages are added one
// after the other. Whoever came behind a full tail waited until the next page was found and linked,
// some microseconds, and then for the one after: a partition with many rows grew by a page each
// time. Here pages are found side by side, however many of one partition, and a block waits for the
// finding of one page at most.
//
// Invariants:
//
//   CHAIN-ONCE   A row's place belongs to who was told so by the atomic.
//   CHAIN-ENDS   Who waits for a page waits for a block that has asked, and so is running. A block
//                writes all pages to the directory that are its to find, or that there is none,
//                before it waits itself.
//   CHAIN-LEFT   Each row is in a page or left, never both: a block sets the bits of those of its
//                rows for which no page was found. A tile has whole words of bits to itself.
//   CHAIN-FULL   A settled chain has no page without a row, none that is not full but the last, and
//                numbers from 0 on. While pages run out, numbers stay without a page, and pages
//                with higher numbers may be found: they are numbered anew by settling.
//   CHAIN-ROOM   The directory is at most half full: it has two slots for each page of the pool,
//                and for each page that may be asked for in vain by one launch.
#pragma once

#include "device.cuh"
#include "ega_scatter.cuh"
#include "pages_share.cuh"
#include "status.cuh"

// Bits of the number of a page in its chain.
constexpr uint32_t CHAIN_NUMBER_BITS = 21;

// An empty slot of the directory: no chain has so many pages.
constexpr uint64_t CHAIN_EMPTY = ~uint64_t(0);

// ScatterChains is the chains of all partitions; a kernel takes it by value.
struct ScatterChains {
  PagePool pool;
  uint64_t* rows;       // by partition: that were asked for
  uint32_t* lengths;    // by partition: pages that were found
  uint64_t* directory;  // partition, number, page
  uint32_t slots;       // of the directory: a power of two
  uint32_t page_rows;   // that fit a page, at least as many as a tile has, which are a multiple of 32
};

// ScatterSettled is where chains lie once they are settled: other memory, which the next launch
// takes.
struct ScatterSettled {
  uint64_t* rows;
  uint64_t* directory;  // empty
  uint32_t* numbers;    // by partition: given to full pages
  uint32_t first, n;    // partitions whose pages are given back
};

// ScatterLeft is which rows are still to be placed: before a launch for rows of one before it, and
// after it.
struct ScatterLeft {
  uint32_t* rows;    // a bit a row, set if it is left; 0 before a launch for all rows
  uint32_t* count;   // of bits that this launch has set
  uint32_t* status;  // STATUS_OUT_OF_PAGES if there are any
  uint32_t again;    // 1: only the rows whose bit is set; 0: all
};

// ChainRoom is where a part goes: row u of it to row first + u of `page` while that is below
// page_rows, and else to row first + u - page_rows of `more`. PAGE_NONE: it is left.
struct ChainRoom {
  uint32_t first, page, more;
};

// An entry of the directory is key << 32 | page.
__device__ __forceinline__ uint32_t chain_key(uint32_t partition, uint32_t number) {
  return partition << CHAIN_NUMBER_BITS | number;
}
__device__ __forceinline__ uint32_t chain_page(uint64_t entry) { return uint32_t(entry); }
__device__ __forceinline__ uint32_t chain_partition(uint64_t entry) { return uint32_t(entry >> 32) >> CHAIN_NUMBER_BITS; }
__device__ __forceinline__ uint32_t chain_number(uint64_t entry) {
  return uint32_t(entry >> 32) & ((1u << CHAIN_NUMBER_BITS) - 1);
}

// chain_slot is where the search for a key begins: multiplicative hashing (Knuth), by the upper
// bits of the product.
__device__ __forceinline__ uint32_t chain_slot(uint32_t key, uint32_t slots) {
  return __umulhi(key * 0x9e3779b9u, slots);
}

// chain_enter writes an entry to a directory that has none of its key. Any number of threads may do
// so at a time. Ends as there are empty slots (CHAIN-ROOM).
__device__ __forceinline__ void chain_enter(uint64_t* directory, uint32_t slots, uint32_t key, uint32_t page) {
  uint64_t entry = uint64_t(key) << 32 | page;
  uint32_t slot = chain_slot(key, slots);
  while (atomicCAS(directory + slot, CHAIN_EMPTY, entry) != CHAIN_EMPTY) slot = (slot + 1) & (slots - 1);
}

// chain_find is the entry of a key, or CHAIN_EMPTY if it has none by now.
__device__ __forceinline__ uint64_t chain_find(const ScatterChains& chains, uint32_t key) {
  uint32_t slot = chain_slot(key, chains.slots);
  for (;;) {
    uint64_t entry = ld_acquire(chains.directory + slot);
    if (entry == CHAIN_EMPTY || uint32_t(entry >> 32) == key) return entry;
    slot = (slot + 1) & (chains.slots - 1);
  }
}
