// Package ondevice divides rows in device memory into partitions, by the same hash bits as package
// partition does in the host's (HASH-BITS there). [Rows] says how the rows lie. [Chains] appends
// them to pages that kernels take from a pool of gpumem: rows are read once, calls may follow each
// other, and what finds no page is told. The rows have no refs into an arena.
//
// The other way, by which a partition becomes one piece, is in package partition/reference;
// bench/scatter measures both.
//
// The package is gagg's own: what it takes and gives are types of internal/cuda, so that no other
// module can use it.
package ondevice
