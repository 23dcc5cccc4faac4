// Package decode makes rows of the group-by kernels on the device, of encoded
// column chunks: the host reads the bytes of a row group and sends them as they
// are; kernels decompress and decode them.
//
// # Terms
//
//	unit     a row group of a file
//	source   a column of the scan that the query needs
//	output   a use of a source: an argument of aggregates, or a field of the key; or a computed one
//	program  steps of package expr: the filter, and what is computed of values of sources. A computed output is made by it
//	array    a word of 64 bits for each value, in device memory: what an output comes to. A value has one; a key field
//	         has one for each key word it has bits in, and one for its field hash behind them
//	place    where in the arrays of an output the word of a row is, if it is not NULL
//	batch   units in one piece of memory: what one job of the device is
//	decline  to leave a unit to the CPU, which reads it from the file as if nothing had been
//
// # A batch in memory
//
// All of it lies in one piece, for one copy to the device. Offsets count from
// its beginning, so that it may lie anywhere (aligned to 16 bytes):
//
//	| chunk | 0s | chunk | 0s | … | entries | … | pages | tasks | outputs | states | nulls | fields | steps | dicts |
//	0                                           data                                                       Size
//
// Chunks are as in the file, page headers and dictionary pages included; each
// begins at a multiple of 16 and has at least 16 bytes of zeros behind it
// (ROOM of parquet.cuh: kernels load whole words). Entries are those of a
// dictionary, made by the CPU, for one output of a source of one unit: at a multiple
// of 8, for each array of the output as many words as the dictionary has
// entries. The descriptors are those of parquet.cuh.
//
// On the device a job has three pieces of memory: the batch, its rows, and
// work memory:
//
//	| of each page | arrays | places, 4 bytes a row and output | kept rows, 4 bytes a row |
//
// A page has kernels.ParquetRunsRoom bytes for its runs or strings, if it is coded or of texts, and
// kernels.ParquetSnappyRoom or ParquetZstdRoom for itself decompressed, each at a multiple of 16.
//
// # Who checks what
//
// The host has read the headers of pages: how many there are, their sizes,
// encodings and checksums, that the rows of all sources add up. It has decoded the
// dictionaries. The device checks what is in pages: that Snappy and Zstandard come
// to the promised size, that there are as many values as levels say, that codes
// are of the dictionary, strings short enough and integers in the range of
// their type. It says what is wrong in the stop word of the job; then none of the rows is
// taken, and the units of the batch are declined. It says no more than that: the
// CPU finds the error again when it reads the unit, and tells it well.
//
// # Invariants
//
//   - DECLINE: whatever a file holds, its rows are either made as the CPU makes them,
//     word for word, or not at all. (A NaN in a state may be another NaN.)
//   - TEXT-CODED: a string that kernels do not make the words of, or that an output looks up, is
//     an entry: the reader makes codes of pages that may have such strings. Outputs of any length
//     (Output.AnyLength) take pages and dictionaries as they are, and refer to a Store.
//   - FRESH: a batch and the slices in it belong to one job. A builder makes new
//     ones for the next.
package decode
