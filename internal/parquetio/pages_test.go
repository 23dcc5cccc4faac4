package parquetio

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Levels of three rows whose second is NULL, in each form.
var (
	levelRuns   = []byte{2, 1, 2, 0, 2, 1} // RLE: one 1, one 0, one 1
	levelPacked = []byte{3, 0b101}         // one group, bit-packed
	levelLegacy = []byte{0b10100000}       // BIT_PACKED
)

// TestPages: forms of pages that real files have and parquet-go does not
// write.
func TestPages(t *testing.T) {
	plain := cat(le32(7), le32(9))
	dict := cat(le32(5), le32(7), le32(9))
	legacy := pageV1(format.Plain, 3, cat(levelLegacy, plain)...)
	legacy.header.DataPageHeader.V.DefinitionLevelEncoding = format.BitPacked
	withCRC := pageV1(format.Plain, 3, cat(sized(levelRuns...), plain)...)
	withCRC.crc = true
	index := page{header: format.PageHeader{Type: format.IndexPage, IndexPageHeader: thrift.New(format.IndexPageHeader{})}, body: []byte("index")}
	oldDict := dictPage(3, dict...)
	oldDict.header.DictionaryPageHeader.V.Encoding = format.PlainDictionary
	tests := []struct {
		name  string
		pages []page
		want  []column.Value
	}{
		{"levels in runs", []page{pageV1(format.Plain, 3, cat(sized(levelRuns...), plain)...)}, int32Column(7, nil, 9)},
		{"levels bit-packed in a run", []page{pageV1(format.Plain, 3, cat(sized(levelPacked...), plain)...)}, int32Column(7, nil, 9)},
		{"levels in the old encoding", []page{legacy}, int32Column(7, nil, 9)},
		{"v2", []page{pageV2(format.Plain, 3, 6, cat(levelRuns, plain)...)}, int32Column(7, nil, 9)},
		{"v2 without values", []page{pageV2(format.Plain, 2, 2, 4, 0)}, int32Column(nil, nil)},
		{"checksum", []page{withCRC}, int32Column(7, nil, 9)},
		{"index page", []page{index, pageV1(format.Plain, 3, cat(sized(levelRuns...), plain)...)}, int32Column(7, nil, 9)},
		{"empty page", []page{pageV1(format.Plain, 0, sized()...), pageV1(format.Plain, 1, cat(sized(2, 1), le32(7))...)}, int32Column(7)},
		{"dictionary", []page{dictPage(3, dict...), pageV1(format.RLEDictionary, 3, cat(sized(levelRuns...), []byte{2, 3, 0b1001})...)}, int32Column(7, nil, 9)},
		{"old dictionary", []page{oldDict, pageV1(format.PlainDictionary, 3, cat(sized(levelRuns...), []byte{2, 4, 2})...)}, int32Column(9, nil, 9)},
		{"dictionary of one", []page{dictPage(1, dict...), pageV1(format.RLEDictionary, 3, cat(sized(levelRuns...), []byte{0, 4})...)}, int32Column(5, nil, 5)},
		{"codes of no bits and no run", []page{dictPage(1, dict...), pageV1(format.RLEDictionary, 3, cat(sized(levelRuns...), []byte{0})...)}, int32Column(5, nil, 5)},
		{"empty dictionary", []page{dictPage(0), pageV1(format.RLEDictionary, 2, sized(4, 0)...)}, int32Column(nil, nil)},
		{"no dictionary, only NULLs", []page{pageV1(format.RLEDictionary, 2, cat(sized(4, 0), []byte{0})...)}, int32Column(nil, nil)},
		{"fallback in mid-chunk", []page{
			dictPage(3, dict...), pageV1(format.RLEDictionary, 1, cat(sized(2, 1), []byte{2, 2, 1})...),
			pageV1(format.Plain, 3, cat(sized(levelRuns...), plain)...),
			pageV2(format.RLEDictionary, 1, 2, 2, 1, 2, 2, 2),
		}, int32Column(7, 7, nil, 9, 9)},
		{"a long run", []page{pageV1(format.Plain, 300, sized(0xD8, 4, 0)...)}, int32Column(make([]any, 300)...)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantColumn(t, fileBuilder{rows: int64(len(test.want)), pages: test.pages}.build(t), test.want)
		})
	}
}

