// Package reference holds the strategies of paper 003 that no query takes. Package ega is tested
// and measured against them. They are not part of the program. ega's tests run their cases over
// these strategies too, and bench/ega measures them.
//
// Four strategies lead from rows in device memory to their groups there, of which [Choose] chooses
// by counts, as docs/experiments/0006 measured them:
//
//	shared   ega.Table.AddShared: each block combines its rows in shared memory, and the blocks'
//	         groups meet in a Table: few groups
//	table    the same with more groups than that: frequent ones meet in shared memory, the others
//	         in the Table
//	buckets  rows are scattered by hash (package partition/reference) and combined bucket by
//	         bucket in shared memory: [Scattered], of which [Buckets] is the second half
//	single   SP-EGA: five phases over three equal buffers: [SinglePass]. Slower than the others
//	         wherever these can go, and so for rows that cannot be scattered and have more groups
//	         than memory has room for in a Table
//
// A query takes the first two, through firstpass.Pass. That does not know beforehand how many
// groups there are: it combines tiles as they come, and rows without room leave the device.
//
// [Combine] is the CPU twin of all strategies: the same groups from the same rows.
//
// No row is lost where memory is too small: Buckets returns the numbers of the buckets that it
// left as they were, and Scattered, if it fails, keeps all rows. SinglePass cannot run out of
// memory once it is made.
package reference
