package parquetio

import (
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A chunk with a page that is damaged, or of another form, is not read encoded.
func TestEncodedDeclined(t *testing.T) {
	plain := cat(le32(5), le32(7), le32(9))
	body := cat(sized(6, 1), plain)
	good := pageV1(format.Plain, 3, body...)
	coded := pageV1(format.RLEDictionary, 3, cat(sized(6, 1), []byte{2, 6, 2})...)
	dict := dictPage(3, plain...)
	change := func(p page, by func(h *format.PageHeader)) page {
		v1, v2 := p.header.DataPageHeader, p.header.DataPageHeaderV2
		p.header.DataPageHeader, p.header.DataPageHeaderV2 = v1, v2
		by(&p.header)
		return p
	}
	v2 := pageV2(format.Plain, 3, 2, cat([]byte{6, 1}, plain)...)
	many := []page{}
	for range maxEncodedPages + 1 {
		many = append(many, pageV1(format.Plain, 1, cat(sized(2, 1), le32(1))...))
	}
	tests := []struct {
		name  string
		codec format.CompressionCodec
		rows  int64
		pages []page
		ok    bool
	}{
		{"good", 0, 3, []page{good}, true},
		{"good v2", 0, 3, []page{v2}, true},
		{"as many pages as may be", 0, maxEncodedPages, many[1:], true},
		{"too many pages", 0, maxEncodedPages + 1, many, false},
		{"no page", 0, 3, nil, false},
		{"rows missing", 0, 4, []page{good}, false},
		{"rows too many", 0, 2, []page{good}, false},
		{"a page too many", 0, 3, []page{good, good}, false},
		{"checksum", 0, 3, []page{change(good, func(h *format.PageHeader) { h.CRC = 1 })}, false},
		{"old levels", 0, 3, []page{change(good, func(h *format.PageHeader) { h.DataPageHeader.V.DefinitionLevelEncoding = format.BitPacked })}, false},
		{"encoding", 0, 3, []page{pageV1(format.DeltaLengthByteArray, 3, body...)}, false},
		{"encoding of another type", 0, 3, []page{pageV1(format.RLE, 3, body...)}, false},
		{"no bytes", 0, 3, []page{pageV1(format.Plain, 3)}, false},
		{"v2 without levels", 0, 3, []page{pageV2(format.Plain, 3, 0, plain...)}, false},
		{"v2 of levels only", 0, 3, []page{pageV2(format.Plain, 3, 2, 6, 1)}, true},
		{"v2 without values", 0, 3, []page{pageV2(format.Plain, 3, 2, 6, 0)}, true},
		{"v2 without values, compressed", format.Snappy, 3, []page{change(pageV2(format.Plain, 3, 2, 6, 0), func(h *format.PageHeader) { h.DataPageHeaderV2.V.IsCompressed = thrift.New(true) })}, true},
		{"v2 without values, decompressed", format.Zstd, 3, []page{change(pageV2(format.Plain, 3, 2, 6, 0), func(h *format.PageHeader) { h.DataPageHeaderV2.V.IsCompressed = thrift.New(true) })}, true},
		{"nothing at all", 0, 3, []page{pageV2(format.Plain, 3, 0)}, false},
		{"v2 with repetition levels", 0, 3, []page{change(v2, func(h *format.PageHeader) { h.DataPageHeaderV2.V.RepetitionLevelsByteLength = 1 })}, false},
		{"v2 levels too long", 0, 3, []page{pageV2(format.Plain, 3, 99, body...)}, false},
		{"v2 levels negative", 0, 3, []page{pageV2(format.Plain, 3, -1, body...)}, false},
		{"other size", 0, 3, []page{change(good, func(h *format.PageHeader) { h.UncompressedPageSize = 7 })}, false},
		{"dictionary", 0, 3, []page{dict, coded}, true},
		{"dictionary missing", 0, 3, []page{coded}, false},
		{"dictionary empty", 0, 3, []page{dictPage(0), pageV1(format.RLEDictionary, 3, sized(6, 0)...)}, true},
		{"dictionary empty, and codes", 0, 3, []page{dictPage(0), coded}, true}, // the device finds them
		{"dictionary behind", 0, 3, []page{coded, dict}, false},
		{"dictionary damaged", 0, 3, []page{dictPage(4, plain...), coded}, false},
		{"dictionary without use", 0, 3, []page{dict, good}, true},
		{"no snappy data", format.Snappy, 3, []page{good}, false},
		{"no gzip data", format.Gzip, 3, []page{good}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := openBytes(t, Options{}, fileBuilder{rows: test.rows, codec: test.codec, pages: test.pages}.build(t))
			if err != nil {
				t.Fatal(err)
			}
			r := scanOf(t, d, 0).NewReader()
			defer r.Close()
			if ok := checkEncoded(t, r, 0); ok != test.ok {
				t.Errorf("handed on: %v", ok)
			}
		})
	}
}