// readError reads all columns of a file and wants an error that contains
// text.
func readError(t *testing.T, data []byte, text string) {
	t.Helper()
	_, err := readAll("f.parquet", data, 100, func(int, *column.Vector) {})
	if err == nil {
		t.Fatalf("no error; want %q", text)
	}
	var typed *Error
	if !errors.As(err, &typed) || !strings.HasPrefix(err.Error(), "f.parquet: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("not an error as promised: %v", err)
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("error %q; want %q in it", err, text)
	}
}

// TestDamagedPages: each lie that a page can tell is found.
func TestDamagedPages(t *testing.T) {
	good := cat(sized(levelRuns...), le32(7), le32(9))
	sizes := func(p page, compressed, uncompressed int32) page {
		p.header.CompressedPageSize, p.header.UncompressedPageSize = compressed, uncompressed
		return p
	}
	badCRC := pageV1(format.Plain, 3, good...)
	badCRC.header.CRC = 1
	headless := page{header: format.PageHeader{Type: format.DataPage}, body: good}
	stranger := page{header: format.PageHeader{Type: 9}, body: good}
	dict := dictPage(2, cat(le32(1), le32(2))...)
	badDict := dict
	badDict.header.DictionaryPageHeader.V.Encoding = format.DeltaBinaryPacked
	tests := []struct {
		name  string
		pages []page
		want  string
	}{
		{"no page", nil, "fewer rows"},
		{"too few rows", []page{pageV1(format.Plain, 2, cat(sized(4, 1), le32(1), le32(2))...)}, "fewer rows"},
		{"too many rows", []page{pageV1(format.Plain, 4, good...)}, "a page of 4 rows"},
		{"a page too many", []page{pageV1(format.Plain, 3, good...), pageV1(format.Plain, 3, good...)}, "more rows"},
		{"negative rows", []page{pageV1(format.Plain, -3, good...)}, "a page of -3 rows"},
		{"negative size", []page{sizes(pageV1(format.Plain, 3, good...), -5, 5)}, "a page of -5 bytes"},
		{"size beyond the chunk", []page{sizes(pageV1(format.Plain, 3, good...), 5000, 5000)}, "a page of 5000 bytes"},
		{"negative uncompressed size", []page{sizes(pageV1(format.Plain, 3, good...), 0, -5)}, "a page of -5 bytes"},
		{"size beyond the limit", []page{sizes(pageV1(format.Plain, 3, good...), 0, math.MaxInt32)}, "the limit is"},
		{"size that is not so", []page{sizes(pageV1(format.Plain, 3, good...), 0, 5)}, "uncompressed data that should be 5"},
		{"checksum", []page{badCRC}, "checksum"},
		{"no header", []page{headless}, "without its header"},
		{"unknown type", []page{stranger}, "type 9"},
		{"levels too long", []page{pageV1(format.Plain, 3, 99, 0, 0, 0, 1)}, "99 bytes of definition levels"},
		{"levels cut off", []page{pageV1(format.Plain, 3, sized(2, 1)...)}, "definition levels: fewer"},
		{"level of too many bits", []page{pageV1(format.Plain, 3, sized(6, 2)...)}, "value 2 in a run of 1 bits"},
		{"no levels", []page{pageV1(format.Plain, 3, 1, 2)}, "no definition levels"},
		{"v2 levels too long", []page{pageV2(format.Plain, 3, 9, levelRuns...)}, "bytes of levels"},
		{"v2 negative levels", []page{pageV2(format.Plain, 3, -1, levelRuns...)}, "bytes of levels"},
		{"values cut off", []page{pageV1(format.Plain, 3, good[:len(good)-1]...)}, "fewer values"},
		{"encoding of other types", []page{pageV1(format.DeltaByteArray, 3, good...)}, "DELTA_BYTE_ARRAY"},
		{"unknown encoding", []page{pageV1(77, 3, good...)}, "(77)"},
		{"dictionary missing", []page{pageV1(format.RLEDictionary, 3, cat(sized(6, 1), []byte{1, 6, 0})...)}, "dictionary page missing"},
		{"empty dictionary", []page{dictPage(0), pageV1(format.RLEDictionary, 3, cat(sized(6, 1), []byte{1, 6, 0})...)}, "empty dictionary"},
		{"code too large", []page{dict, pageV1(format.RLEDictionary, 3, cat(sized(6, 1), []byte{2, 6, 2})...)}, "beyond the 2 entries"},
		{"codes cut off", []page{dict, pageV1(format.RLEDictionary, 3, cat(sized(6, 1), []byte{2, 4, 1})...)}, "dictionary codes: fewer"},
		{"codes of 33 bits", []page{dict, pageV1(format.RLEDictionary, 3, cat(sized(6, 1), []byte{33, 6, 2})...)}, "33 bits"},
		{"dictionary count", []page{dictPage(3, cat(le32(1), le32(2))...)}, "a dictionary of 3 values in 8 bytes"},
		{"dictionary count negative", []page{dictPage(-1, cat(le32(1), le32(2))...)}, "a dictionary of -1 values"},
		{"dictionary encoding", []page{badDict}, "DELTA_BINARY_PACKED"},
		{"two dictionaries", []page{dict, dict}, "not the first page"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			readError(t, fileBuilder{rows: 3, pages: test.pages}.build(t), test.want)
		})
	}
}

