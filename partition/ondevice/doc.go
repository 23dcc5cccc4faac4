// Package ondevice divides rows in device memory into partitions, by the same hash bits as package
// partition does in the host's (HASH-BITS there). [Rows] says how the rows lie. [Chains] appends
// them to pages that kernels take from a pool of gpumem: rows are read once, calls may follow each
// other, and rows that find no page are reported. The rows have no refs into an arena.
//
// Package partition/reference has the other way, in which each partition becomes one piece of
// memory; bench/scatter measures both.
//
// The package is for gagg alone: its interface has types of internal/cuda, which no other module
// can import.
package ondevice
