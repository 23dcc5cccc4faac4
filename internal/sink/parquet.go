package sink

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// parquetWriter writes Parquet with parquet-go's codecs and footer structures but not with its
// Writer. That one (v0.32.0) sorts columns by name when the schema is made at run time; orders
// decimals of more than 18 digits wrongly in statistics, so that ClickHouse refuses the file and
// others skip data; and reaches the columns only through 24-byte values or reflection.
//
//	PAR1
//	row group 0:  column 0: page page …   column 1: …     at most rowGroupRows rows
//	row group 1:  …
//	page index
//	footer, its length, PAR1
//
// A row group grows as one buffer of finished pages a column, and is written when it is full, so
// memory is bounded by Options.Memory. Pages are version 1, which every reader knows, PLAIN or by
// dictionary, with a CRC. Every column is optional. A list is one column in the file and a map
// two, see parquetField. Statistics are of whole column chunks, and of pages in the page index:
// parquet_index.go. A large row is a row group of its own, see parquet_large.go.
type parquetWriter struct {
	out    io.Writer
	rows   *rowReader
	fields []*parquetField
	meta   format.FileMetaData
	offset int64
	open   int64 // rows in the open row group
	most   int64 // rows in a full one
	room   *parquetRoom

	sorted []format.SortingColumn
	index  fileIndex
	chunks []pageIndex // of the row group that is being written
}

const (
	rowGroupRows = 1 << 20
	parquetMagic = "PAR1"
)

// codecs are the compressions by name. lz4 is LZ4_RAW: parquet-go reads it
// wrong, but writes what DuckDB and ClickHouse read right.
var codecs = map[string]compress.Codec{
	"": &fastSnappy{}, "snappy": &fastSnappy{}, "zstd": &zstd.Codec{}, "gzip": &gzip.Codec{Level: gzip.DefaultCompression},
	"brotli": &brotli.Codec{Quality: 4, LGWin: 22}, "lz4": &lz4.Codec{}, "none": &uncompressed.Codec{},
}

// fastSnappy takes the encoder that a Snappy of other languages has, block by block as they do:
// parquet-go's choice compresses a little better at half the speed.
type fastSnappy struct{ snappy.Codec }

func (*fastSnappy) Encode(dst, src []byte) ([]byte, error) {
	dst = binary.AppendUvarint(dst[:0], uint64(len(src)))
	for len(src) > 0 {
		n := min(len(src), snappyBlock)
		dst = slices.Grow(dst, s2.MaxEncodedLen(n))
		block := s2.EncodeSnappy(dst[len(dst):cap(dst)], src[:n])
		_, head := binary.Uvarint(block) // its own length
		dst, src = append(dst, block[head:]...), src[n:]
	}
	return dst, nil
}

// snappyBlock is how far back a copy may reach. The reference encoder compresses blocks of this
// size independently, and devices decompress the blocks of a page side by side
// (internal/kernels).
const snappyBlock = 64 << 10

