// Package partition divides groups into partitions by the top bits of their
// hash. Each partition is a chain of pages in memory and of blocks on disk.
//
// # Terms
//
//	row     one group, Stride 64-bit words, of which the first is the hash
//	        of its key; some words may be refs to values in an arena
//	bucket  the rows of one partition that one owner has placed: pages of
//	        2^PageBits rows each, all full but the last, and blocks
//	page    rows in memory, from a Pool that draws on the memory budget
//	block   rows on disk with all values that they refer to
//	level   how often rows have been divided: a partition that does not fit
//	        in memory is divided again
//
// # Hash bits
//
// HASH-BITS: at level 0 the partition of a row is the top bits of its hash; a later level takes
// the bits that follow those of the level before. However often rows were divided, partitions in
// order of their numbers have the rows in order of their hash. Tables within a partition use the
// bits below. When all 64 bits are used up, the rows have one hash and are sorted by key instead
// (internal/cpu).
//
// # A block
//
//	| row | row | ... | var section |
//
// The var section has the format of an arena chunk; refs in the rows of a block are offsets into
// it, as if the chunk had number 0. So a block does not depend on the arena into which it is read:
// the section becomes a chunk there, and the chunk's number is added to the refs. Blocks are about
// BlockBytes long, or less where there is little memory to merge them. They are read one at a
// time, and verified by package spill. Blocks of a few rows are read again and written as larger
// ones (BLOCKS-COMPACT).
//
// # Life of a bucket
//
// A Buckets value belongs to one owner while it is filled. When the pool gets no more memory,
// Scatter returns how many rows it has placed. The owner spills some or all partitions, which
// frees their pages, and goes on. When all owners have stopped filling, one goroutine merges
// partition p of all of them. It may change the rows of its partition in place.
//
// Rows in device memory are divided by the same bits in package partition/ondevice.
//
// The package is for gagg alone: its interface has types of internal packages.
package partition
