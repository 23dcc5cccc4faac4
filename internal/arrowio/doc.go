// Package arrowio reads Arrow IPC: files, Feather version 2 among them, and streams that are in a
// file. It finds what is wrong with them before Arrow's library meets it, which goes down into a
// schema by calling itself, and makes and indexes by what a file says.
//
//	file:     ARROW1 00 00 | stream | footer | int32 its size | ARROW1
//	stream:   schema, then dictionaries and records, each a message
//	message:  FFFFFFFF, which old writers leave out | int32 size | table of FlatBuffers | body
//	body:     the buffers of all columns, each one compressed or not
//
// [Open] makes the index: where each record is, how many rows it has and which dictionaries stand
// before it. The index of a file is its footer, that of a stream the stream itself. A [Reader] then
// reads the buffers of the wanted columns of a record, and no others; memory for them is drawn from
// the budget. Where a length in the file promises more than its bytes can hold, it is damaged.
package arrowio