// What the footer tells against a unit is known before anything is read.
func TestEncodedFooter(t *testing.T) {
	good := pageV1(format.Plain, 3, cat(sized(6, 1), le32(5), le32(7), le32(9))...)
	for name, test := range map[string]struct {
		change func(*format.ColumnMetaData)
		ok     bool
	}{
		"as written":  {func(*format.ColumnMetaData) {}, true},
		"a codec":     {func(m *format.ColumnMetaData) { m.Codec = format.Gzip }, true},
		"no codec":    {func(m *format.ColumnMetaData) { m.Codec = format.LZO }, false},
		"no size":     {func(m *format.ColumnMetaData) { m.Codec, m.TotalUncompressedSize = format.Gzip, -1 }, false},
		"a size":      {func(m *format.ColumnMetaData) { m.Codec, m.TotalUncompressedSize = format.Gzip, mostEncoded+1 }, false},
		"any size":    {func(m *format.ColumnMetaData) { m.Codec, m.TotalUncompressedSize = format.Snappy, -1 }, true},
		"Zstandard":   {func(m *format.ColumnMetaData) { m.Codec, m.TotalUncompressedSize = format.Zstd, -1 }, false},
		"encoding":    {func(m *format.ColumnMetaData) { m.Encoding = append(m.Encoding, format.DeltaByteArray) }, false},
		"differences": {func(m *format.ColumnMetaData) { m.Encoding = append(m.Encoding, format.DeltaBinaryPacked) }, true},
		"NULLs":       {func(m *format.ColumnMetaData) { m.Statistics.NullCount = 1 }, true},
		"usual":       {func(m *format.ColumnMetaData) { m.Encoding = append(m.Encoding, format.RLE, format.RLEDictionary) }, true},
	} {
		data := fileBuilder{rows: 3, pages: []page{good}, change: func(m *format.FileMetaData) {
			test.change(&m.RowGroups[0].Columns[0].MetaData)
		}}.build(t)
		d, err := openBytes(t, Options{}, data)
		if err != nil {
			t.Fatal(err)
		}
		s := scanOf(t, d, 0)
		if _, ok := s.EncodedUnit(0); ok != test.ok {
			t.Errorf("%s: %v", name, ok)
		}
	}
}

