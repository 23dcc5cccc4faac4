// Partitions as chains of pages, which kernels get from a PagePool while they fill
// them (paper 000, section 6.2): no rows are counted beforehand, and none are gathered
// afterwards.
//
// Terms: those of ega_scatter.cuh, and
//
//   chain  the pages of a partition; all are full but the newest
//   tail   of a chain: its newest page, and the rows that are in it or on their way
//   left   rows for which there was no page
//
// Layout: a page begins with its ChainPage, then has page_rows rows.
//
//   tails[p] | page 7, 3 rows |
//                   |
//      page 7: | next 4, rows 3, partition p, number 2 | row | row | row |     |
//                   |
//      page 4: | next 9, rows 4, partition p, number 1 | row | row | row | row |
//                   |
//      page 9: | next none, rows 4, partition p, number 0 | row | row | row | row |
//
// How a block gets room for a part of n rows: it adds n to the tail's rows by one
// atomic, whose answer (page, u) says
//
//   u + n <= page_rows        the part goes to the rows from u on
//   u <= page_rows < u + n    this block, and no other, crosses the end of the page: it gets a
//                             new page, and makes that the tail, with as many rows as do not fit the old one
//   page_rows < u             another one is crossing; look until the tail has
//                             changed, then add again
//
// A tail that says page_rows in no page is the beginning: whoever comes first crosses.
//
// Invariants:
//
//   CHAIN-ONCE   Rows u to u + n of a page belong to who was told u, as the atomics of one
//                page's tail add up.
//   CHAIN-FULL   A page that is not the newest is full: who crosses fills the old one with the first rows of its part.
//   CHAIN-ENDS   Who waits, waits for a block that has added, and so is running. A block that has
//                added crosses first, where it has to, and waits only then (chain_rooms); who has waited adds and
//                crosses in one turn of a loop of all lanes, so that nobody waits for a lane that waits for
//                the warp. Who crosses either makes a new tail or reports out of pages, and a waiter
//                looks for both.
//   CHAIN-ROOM   The rows of a tail do not overflow: who was told more than page_rows adds again
//                only once the tail has changed, so that what comes to it in vain is all rows at
//                most. A tile is never larger than a page, so that a part crosses once.
//   CHAIN-LEFT   Each row is in a page or left, never both: a block sets the bits of those of its
//                rows for which it has no page. A tile has whole words of bits to itself.
#pragma once

#include "device.cuh"
#include "ega_scatter.cuh"
#include "pages_share.cuh"
#include "status.cuh"

// ChainPage is what a page begins with.
struct ChainPage {
  uint32_t next;       // the page filled before, or PAGE_NONE
  uint32_t rows;       // in this page; of a newest page right once a launch has been settled
  uint32_t partition;
  uint32_t number;     // in its chain; 0 was filled first
};

// ScatterChains is the chains of all partitions; a kernel takes it by value.
struct ScatterChains {
  PagePool pool;
  uint64_t* tails;     // by partition: page << 32 | rows
  uint32_t* lengths;   // by partition: pages
  uint32_t page_rows;  // that fit a page, at least as many as a tile has, which are a multiple of 32
};

// ScatterLeft is which rows are still to be placed: before a launch for rows of one before it, and
// after it.
struct ScatterLeft {
  uint32_t* rows;    // a bit a row, set if it is left; 0 before a launch for all rows
  uint32_t* count;   // of bits that this launch has set
  uint32_t* status;  // STATUS_OUT_OF_PAGES if there are any
  uint32_t again;    // 1: only the rows whose bit is set; 0: all
};

// ChainRoom is where a part goes: row u of it to row first + u of `page` while that is below page_rows, and else to row
// first + u - page_rows of `more`. PAGE_NONE: it is left.
struct ChainRoom {
  uint32_t first, page, more;
};

__device__ __forceinline__ uint32_t chain_page(uint64_t tail) { return uint32_t(tail >> 32); }
__device__ __forceinline__ uint32_t chain_rows(uint64_t tail) { return uint32_t(tail); }
__device__ __forceinline__ uint64_t chain_tail(uint32_t page, uint32_t rows) { return uint64_t(page) << 32 | rows; }

__device__ __forceinline__ ChainPage* chain_header(const PagePool& pool, uint32_t page) {
  return reinterpret_cast<ChainPage*>(page_address(pool, page));
}
