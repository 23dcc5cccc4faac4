// Package ega aggregates rows on the device, by the algorithm EGA of paper 003, §4. It
// holds the layouts, tables and kernels that all its steps use. The packages below it are the
// steps.
//
// # Rows
//
// Rows are arrays of 64-bit words, [hash | key words | state words], as in the CPU engine
// (internal/agg). [Layout] says what each word is. A tile is rows that have the states of one
// input row each. Aggregating is combining rows of equal key, word by word (package ega/combine).
// So partial groups are aggregated as input rows are, any number of times: tiles, buckets and
// merges need no code of their own. internal/kernels/ega*.cuh describes the kernels.
//
// # Tables
//
// A [Table] in device memory takes rows in one of two ways. [Table.AddShared] has each block
// combine its rows in shared memory first, where frequent groups meet. Rows that find no slot
// there go to the Table one by one, so any number of groups is possible. [Table.Add] is plain
// linear probing. It is for tiles in which a block hardly ever sees two rows of one group
// (feedback.PreaggregateConfig): shared memory would only be a detour.
//
// # Memory
//
// Rows that exceed device memory go through MP-EGA (§4.2), in two passes:
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
// A group may keep all its values, for which no state word has room ([combine.List]). That works
// for rows that kernels make, while all groups stay on the device.
//
// # Invariants
//
// A function that starts work on a stream returns at once. An object that owns device memory is
// used on one goroutine, that of its thread. Its maker closes it when all work that uses it has
// ended.
//
// Nothing is lost where memory is too small: a Table hands out the rows that found no slot.
//
// The packages are for gagg alone: their interfaces have types of internal/cuda, which no other
// module can import.
package ega
