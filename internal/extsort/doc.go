// Package extsort sorts rows by some of their columns, in memory and, when
// memory is short, on disk. How many rows there are, and how wide their
// columns, is limited by the disk alone.
//
// # Terms
//
//	sorter  the rows of one goroutine
//	unit    rows that have come and are not sorted yet, at most unitRows
//	run     sorted rows: in memory, or a chain of blocks on disk
//	place   where a row stood before: rows that are equal stay in order of it
//	page    some bytes of memory full of rows
//	block   some bytes of rows on disk, one at a time in memory
//
// # A row
//
//	0  length   u32   bytes of the row
//	4  key      u32   bytes of the key; the top bit: the values are far
//	8  key            the bytes that the row is sorted by
//	   values         NULL bits │ a cell for each column │ strings and lists
//
// KEY-ORDER: rows are in order when their keys are in order as bytes, and no
// two keys are equal or begin with each other. A key consists of the order
// columns, each behind a byte that puts NULL first or last, and of the place.
// Integers have their sign flipped and their highest byte first; strings end
// with two zeros, and a zero within becomes 00 FF; a list has 01 before each
// element and 00 behind the last; where the order is descending, all bits are
// inverted. So after Add nothing knows types, directions or NULL until the
// values are taken apart again.
//
// # Life of a row
//
//  1. Add writes rows into pages. A full unit is sorted: by an index of
//     entries of 16 bytes, of which 8 are the first bytes of the key that are
//     not the same in the whole unit. Most comparisons look at them alone.
//  2. When memory is refused, all runs in memory are merged into one on disk,
//     whose rows are then read block by block. Values wider than a part of a
//     block are written for themselves and the row says where they are (far),
//     so that a wide row is not moved by each merge.
//  3. Finish sorts the last unit, merges runs on disk as long as there are too
//     many for a buffer each, and takes the memory of these buffers.
//  4. A Merger merges the runs of several sorters, and makes batches of
//     columns, as they are asked for.
//
// With Config.Keep only the first rows are wanted. A sorter that has collected
// more than twice that number keeps the first ones, and knows from then on a
// key (the bound) beyond which rows are not wanted. Wanted finds the rows
// beyond it before they are made.
//
// # Memory
//
// Pages, indexes, buffers and the spill file's own buffers are drawn from
// Config.Budget and lie off the Go heap. The memory for spilling is drawn before
// the first row, so that spilling is never refused memory. A row wider
// than a page is drawn too, on its way to disk. Not drawn are the batch that
// is given to Add, the batches that a Merger makes (except large rows), and
// the growth of the spill file's buffers for a key wider than a block: each is
// as large as the rows it is made of.
package extsort