func newParquetWriter(out io.Writer, rows *rowReader, o Options) (Writer, error) {
	codec, ok := codecs[strings.ToLower(o.Compression)]
	if !ok {
		return nil, fmt.Errorf("unknown compression %q; use one of snappy, zstd, gzip, brotli, lz4, none", o.Compression)
	}
	if len(rows.fields) == 0 {
		return nil, fmt.Errorf("a Parquet file needs at least one column")
	}
	w := &parquetWriter{out: out, rows: rows, most: rowGroupRows, room: newParquetRoom(o, len(rows.fields))}
	w.meta = format.FileMetaData{Version: 2, CreatedBy: o.CreatedBy}
	if o.CreatedBy == "" {
		w.meta.CreatedBy = "gagg"
	}
	w.index.most = int(w.room.group / indexShare)
	w.index.off = slices.ContainsFunc(w.rows.fields, func(f column.Field) bool { return f.Type.IsNested() })
	root := format.SchemaElement{Name: "schema", NumChildren: thrift.New(int32(len(rows.fields)))}
	w.meta.Schema = append(w.meta.Schema, root)
	for _, f := range rows.fields {
		field := newParquetField(f, codec, w.room)
		w.fields = append(w.fields, field)
		w.meta.Schema = append(w.meta.Schema, field.schema...)
		for range field.leaves {
			w.meta.ColumnOrders = append(w.meta.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
		}
	}
	w.sorted = w.sortingColumns(o.Sorted)
	return w, nil
}

func (w *parquetWriter) Write(rec arrow.Record) error {
	n, err := w.rows.read(rec)
	for from := 0; from < n && err == nil; {
		to := w.cut(from, int(min(int64(n), int64(from)+w.most-w.open)))
		var bytes int64
		for i, f := range w.fields {
			if err := f.add(&w.rows.vectors[i], from, to); err != nil {
				return err
			}
			bytes += f.size()
		}
		w.open += int64(to - from)
		from = to
		if w.open == w.most || bytes >= w.room.group {
			err = w.flush()
		}
	}
	return err
}

// cut is how many of the rows from..to are added before the next look at the
// size of the row group: those whose lists hold the elements of a full one,
// and at least one.
func (w *parquetWriter) cut(from, to int) int {
	for i := range w.rows.vectors {
		if v := &w.rows.vectors[i]; v.Type.IsNested() {
			to = cutLists(v, from, to)
		}
	}
	return to
}

// flush writes the open row group.
func (w *parquetWriter) flush() error {
	if err := w.begin(); err != nil || w.open == 0 {
		return err
	}
	group, err := w.beginGroup(w.open)
	if err != nil {
		return err
	}
	for _, f := range w.fields {
		for _, c := range f.leaves {
			if err := w.flushColumn(c, w.offset, &group); err != nil {
				return err
			}
		}
	}
	if !w.index.off {
		if err := w.indexGroup(&group); err != nil {
			return err
		}
	}
	w.endGroup(group)
	return nil
}

func (w *parquetWriter) beginGroup(rows int64) (format.RowGroup, error) {
	if len(w.meta.RowGroups) > 1<<15-1 {
		return format.RowGroup{}, fmt.Errorf("more than %d row groups in a Parquet file", len(w.meta.RowGroups))
	}
	return format.RowGroup{NumRows: rows, FileOffset: w.offset, Ordinal: int16(len(w.meta.RowGroups)), SortingColumns: w.sorted}, nil
}

// fieldNamed is the number of the one column of that name; -1: there is none, or more.
func (w *parquetWriter) fieldNamed(name string) int {
	named := -1
	for i, f := range w.rows.fields {
		if f.Name == name && named >= 0 {
			return -1
		}
		if f.Name == name {
			named = i
		}
	}
	return named
}

// sortingColumns is the order that a row group declares: the first columns that rows are sorted
// by whose order means the same to every reader.
func (w *parquetWriter) sortingColumns(by []SortColumn) (sorted []format.SortingColumn) {
	for _, s := range by {
		i, leaf := w.fieldNamed(s.Name), 0
		if i < 0 || w.rows.fields[i].Type.IsNested() {
			break
		}
		for _, f := range w.fields[:i] {
			leaf += len(f.leaves)
		}
		sorted = append(sorted, format.SortingColumn{ColumnIdx: int32(leaf), Descending: s.Descending, NullsFirst: s.NullsFirst})
	}
	return sorted
}

func (w *parquetWriter) endGroup(group format.RowGroup) {
	w.meta.RowGroups = append(w.meta.RowGroups, group)
	w.meta.NumRows += group.NumRows
	w.open, w.chunks = 0, w.chunks[:0]
}

// flushColumn writes the chunk of one column, which begins at an offset, or what is left of it.
func (w *parquetWriter) flushColumn(c *parquetColumn, offset int64, group *format.RowGroup) error {
	chunk, pages, err := c.finish(offset)
	if err != nil {
		return err
	}
	for _, part := range pages {
		if err := w.write(part); err != nil {
			return err
		}
	}
	group.Columns = append(group.Columns, chunk)
	group.TotalByteSize += chunk.MetaData.TotalUncompressedSize
	group.TotalCompressedSize += chunk.MetaData.TotalCompressedSize
	w.chunks = append(w.chunks, c.index.at(chunk.MetaData.DataPageOffset))
	c.reset()
	return nil
}

func (w *parquetWriter) begin() error {
	if w.offset > 0 {
		return nil
	}
	return w.write([]byte(parquetMagic))
}

func (w *parquetWriter) write(p []byte) error {
	n, err := w.out.Write(p)
	w.offset += int64(n)
	return err
}

func (w *parquetWriter) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.writeIndex(); err != nil {
		return err
	}
	footer, err := thrift.Marshal(&thrift.CompactProtocol{}, &w.meta)
	if err != nil {
		return err
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, parquetMagic...))
}
