package parquetio

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// decompressedCodecs are those whose pages are decompressed on the way.
var decompressedCodecs = map[format.CompressionCodec]compress.Codec{
	format.Gzip: &parquet.Gzip, format.Brotli: &parquet.Brotli, format.Lz4Raw: &parquet.Lz4Raw,
}

// eachCodec gives a file of one column of each codec, kind of page, and with
// and without levels, with what is in it.
func eachCodec(t *testing.T, test func(t *testing.T, data []byte)) {
	in := make([]parquet.Value, 2000)
	for i := range in {
		in[i] = parquet.ByteArrayValue(fmt.Appendf(nil, "text %d", i*i))
	}
	for id, codec := range decompressedCodecs {
		for version := 1; version <= 2; version++ {
			for _, node := range []parquet.Node{
				parquet.Encoded(parquet.String(), &parquet.Plain), parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)),
			} {
				data := writeColumn(t, parquet.Compressed(node, codec), version, in)
				t.Run(fmt.Sprintf("%v/v%d/optional=%v", id, version, node.Optional()), func(t *testing.T) { test(t, data) })
			}
		}
	}
}

// readerOf reads the only column of a file.
func readerOf(t *testing.T, data []byte) *Reader {
	t.Helper()
	d, err := openBytes(t, Options{}, data)
	if err != nil {
		t.Fatal(err)
	}
	r := scanOf(t, d, 0).NewReader()
	t.Cleanup(r.Close)
	return r
}

// Pages of codecs that are not handed on lie decompressed, one behind the
// other, and take no more than was said.
func TestEncodedDecompressed(t *testing.T) {
	eachCodec(t, func(t *testing.T, data []byte) {
		r := readerOf(t, data)
		for u := range r.scan.units {
			if !checkEncoded(t, r, u) {
				t.Fatal("not handed on")
			}
			chunks, memory, _ := readEncoded(t, r, u)
			e, _ := r.EncodedUnit(u)
			if e.Unpacked != e.Bytes || e.Expanded != 0 || chunks[0].End > len(memory) || chunks[0].End%EncodedAlign != 0 {
				t.Errorf("%+v, to %d of %d", e, chunks[0].End, len(memory))
			}
			at := 0
			for _, p := range chunks[0].Pages {
				if p.At != at || p.Bytes != p.Size || p.Codec != PageUncompressed {
					t.Errorf("%+v, where %d is next", p, at)
				}
				at += p.Bytes
			}
			if rest := memory[at:chunks[0].End]; len(rest) < EncodedAlign || !bytes.Equal(rest, make([]byte, len(rest))) {
				t.Errorf("behind them: %x", rest)
			}
		}
	})
}

// A byte that is damaged is found, or is nothing to anybody.
func TestEncodedDecompressedDamage(t *testing.T) {
	eachCodec(t, func(t *testing.T, data []byte) {
		declined := 0
		for at := 10; at < len(data); at += len(data) / 50 {
			bad := bytes.Clone(data)
			bad[at] ^= 0x10
			_, no := tryEncoded(t, bad, Limits{MaxPage: 1 << 20})
			declined += no
		}
		if declined == 0 {
			t.Error("no damage was found")
		}
	})
}

// What the footer promises of sizes is a hint: pages are never written beyond
// the memory, and those that take less leave room.
func TestEncodedPromises(t *testing.T) {
	texts := bytes.Repeat([]byte{4, 0, 0, 0, 't', 'e', 'x', 't'}, 100)
	body, err := parquet.Gzip.Encode(nil, texts)
	if err != nil {
		t.Fatal(err)
	}
	gzip := page{body: body, header: format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(len(texts)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 100, Encoding: format.Plain, DefinitionLevelEncoding: format.RLE}),
	}}
	as := func(change func(*format.PageHeader)) page {
		p := gzip
		change(&p.header)
		return p
	}
	plain := pageV2(format.Plain, 100, 0, texts...) // the same, said not to be compressed
	size := int64(len(texts))
	for _, test := range []struct {
		name    string
		promise int64
		pages   []page
		ok      bool
	}{
		{"exact", size, []page{gzip}, true},
		{"too much", 10 * size, []page{gzip}, true},
		{"too little", size - EncodedAlign, []page{gzip}, false},
		{"nothing", 0, []page{gzip}, false},
		{"for one of two", size, []page{gzip, gzip}, false},
		{"for two", 2 * size, []page{gzip, gzip}, true},
		{"not compressed", size, []page{plain}, true},
		{"both", 2 * size, []page{plain, gzip}, true},
		{"not compressed, too little", size - EncodedAlign, []page{plain}, false},
		{"a page that gives more", size, []page{as(func(h *format.PageHeader) { h.UncompressedPageSize-- })}, false},
		{"a page that gives less", size + 8, []page{as(func(h *format.PageHeader) { h.UncompressedPageSize++ })}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := readerOf(t, fileBuilder{
				schema: []format.SchemaElement{required(format.ByteArray)}, codec: format.Gzip,
				rows: 100 * int64(len(test.pages)), pages: test.pages,
				change: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalUncompressedSize = test.promise },
			}.build(t))
			if ok := checkEncoded(t, r, 0); ok != test.ok {
				t.Errorf("handed on: %v", ok)
			}
		})
	}
}