// Types of columns, by the files they are in.
func TestEncodedTypes(t *testing.T) {
	file := func(e format.SchemaElement) []byte {
		return fileBuilder{schema: []format.SchemaElement{e}, rows: 1, pages: []page{pageV1(format.Plain, 1, 0)}}.build(t)
	}
	stamp := func(u format.TimeUnitValue) format.SchemaElement {
		e := required(format.Int64)
		e.LogicalType.Value = &format.TimestampType{Unit: format.TimeUnit{Value: u}}
		return e
	}
	integer := func(p format.Type, bits int8, signed bool) format.SchemaElement {
		e := required(p)
		e.LogicalType.Value = &format.IntType{BitWidth: bits, IsSigned: signed}
		return e
	}
	null := optional(format.Int32)
	null.LogicalType.Value = &format.NullType{}
	millis, nanos := stamp(&format.MilliSeconds{}), stamp(&format.NanoSeconds{})
	all := func(p Physical) EncodedType {
		return EncodedType{Physical: p, Lo: math.MinInt64, Hi: math.MaxInt64, Factor: 1}
	}
	masked := all(Int32)
	masked.Mask32 = true
	tests := []struct {
		name  string
		files []format.SchemaElement
		want  EncodedType
		ok    bool
	}{
		{"int32", []format.SchemaElement{required(format.Int32)}, all(Int32), true},
		{"optional", []format.SchemaElement{required(format.Int32), optional(format.Int32)}, all(Int32), true},
		{"byte array", []format.SchemaElement{required(format.ByteArray)}, all(ByteArray), true},
		{"float", []format.SchemaElement{required(format.Float)}, all(Float), true},
		{"float and double", []format.SchemaElement{required(format.Float), required(format.Double)}, EncodedType{}, false},
		{"int8", []format.SchemaElement{integer(format.Int32, 8, true)}, EncodedType{Int32, 0, false, -128, 127, 1}, true},
		{"uint16 of 64 bits", []format.SchemaElement{integer(format.Int64, 16, false)}, EncodedType{Int64, 0, false, 0, 65535, 1}, true},
		{"uint32", []format.SchemaElement{integer(format.Int32, 32, false)}, masked, true},
		{"int8 of two widths", []format.SchemaElement{integer(format.Int32, 8, true), integer(format.Int64, 8, true)}, EncodedType{}, false},
		{"int8 and int32", []format.SchemaElement{integer(format.Int32, 8, true), required(format.Int32)}, EncodedType{}, false},
		{"times", []format.SchemaElement{millis}, all(Int64), true},
		{"times of two units", []format.SchemaElement{millis, nanos}, EncodedType{}, false},
		{"null", []format.SchemaElement{null}, EncodedType{}, false},
		{"boolean", []format.SchemaElement{required(format.Boolean)}, all(Boolean), true},
		{"int96", []format.SchemaElement{required(format.Int96)}, all(Int96), true},
	}
	for _, test := range tests {
		var files [][]byte
		for _, e := range test.files {
			files = append(files, file(e))
		}
		d, err := openBytes(t, Options{}, files...)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := scanOf(t, d, 0).Encoded(0)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %+v, %v", test.name, got, ok)
		}
	}
}

// A column of folder names, and one that a file lacks, are in no chunk.
func TestEncodedConstants(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "d/k=1/a.parquet", 10, []idName{{1, str("x")}})
	writeRows(t, "e/a.parquet", 10, []idName{{1, str("x")}})
	writeRows(t, "e/b.parquet", 10, []struct {
		ID int64 `parquet:"id"`
	}{{2}})
	hive := mustOpen(t, Options{}, "d")
	union := mustOpen(t, Options{UnionByName: true}, "e")
	for _, test := range []struct {
		d     *Dataset
		name  string
		units []bool
	}{{hive, "k", []bool{false}}, {hive, "id", []bool{true}}, {union, "name", []bool{true, false}}, {union, "id", []bool{true, true}}} {
		c, err := test.d.Find(test.name)
		if err != nil {
			t.Fatal(err)
		}
		s := scanOf(t, test.d, c)
		if _, ok := s.Encoded(0); ok == slices.Contains(test.units, false) {
			t.Errorf("%s: %v", test.name, ok)
		}
		r := s.NewReader()
		for u, want := range test.units {
			if got := checkEncoded(t, r, u); got != want {
				t.Errorf("%s, unit %d: %v", test.name, u, got)
			}
		}
		r.Close()
	}
}
