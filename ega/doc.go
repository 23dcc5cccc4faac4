// Package ega aggregates rows on the device: EGA of paper 003, section 4. It holds what all of it
// is made of, layouts, tables and kernels, and is the entry to the packages below it.
//
// # Rows
//
// Rows are arrays of 64-bit words, [hash | key words | state words], as in the CPU engine
// (internal/agg). [Layout] says what each word is. A tile is rows that have the states of one input
// row each. Aggregating is combining rows of equal key, word by word (package ega/combine). So
// partial groups go the same way as input rows, any number of times: tiles, buckets and merges are
// one thing. internal/kernels/ega*.cuh says how the device does it.
//
// # Tables
//
// A [Table] in device memory takes rows in one of two ways. [Table.AddShared] has each block
// combine its rows in shared memory first, where frequent groups meet. What has no slot there goes
// to the Table one by one, so that there is no number of groups at which this breaks. [Table.Add]
// is the plain linear probe, for rows of which hardly any two in a block's tile are of one group
// (feedback.ShareConfig): shared memory is only a longer way to the Table then.
//
// # Rooms
//
// What is more than device memory holds goes through MP-EGA (section 4.2), in two passes:
//
//	combine      what becomes of each word: what internal/agg knows of the device
//	firstpass    combines tiles as they come into one table, made by the host or by kernels
//	evict        takes rows off the device for which the first pass has no room there
//	groups       reads groups that all stayed on the device
//	secondpass   aggregates the buckets of rows that lie on the host
//	reference    the paper's other strategies, which no query takes, and the CPU twin of all
//	egatest      what the tests of these share
//
//	                       ┌─▶ groups ──────────────────────────▶ result
//	rows ──▶ firstpass ────┤
//	                       └─▶ evict ──▶ buckets ──▶ secondpass ─▶ result
//
// Groups may keep all values of theirs, for which no state word has room ([combine.List]): those
// that kernels make rows of, while all groups stay on the device.
//
// # Invariants
//
// Everything that starts work on a stream returns at once. What owns device memory is used, like
// its thread, on one goroutine, and closed by who made it; work that uses it must have ended by
// then.
//
// Nothing is lost where memory is too small: a Table hands out the rows that found no slot.
//
// The packages are gagg's own: what they take and give are types of internal/cuda, so that no other
// module can use them.
package ega
