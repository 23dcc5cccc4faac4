// Package parquetio reads Parquet files into [column.Vector]s. It is the
// only package that knows the format; it borrows parquet-go's Thrift types,
// bit unpacking and codecs, but none of its readers, since a reader that
// must stay within a memory budget and must not panic has to see every count
// before anything is allocated from it.
//
// The package has two levels. The file level (this walk) turns one column of
// one row group of one file into vectors; the dataset level lists files,
// unites their schemas, skips row groups and makes batches of several
// columns. Beside them stands ReadEncoded, for callers that decode pages
// themselves: it returns the chunks of a row group as they lie in the file,
// with a list of their pages.
//
// # The walk of a chunk
//
// A column chunk is the values of one column in one row group:
//
//	chunk:      [dictionary page]? [data page]*
//	page:       header (Thrift) | body, compressed as a whole (v1)
//	                            | levels, then compressed values (v2)
//	body:       definition levels (which rows are NULL) | encoded values
//
// A [columnReader] takes it apart in these steps, each of which trusts
// nothing that an earlier one has not checked:
//
//  1. open puts a [window] at the chunk's beginning, which reads as much of
//     it as the next page takes, and decodes the dictionary, if there is one,
//     into a column.Dict of its own.
//  2. available finds the next data page: its header, no more. Rows of it that
//     nobody needs are skipped, and a page of nothing but such rows is left
//     where it is (pass.go): by a filter (late.go), or since statistics of pages
//     rule it out (judge.go).
//  3. read loads the page that was found: CRC, decompression to exactly the size
//     the header promised, then the set-up of two streams: the levels and the
//     values. Nothing is expanded yet.
//  4. From there read takes n rows off both streams: levels tell how many of the rows
//     hold a value; as many values are decoded densely, then spread over the
//     rows. Dictionary codes stay codes.
//
// Rules that hold throughout, cited by their labels:
//
//	PAD    every buffer that values are decoded from can be read for padding
//	       bytes past its length, so that word-wise loops need no tail. No
//	       slice of such a buffer may cap its capacity.
//	LAZY   run lengths and counts are expanded only for the rows asked for: a
//	       kilobyte may promise a billion rows.
//	SIZE   memory is asked for only up to Limits, or in proportion to bytes
//	       that are really in the file.
//	DRAWN  memory whose size a file decides, or that grows with a batch, is
//	       drawn from the memory budget before it is allocated and given back
//	       after it is let go: see account.
//	RECYCLED  the memory of a dictionary serves that of the next chunk.
//	       Under -tags invariant it is spoilt when that chunk begins.
//	PLACED a large Snappy page of a dictionary is decompressed where it lies (snappyplace.go); bytes
//	       that are not yet decompressed are not overwritten.
//	SHARED a dictionary of a row group that was cut into parts is decoded by one reader for
//	       all, and given back by the last that leaves it (shareddict.go).
//	PUBLISHED  a large dictionary may be decoded a part at a time (dictprefix.go); what was handed
//	       out of it is not written again.
//
// # What a reader holds
//
// For each column: the window; a page, decompressed, unless the file is not
// compressed; vectors of a batch, with levels and codes; the dictionary of
// the chunk. Windows, pages and dictionaries are kept from chunk to
// chunk and lie off the Go heap, which is why a batch is not to be touched
// after the next call; a dictionary is good until the next chunk of its column is begun.
// A caller that keeps results computed of a dictionary keeps its pointer, to tell it from
// others, and does not read its values.
// The row group is the unit of work, or a part of it where there are fewer of
// them than it takes to keep all workers busy (parts.go).
//
// Numbers in a page are little-endian and are read in place; the package
// does not run on big-endian machines.
package parquetio
