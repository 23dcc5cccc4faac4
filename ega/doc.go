// Package ega aggregates rows on the device: EGA of paper 003, section 4.
//
// Rows are arrays of 64-bit words, [hash | key words | state words], as in the
// CPU engine (internal/agg); [Layout] says what each word is. A tile is rows
// that have the states of one input row each. Aggregating is combining rows of
// equal key, so partial groups go the same way as input rows, any number of
// times: tiles, buckets and merges are one thing. internal/kernels/ega*.cuh says how
// the device does it.
//
// There are four roads, which [Choose] chooses from by counts, as docs/experiments/0006 measured them:
//
//	shared   each block combines its rows in shared memory, and the blocks' groups
//	         meet in a [Table]: few groups. Rows of groups too many go to the
//	         Table one by one, so there is no number at which this breaks
//	table    the same with more groups than that: frequent ones meet in shared
//	         memory, the others in the Table
//	buckets  rows are scattered by hash (package partition) and combined bucket by
//	         bucket in shared memory: [Scattered], of which [Buckets] is the second half
//	single   SP-EGA: five phases over three equal buffers: [SinglePass]. Slower than the
//	         others wherever these can go, and so for rows that cannot be scattered
//	         and have more groups than memory has room for in a Table
//
// What is more than device memory holds goes through MP-EGA (section 4.2), in two passes: a [MultiPass] combines tiles as they
// are made, by the host or by kernels (a [Maker]), and a [BucketPass] the buckets of rows that had no room on the device and went to the host,
// into buckets there or pinned memory in which they stay ([Kept]).
//
// Groups may keep all values of theirs, for which no state word has room ([List]): those that kernels make rows of, while all groups stay on the
// device.
//
// [Table.Add] is the plain linear probe, which the others are measured against. The tiles of a MultiPass take it too, while
// hardly any two rows of a block's tile are of one group (feedback.ShareConfig): then shared memory is only a longer way to the Table.
//
// [Combine] is the CPU twin of all of them: the same groups from the same rows.
//
// Everything that starts work on a stream returns at once. What owns device
// memory is used, like its thread, on one goroutine, and closed by who made it;
// work that uses it must have ended by then.
//
// Nothing is lost where memory is too small: a Table hands out the rows that
// found no slot, Buckets the numbers of buckets that it left as they were, and
// Scattered, if it fails, all rows; a BucketPass takes no more rows than it has room for. SinglePass cannot run out of memory once it is made.
package ega