// TestValues: how values of a type come out, and which do not.
func TestValues(t *testing.T) {
	converted := func(p format.Type, c deprecated.ConvertedType, length, precision int32) format.SchemaElement {
		e := required(p)
		e.ConvertedType, e.TypeLength, e.Precision = thrift.New(c), thrift.New(length), thrift.New(precision)
		return e
	}
	fixed := func(length int32) format.SchemaElement {
		e := required(format.FixedLenByteArray)
		e.TypeLength = thrift.New(length)
		return e
	}
	logical := func(e format.SchemaElement, l format.LogicalTypeValue) format.SchemaElement {
		e.LogicalType.Value = l
		return e
	}
	interval := cat(le32(14), le32(3), le32(14_706_007)) // 04:05:06.007
	tests := []struct {
		name   string
		schema format.SchemaElement
		body   []byte
		want   column.Value
		err    string
	}{
		{"int8", converted(format.Int32, deprecated.Int8, 0, 0), le32(1<<32 - 128), wantInt(column.Type{Kind: column.Int8}, -128), ""},
		{"int8 too large", converted(format.Int32, deprecated.Int8, 0, 0), le32(128), column.Value{}, "row 0 does not fit int8"},
		{"uint16 too large", converted(format.Int32, deprecated.Uint16, 0, 0), le32(1 << 16), column.Value{}, "row 0 does not fit uint16"},
		{"uint32", converted(format.Int32, deprecated.Uint32, 0, 0), le32(math.MaxUint32), wantInt(column.Type{Kind: column.Uint32}, math.MaxUint32), ""},
		{"timestamp", converted(format.Int64, deprecated.TimestampMicros, 0, 0), le64(5), wantInt(column.TimestampType(column.Micro, false), 5), ""},
		{"decimal", converted(format.Int32, deprecated.Decimal, 0, 3), le32(999), wantInt(column.DecimalType(3, 0), 999), ""},
		{"decimal too large", converted(format.Int32, deprecated.Decimal, 0, 3), le32(1000), column.Value{}, "row 0 does not fit decimal(3,0)"},
		{"decimal in fixed bytes", converted(format.FixedLenByteArray, deprecated.Decimal, 3, 7), []byte{0xFF, 0xFF, 0xFE}, wantInt(column.DecimalType(7, 0), -2), ""},
		{"decimal in wide fixed bytes", converted(format.FixedLenByteArray, deprecated.Decimal, 40, 7), bigEndian(-2, 40), wantInt(column.DecimalType(7, 0), -2), ""},
		{"decimal in fixed bytes too large", converted(format.FixedLenByteArray, deprecated.Decimal, 20, 7), bytes.Repeat([]byte{1}, 20), column.Value{}, "row 0 does not fit"},
		{"wide decimal too large", converted(format.FixedLenByteArray, deprecated.Decimal, 16, 38), bytes.Repeat([]byte{0x7F}, 16), column.Value{}, "row 0 does not fit"},
		{"decimal in bytes", converted(format.ByteArray, deprecated.Decimal, 0, 7), sized(0xFE), wantInt(column.DecimalType(7, 0), -2), ""},
		{"decimal in no bytes", converted(format.ByteArray, deprecated.Decimal, 0, 7), sized(), column.Value{}, "row 0 does not fit"},
		{"interval", converted(format.FixedLenByteArray, deprecated.Interval, 12, 0), interval, column.Value{Type: column.IntervalType, Wide: column.NewInterval(14, 3, 14_706_007_000)}, ""},
		{"interval of great numbers", converted(format.FixedLenByteArray, deprecated.Interval, 12, 0), bytes.Repeat([]byte{0xFF}, 12), column.Value{Type: column.IntervalType, Wide: column.NewInterval(-1, -1, 4294967295000)}, ""},
		{"float16", logical(fixed(2), &format.Float16Type{}), []byte{0x00, 0xC1}, column.Value{Type: column.Type{Kind: column.Float16}, Float: -2.5}, ""},
		{"float16 subnormal", logical(fixed(2), &format.Float16Type{}), []byte{1, 0}, column.Value{Type: column.Type{Kind: column.Float16}, Float: 0x1p-24}, ""},
		{"float16 infinite", logical(fixed(2), &format.Float16Type{}), []byte{0, 0x7C}, column.Value{Type: column.Type{Kind: column.Float16}, Float: math.Inf(1)}, ""},
		{"int96", required(format.Int96), cat(le64(1500), le32(uint32(julianEpoch+1))), wantInt(column.TimestampType(column.Micro, false), 86400e6+1), ""},
		{"int96 before 1970", required(format.Int96), cat(le64(0), le32(uint32(julianEpoch-1))), wantInt(column.TimestampType(column.Micro, false), -86400e6), ""},
		{"int96 first", required(format.Int96), cat(le64(71945224192000), le32(1<<32-104311404)), wantInt(column.TimestampType(column.Micro, false), math.MinInt64), ""},
		{"int96 too late", required(format.Int96), cat(le64(0), le32(math.MaxInt32)), wantInt(column.TimestampType(column.Micro, false), math.MaxInt64), ""},
		{"int96 too early", required(format.Int96), cat(le64(0), le32(1<<31)), wantInt(column.TimestampType(column.Micro, false), math.MinInt64), ""},
		{"json", logical(required(format.ByteArray), &format.JsonType{}), sized('1'), column.Value{Type: column.Type{Kind: column.String}, Bytes: "1"}, ""},
		{"bson", logical(required(format.ByteArray), &format.BsonType{}), sized('1'), column.Value{Type: column.Type{Kind: column.Binary}, Bytes: "1"}, ""},
		{"byte array longer than its page", required(format.ByteArray), cat(le32(2), []byte("a")), column.Value{}, "longer than its page"},
		{"byte array of negative length", required(format.ByteArray), cat(le32(math.MaxUint32), []byte("a")), column.Value{}, "longer than its page"},
		{"null type with a value", logical(required(format.Int32), &format.NullType{}), le32(1), column.Value{}, "NULL type holds values"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data := fileBuilder{schema: []format.SchemaElement{test.schema}, rows: 1, pages: []page{pageV1(format.Plain, 1, test.body...)}}.build(t)
			if test.err != "" {
				readError(t, data, test.err)
				return
			}
			wantColumn(t, data, []column.Value{test.want})
		})
	}
}

