package datagen

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/gagg-dev/gagg/internal/column"
)

// Layout says how a table lies in a Parquet file. The zero value is one row
// group of one v1 page a column, uncompressed, with optional columns.
type Layout struct {
	RowGroup int      // rows of a row group; 0: all
	Page     int      // rows of a data page; 0: all of the row group
	V2       bool     // v2 data pages
	Codec    string   // "" or "none", "snappy", "gzip", "zstd", "brotli"
	Encoding Encoding // of the columns that are not Coded
	Required bool     // columns without NULLs are required, not optional
}

// Encoding is how values lie in a page without a dictionary.
type Encoding uint8

const (
	Plain Encoding = iota
	Delta          // DELTA_BINARY_PACKED for integers, DELTA_BYTE_ARRAY for strings, else plain
	Split          // BYTE_STREAM_SPLIT for numbers and fixed-length bytes, else plain
)

// LZ4_RAW is missing on purpose: parquet-go v0.32.0 writes and reads it wrong
// (its issue 608).
var codecs = map[string]compress.Codec{
	"": &parquet.Uncompressed, "none": &parquet.Uncompressed, "snappy": &parquet.Snappy,
	"gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "brotli": &parquet.Brotli,
}

// WriteParquet writes the table as one Parquet file. It refuses types that
// Parquet cannot hold: times and timestamps in seconds.
func (t *Table) WriteParquet(w io.Writer, l Layout) error {
	codec, ok := codecs[l.Codec]
	if !ok {
		return fmt.Errorf("no codec %q", l.Codec)
	}
	schema, err := t.parquetSchema(l)
	if err != nil {
		return err
	}
	version := 1
	if l.V2 {
		version = 2
	}
	options := []parquet.WriterOption{
		schema, parquet.Compression(codec), parquet.DataPageVersion(version),
		parquet.PageBufferSize(pageBytes(t, l)), parquet.DataPageStatistics(true),
	}
	for _, c := range t.Columns {
		// parquet-go compares these as unsigned bytes; other engines refuse
		// the bounds that come of it.
		if c.Type.Rep() == column.RepWide || c.Type.Kind == column.Float16 {
			options = append(options, parquet.SkipPageBounds(c.Name))
		}
	}
	file := parquet.NewGenericWriter[any](w, options...)
	groups := cut(t.Rows, l.RowGroup)
	err = writeRowGroups(file, len(groups), 2, func(g int, columns []*parquet.ColumnWriter) error {
		for c := range columns {
			if err := t.writeChunk(columns[c], c, groups[g], l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return file.Close()
}

// mostPage keeps the number of booleans in a page buffer, eight a byte, below 2^31: the library
// panics on more.
const mostPage = 1 << 28

// pageBytes is a page buffer that does not flush on its own, unless a page has more than mostPage
// bytes: pages end where Layout.Page says. The library allocates as much for every column.
func pageBytes(t *Table, l Layout) int {
	rows := t.Rows
	if l.RowGroup > 0 {
		rows = min(rows, l.RowGroup)
	}
	longest := 16
	for _, d := range t.drawn {
		for _, s := range d.pool.Values.Span {
			longest = max(longest, int(s.Len))
		}
	}
	return min(2*rows*(longest+16)+4096, mostPage)
}

// writeChunk writes the rows of column c as pages of l.Page rows.
func (t *Table) writeChunk(out *parquet.ColumnWriter, c int, rows span, l Layout) error {
	present := 1 // definition level of a value
	if t.required(c, l) {
		present = 0
	}
	value := parquetValue(t.Columns[c].Type)
	for _, page := range cut(rows.end-rows.first, l.Page) {
		values := make([]parquet.Value, 0, page.end-page.first)
		for r := rows.first + page.first; r < rows.first+page.end; r++ {
			v := t.At(c, r)
			if v.Null {
				values = append(values, parquet.NullValue().Level(0, 0, c))
			} else {
				values = append(values, value(v).Level(0, present, c))
			}
		}
		if _, err := out.WriteRowValues(values); err != nil {
			return fmt.Errorf("column %s: %w", t.Columns[c].Name, err)
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("column %s: %w", t.Columns[c].Name, err)
		}
	}
	return nil
}

func (t *Table) required(c int, l Layout) bool { return l.Required && t.Columns[c].Nulls == 0 }

// span is rows first..end-1.
type span struct{ first, end int }

// cut divides n rows into spans of size rows, the last one shorter; 0 means
// one span.
func cut(n, size int) []span {
	if size <= 0 {
		size = max(n, 1)
	}
	var out []span
	for first := 0; first < n; first += size {
		out = append(out, span{first, min(first+size, n)})
	}
	return out
}

func (t *Table) parquetSchema(l Layout) (*parquet.Schema, error) {
	var root orderedGroup
	for i, c := range t.Columns {
		node, err := parquetNode(c.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		node = parquet.Encoded(node, encodingFor(c, node.Type().Kind(), l))
		if !t.required(i, l) {
			node = parquet.Optional(node)
		}
		root.fields = append(root.fields, orderedField{Node: node, name: c.Name})
	}
	return parquet.NewSchema("table", root), nil
}

func encodingFor(c Column, kind parquet.Kind, l Layout) encoding.Encoding {
	if c.Coded && kind != parquet.Boolean {
		return &parquet.RLEDictionary
	}
	switch {
	case l.Encoding == Delta && (kind == parquet.Int32 || kind == parquet.Int64):
		return &parquet.DeltaBinaryPacked
	case l.Encoding == Delta && (kind == parquet.ByteArray || kind == parquet.FixedLenByteArray):
		return &parquet.DeltaByteArray
	case l.Encoding == Split && kind != parquet.Boolean && kind != parquet.ByteArray:
		return &parquet.ByteStreamSplit
	}
	return &parquet.Plain
}
