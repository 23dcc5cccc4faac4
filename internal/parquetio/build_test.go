package parquetio

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// fileBuilder makes a file of one column and one row group byte by byte: what
// no writer at hand makes, and what no writer should.
type fileBuilder struct {
	schema []format.SchemaElement // nil: one INT32, optional, named x
	codec  format.CompressionCodec
	rows   int64
	pages  []page
	change func(*format.FileMetaData) // last, before the footer is written
}

// page is a header, whose sizes are filled in where they are zero, and a
// body.
type page struct {
	header format.PageHeader
	body   []byte
	crc    bool
}

func required(p format.Type) format.SchemaElement {
	return format.SchemaElement{Name: "x", Type: thrift.New(p), RepetitionType: thrift.New(format.Required)}
}

func optional(p format.Type) format.SchemaElement {
	return format.SchemaElement{Name: "x", Type: thrift.New(p), RepetitionType: thrift.New(format.Optional)}
}

func pageV1(enc format.Encoding, values int32, body ...byte) page {
	return page{body: body, header: format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: values, Encoding: enc, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}}
}

func pageV2(enc format.Encoding, values int32, levels int32, body ...byte) page {
	return page{body: body, header: format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
		NumValues: values, NumRows: values, Encoding: enc, DefinitionLevelsByteLength: levels, IsCompressed: thrift.New(false),
	})}}
}

func dictPage(values int32, body ...byte) page {
	return page{body: body, header: format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: values})}}
}

func marshal(t testing.TB, v any) []byte {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b fileBuilder) build(t testing.TB) []byte {
	t.Helper()
	if b.schema == nil {
		b.schema = []format.SchemaElement{optional(format.Int32)}
	}
	out := []byte(magic)
	for _, p := range b.pages {
		h := p.header
		if h.CompressedPageSize == 0 {
			h.CompressedPageSize = int32(len(p.body))
		}
		if h.UncompressedPageSize == 0 {
			h.UncompressedPageSize = int32(len(p.body))
		}
		if p.crc {
			h.CRC = int32(crc32.ChecksumIEEE(p.body))
		}
		out = append(append(out, marshal(t, &h)...), p.body...)
	}
	leaf := b.schema[len(b.schema)-1]
	var path []string
	for _, e := range b.schema {
		path = append(path, e.Name)
	}
	root := format.SchemaElement{Name: "schema", NumChildren: thrift.New(int32(1))}
	size := int64(len(out) - len(magic))
	meta := format.FileMetaData{
		Version: 1, NumRows: b.rows,
		Schema: append([]format.SchemaElement{root}, b.schema...),
		RowGroups: []format.RowGroup{{NumRows: b.rows, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: leaf.Type.V, Encoding: []format.Encoding{format.Plain}, PathInSchema: path, Codec: b.codec,
			NumValues: b.rows, TotalCompressedSize: size, TotalUncompressedSize: size, DataPageOffset: int64(len(magic)),
		}}}}},
	}
	if b.change != nil {
		b.change(&meta)
	}
	return withFooter(out, marshal(t, &meta))
}

// withFooter completes a file of which data, with the head magic, is there.
func withFooter(data, footer []byte) []byte {
	data = append(data, footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	return append(data, magic...)
}

// cat joins byte strings.
func cat(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// sized is b with its length before it, as levels are in a v1 page.
func sized(b ...byte) []byte { return append(le32(uint32(len(b))), b...) }

// int32Column is what reading int32 values gives; nil is NULL.
func int32Column(values ...any) []column.Value {
	out := make([]column.Value, len(values))
	for i, v := range values {
		out[i] = column.Value{Type: column.Type{Kind: column.Int32}, Null: v == nil}
		if v != nil {
			out[i].Int = int64(v.(int))
		}
	}
	return out
}
