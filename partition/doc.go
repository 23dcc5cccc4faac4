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
// HASH-BITS: at level 0 the partition of a row is the top bits of its hash; a
// later level takes the bits that follow those of the level before. Whatever
// the levels, partitions in order of their numbers, each divided in order,
// hold the rows in order of their hash. Tables within a partition use the
// bits below; when all 64 are spent, the rows have one hash and are sorted by
// key instead (internal/cpu).
//
// # A block
//
//	| row | row | ... | var section |
//
// The var section has the format of an arena chunk; refs in the rows of a
// block are offsets into it, as if the chunk had number 0. So a block means
// the same wherever it is read: its section is adopted as a chunk, and the
// chunk's number is added to the refs. Blocks are about BlockBytes long, less
// where there is little memory to merge them, read one at a time, and verified
// by package spill. Those of a few rows are read again and written as larger
// ones (BLOCKS-FOLD).
//
// # Life of a bucket
//
// A Buckets value belongs to one owner while it is filled. When the pool gets
// no more memory, Scatter says how far it came; the owner spills some
// partitions, or all, whose pages are then free, and goes on. Once all owners
// have stopped filling, partition p of all of them together is read by
// whoever merges p: pages may then be changed in place, each row by the one
// goroutine that owns its partition.
//
// Rows in device memory are divided by the same bits in package partition/ondevice.
//
// The package is gagg's own: what it takes and gives are, in part, types of internal packages.
package partition