// TestErrorRow: the row named is the one in the file, NULLs counted.
func TestErrorRow(t *testing.T) {
	e := optional(format.Int32)
	e.ConvertedType = thrift.New(deprecated.Uint8)
	pages := []page{
		pageV1(format.Plain, 2, cat(sized(4, 1), le32(1), le32(2))...),
		pageV1(format.Plain, 3, cat(sized(levelRuns...), le32(1), le32(256))...),
	}
	data := fileBuilder{schema: []format.SchemaElement{e}, rows: 5, pages: pages}.build(t)
	readError(t, data, `row group 0, column "x": row 4 does not fit uint8`)
	pages = []page{dictPage(1, le32(256)...), pageV1(format.RLEDictionary, 5, cat(sized(10, 1), []byte{1, 10, 0})...)}
	data = fileBuilder{schema: []format.SchemaElement{e}, rows: 5, pages: pages}.build(t)
	readError(t, data, "dictionary entry 0 does not fit uint8")
}

// TestStructLeaf: a leaf of structs is NULL where any of them is.
func TestStructLeaf(t *testing.T) {
	group := format.SchemaElement{Name: "a", RepetitionType: thrift.New(format.Optional), NumChildren: thrift.New(int32(1))}
	leaf := optional(format.Int32)
	leaf.Name = "b"
	levels := sized(3, 0b11_00_01_10, 0b10) // 2 bits each: 2, 1, 0, 3?, 2
	data := fileBuilder{
		schema: []format.SchemaElement{group, leaf}, rows: 3,
		pages: []page{pageV1(format.Plain, 3, cat(levels, le32(7))...)},
	}
	wantColumn(t, data.build(t), int32Column(7, nil, nil))
	data.rows = 4
	data.pages[0].header.DataPageHeader.V.NumValues = 4
	readError(t, data.build(t), `column "a.b": damaged: definition level above 2`)
}
