// Package ega aggregates rows on the device: EGA of paper 003, section 4.
//
// Rows are arrays of 64-bit words, [hash | key words | state words], as in the
// CPU engine (internal/agg); [Layout] says what each word is. A tile is rows
// that have the states of one input row each. Aggregating is combining rows of
// equal key, so partial groups go the same way as input rows, any number of
// times: tiles, buckets and merges are one thing. internal/kernels/ega*.cuh says how
// the device does it.
//
// A [Table] in device memory takes rows in one of two ways. [Table.AddShared] has each block combine its rows in shared
// memory first, where groups that are frequent meet; what has no slot there goes to the Table one by one, so that there
// is no number of groups at which this breaks. [Table.Add] is the plain linear probe, which other ways are measured
// against. A MultiPass takes it, too, while hardly any two rows of a block's tile are of one group (feedback.ShareConfig):
// then shared memory is only a longer way to the Table.
//
// What is more than device memory holds goes through MP-EGA (section 4.2), in two passes: a [MultiPass] combines tiles as they
// are made, by the host or by kernels (a [Maker]), and a [BucketPass] the buckets of rows that had no room on the device and went to the host,
// into buckets there or pinned memory in which they stay ([Kept]).
//
// Groups may keep all values of theirs, for which no state word has room ([List]): those that kernels make rows of, while all groups stay on the
// device.
//
// The other roads of the paper, SP-EGA among them, are in package ega/reference, and so is the CPU twin of all of
// them: the same groups from the same rows.
//
// Everything that starts work on a stream returns at once. What owns device
// memory is used, like its thread, on one goroutine, and closed by who made it;
// work that uses it must have ended by then.
//
// Nothing is lost where memory is too small: a Table hands out the rows that found no slot, and a BucketPass takes no
// more rows than it has room for.
//
// The package is gagg's own: what it takes and gives are types of internal/cuda, so that no other module can use it.
package ega
