// Package arrow18 joins gagg to programs that use Arrow for Go of version 18
// (github.com/apache/arrow-go/v18). The records of gagg itself are of version 15.
//
//	rows, err := gagg.Run(ctx, gagg.Query{From: arrow18.Records(reader), …}, gagg.Options{})
//	…
//	defer rows.Release()
//	result := arrow18.Reader(rows)
//	defer result.Release()
//
// Memory is shared, not copied: a buffer of the one version stands for a reference to the buffer of
// the other, and lets go of it when its own last reference goes (SHARED). So the allocator of a
// record gets its memory back once both sides have released it, whichever is last.
//
// Types are told apart as follows (types15.go, types18.go):
//
//	what gagg reads or makes   its twin, with the same buffers
//	string_view, binary_view   large_string, large_binary: copied, gagg has no views
//	decimal32, decimal64       decimal128: copied, version 15 has no such types
//	extensions                 their storage, with name and data in the field's metadata, as in
//	                           Arrow IPC; on the way back, the extension where it is registered
//	others                     a stand-in without values: the column may be there, and a query that
//	                           uses it fails, naming the type as version 18 does
package arrow18
