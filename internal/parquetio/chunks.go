package parquetio

import (
	"sync/atomic"

	"github.com/parquet-go/parquet-go/format"
)

// chunkTable is the column chunks of a footer. A query reads few of a file's columns, so a chunk
// of a usual footer, which was checked in one pass (quickfooter.go), is decoded when it is asked
// for. Of other footers the library has decoded all chunks. It may be used concurrently.
type chunkTable struct {
	whole []format.RowGroup // by the library; nil: the rest tells

	data []byte // the footer
	// where each chunk begins in data, row group by row group
	places []uint32
	made   []atomic.Pointer[format.ColumnChunk] // nil: it was not asked for
}

// chunkPlace is the bytes of a chunk in the table.
const chunkPlace = 4 + 8

func (t *chunkTable) chunk(i int) *format.ColumnChunk {
	if c := t.made[i].Load(); c != nil {
		return c
	}
	d := groupDecoder{thriftQuick: thriftQuick{data: t.data[t.places[i]:]}}
	c := new(format.ColumnChunk)
	if d.chunk(c); d.odd {
		panic("a chunk of the footer is not what it was")
	}
	t.made[i].CompareAndSwap(nil, c) // the second caller has decoded the same
	return t.made[i].Load()
}

// chunk is what the footer says of a column in a row group.
func (f *file) chunk(group, column int) *format.ColumnChunk {
	if whole := f.chunks.whole; whole != nil {
		return &whole[group].Columns[column]
	}
	return f.chunks.chunk(group*len(f.leaves) + column)
}

// newChunkTable is a table of chunks whose places are not known yet.
func newChunkTable(footer []byte, chunks int) chunkTable {
	return chunkTable{data: footer, places: make([]uint32, chunks), made: make([]atomic.Pointer[format.ColumnChunk], chunks)}
}
