// Package datagen makes data for tests and benchmarks. The same seed gives
// the same data on every machine, whatever the number of threads.
//
//	H2O    the group-by table of db-benchmark, for bench/
//	Shape  a key and a value in shapes that are hard under a memory limit,
//	       for bench/
//	Odd    files of what neither a Table holds nor others write, for
//	       testdata/corpus; Damaged: bad ones
//	Hits   a stand-in for ClickBench's table, Lineitem for TPC-H's, for bench/
//	Table  a small table of random columns of any type, for tests: as
//	       batches (what the engine computes on) and as a Parquet file (what
//	       it reads), both with the same rows
//
// A Table is made column by column from two draws: a pool of values (how
// many, and which odd ones among them) and, for each row, the place in the
// pool (how often each occurs). Its Parquet files are written by parquet-go
// with a mapping of types of its own, so that a fault in gagg's reader or
// writer is not mirrored here.
//
// Only tests and bench/ import this package.
package datagen
