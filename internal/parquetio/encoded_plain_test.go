package parquetio

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
)

// Pages in DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY lie PLAIN, one behind the other, in no more
// memory than was said: of all codecs, with more values than are made at a time, and where texts
// are long for a reader that wants codes of them.
func TestEncodedMadePlain(t *testing.T) {
	texts := map[string]func(i int) string{
		"paths":  func(i int) string { return fmt.Sprintf("/a/path/%d/%d", i/100, i%7) },
		"few":    func(i int) string { return []string{"", "x", "xyz"}[i%3] },
		"sorted": func(i int) string { return fmt.Sprintf("%08d", i) },
		"long":   func(i int) string { return strings.Repeat("ab", i%500) },
	}
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip, &parquet.Lz4Raw}
	for name, text := range texts {
		for _, enc := range []encoding.Encoding{&parquet.DeltaLengthByteArray, &parquet.DeltaByteArray} {
			for _, codec := range codecs {
				for version := 1; version <= 2; version++ {
					t.Run(fmt.Sprintf("%s/%v/%v/v%d", name, enc, codec, version), func(t *testing.T) {
						node := parquet.Optional(parquet.Compressed(parquet.Encoded(parquet.String(), enc), codec))
						r := readerOf(t, textsOf(t, node, 5000, text, parquet.DataPageVersion(version), parquet.PageBufferSize(100_000)))
						e, _ := r.EncodedUnit(0)
						chunks, memory, ok := readEncoded(t, r, 0)
						if !ok || e.Unpacked != e.Bytes || e.Expanded != 0 || chunks[0].End > len(memory) {
							t.Fatalf("%+v, handed on: %v", e, ok)
						}
						at := 0
						for _, p := range chunks[0].Pages {
							if p.At != at || p.Bytes != p.Size || p.Codec != PageUncompressed || p.Coded || p.Encoding != PlainValues {
								t.Errorf("%+v, where %d is next", p, at)
							}
							at += p.Bytes
						}
						if !checkEncoded(t, r, 0) {
							t.Error("not handed on")
						}
						r.CodeTexts([]int{15})
						chunks, _, ok = readEncoded(t, r, 0)
						if long := name == "long"; !ok || chunks[0].Pages[0].Coded != long {
							t.Errorf("handed on: %v, %+v", ok, chunks[0].Pages)
						}
						r.CodeTexts([]int{StoredTexts})
						if chunks, _, ok = readEncoded(t, r, 0); !ok || chunks[0].Pages[0].Coded || chunks[0].DictPage != nil {
							t.Errorf("with texts of any length: %v, %+v", ok, chunks[0])
						}
					})
				}
			}
		}
	}
}

// textsOf is a file of a column of n texts, some of them NULL.
func textsOf(t *testing.T, node parquet.Node, n int, text func(i int) string, o ...parquet.WriterOption) []byte {
	t.Helper()
	values := make([]parquet.Value, n)
	for i := range values {
		if values[i] = parquet.ByteArrayValue([]byte(text(i))).Level(0, 1, 0); i%17 == 3 {
			values[i] = parquet.NullValue().Level(0, 0, 0)
		}
	}
	return writeValues(t, node, values, o...)
}

// writeValues is a file of a column of values, in one row group.
func writeValues(t *testing.T, node parquet.Node, values []parquet.Value, o ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewWriter(&b, append(o, parquet.NewSchema("t", parquet.Group{"x": node}))...)
	for _, v := range values {
		if _, err := w.WriteRows([]parquet.Row{{v}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// deltaInt32s is integers in DELTA_BINARY_PACKED.
func deltaInt32s(t *testing.T, values ...int32) []byte {
	t.Helper()
	b, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, values)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The room for texts that share bytes is promised by the footer, or guessed; what takes more is
// declined, and nothing is written behind it.
func TestEncodedPlainRoom(t *testing.T) {
	const n = 1000
	text := func(i int) string { return strings.Repeat("w", 100) + fmt.Sprintf("%04d", i) }
	node := parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)
	var values []parquet.Value
	for i := range n {
		values = append(values, parquet.ByteArrayValue([]byte(text(i))).Level(0, 0, 0))
	}
	data := writeValues(t, node, values)
	for _, x := range []struct {
		unencoded int64
		ok        bool
	}{{0, false}, {-1, false}, {104 * n, true}, {104*n - 1, true}, {50 * n, false}, {math.MaxInt64, false}, {mostEncoded - 1<<20, true}} {
		d, err := openBytes(t, Options{}, data)
		if err != nil {
			t.Fatal(err)
		}
		s := scanOf(t, d, 0)
		d.files[0].chunk(0, 0).MetaData.SizeStatistics.UnencodedByteArrayDataBytes = x.unencoded
		r := s.NewReader()
		e, there := s.EncodedUnit(0)
		if x.unencoded > 1<<20 { // not to be allocated
			if there != x.ok {
				t.Errorf("%d bytes: %v, %+v", x.unencoded, there, e)
			}
		} else if got := checkEncoded(t, r, 0); got != x.ok {
			t.Errorf("%d bytes: handed on: %v, %+v", x.unencoded, got, e)
		}
		r.Close()
	}
}

// Pages of a chunk of which some are made PLAIN cross compressed, if they are not, and keep their
// dictionary.
func TestEncodedPlainMixed(t *testing.T) {
	small := cat(sized(6, 1), deltaInt32s(t, 1, 2, 0), []byte("xyz"))
	codes := cat(sized(6, 1), []byte{1, 3, 2})
	entries := cat(sized([]byte(strings.Repeat("a", 40))...), sized([]byte(strings.Repeat("b", 40))...))
	pack := func(p page) page {
		p.header.UncompressedPageSize = int32(len(p.body))
		p.body = snappy.Encode(nil, p.body)
		return p
	}
	pages := []page{pack(dictPage(2, entries...)), pack(pageV1(format.RLEDictionary, 3, codes...)), pack(pageV1(format.DeltaLengthByteArray, 3, small...))}
	r := readerOf(t, fileBuilder{
		schema: []format.SchemaElement{optional(format.ByteArray)}, codec: format.Snappy, rows: 6, pages: pages,
		change: func(m *format.FileMetaData) {
			c := &m.RowGroups[0].Columns[0].MetaData
			c.Encoding = []format.Encoding{format.Plain, format.RLE, format.RLEDictionary, format.DeltaLengthByteArray}
			c.TotalUncompressedSize = 300
		},
	}.build(t))
	if !checkEncoded(t, r, 0) {
		t.Fatal("not handed on")
	}
	chunks, _, _ := readEncoded(t, r, 0)
	p := chunks[0].Pages
	if !p[0].Coded || p[1].Coded || p[1].Codec != PageUncompressed || chunks[0].Dict.Len() != 2 {
		t.Errorf("%+v", p)
	}
	r.CodeTexts([]int{StoredTexts})
	chunks, _, ok := readEncoded(t, r, 0)
	if d := chunks[0].DictPage; !ok || d == nil || d.Codec != PageSnappy || d.Size != len(entries) {
		t.Errorf("%v, the dictionary %+v", ok, d)
	}
	if e, _ := r.EncodedUnit(0); e.Expanded != 300 || e.Unpacked != e.Bytes {
		t.Errorf("%+v", e)
	}
}

// Damaged pages are declined, and so are those of which the footer does not tell.
func TestEncodedPlainDamage(t *testing.T) {
	lengths := func(bytes string, of ...int32) []byte { return cat(deltaInt32s(t, of...), []byte(bytes)) }
	shared := func(prefixes, of []int32, bytes string) []byte {
		return cat(deltaInt32s(t, prefixes...), deltaInt32s(t, of...), []byte(bytes))
	}
	const byLength, byPrefix = format.DeltaLengthByteArray, format.DeltaByteArray
	for _, x := range []struct {
		name   string
		enc    format.Encoding
		values []byte
		ok     bool
	}{
		{"lengths", byLength, lengths("abbccc", 1, 2, 3), true},
		{"bytes behind them", byLength, lengths("abbcccdd", 1, 2, 3), true},
		{"bytes missing", byLength, lengths("abbcc", 1, 2, 3), false},
		{"a negative length", byLength, lengths("abbccc", 1, -2, 3), false},
		{"a long length", byLength, lengths("abbccc", 1, math.MaxInt32, 3), false},
		{"values too many", byLength, lengths("abbcccd", 1, 2, 3, 1), false},
		{"no lengths", byLength, []byte("abbccc"), false},
		{"prefixes", byPrefix, shared([]int32{0, 1, 2}, []int32{1, 1, 0}, "ab"), true},
		{"a prefix of nothing", byPrefix, shared([]int32{1, 1, 2}, []int32{1, 1, 0}, "ab"), false},
		{"a long prefix", byPrefix, shared([]int32{0, 1, 3}, []int32{1, 1, 0}, "ab"), false},
		{"a negative prefix", byPrefix, shared([]int32{0, -1, 2}, []int32{1, 1, 0}, "ab"), false},
		{"suffixes missing", byPrefix, shared([]int32{0, 1, 2}, []int32{1, 1, 0}, "a"), false},
		{"no suffixes", byPrefix, deltaInt32s(t, 0, 1, 2), false},
		{"no prefixes", byPrefix, []byte("ab"), false},
	} {
		for _, told := range []bool{true, false} {
			r := readerOf(t, fileBuilder{
				schema: []format.SchemaElement{required(format.ByteArray)}, rows: 3, pages: []page{pageV1(x.enc, 3, x.values...)},
				change: func(m *format.FileMetaData) {
					c := &m.RowGroups[0].Columns[0].MetaData
					c.TotalUncompressedSize = 100
					if told {
						c.Encoding = []format.Encoding{x.enc}
					}
				},
			}.build(t))
			if ok := checkEncoded(t, r, 0); ok != (x.ok && told) {
				t.Errorf("%s, told: %v: handed on: %v", x.name, told, ok)
			}
		}
	}
	// What lacks values is for the device to find: it looks at the levels.
	r := readerOf(t, fileBuilder{
		schema: []format.SchemaElement{required(format.ByteArray)}, rows: 3, pages: []page{pageV1(byLength, 3, lengths("ab", 1, 1)...)},
		change: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.Encoding = []format.Encoding{byLength}
		},
	}.build(t))
	if !checkEncoded(t, r, 0) {
		t.Error("a page of two values of three was not handed on")
	}
}

// A few bytes of a page that promise long texts ask for no more memory than the chunk has room for.
func TestEncodedPlainBomb(t *testing.T) {
	first := strings.Repeat("x", 1000)
	prefixes, suffixes := make([]int32, 1000), make([]int32, 1000)
	for i := range prefixes {
		prefixes[i] = 1000
	}
	prefixes[0], suffixes[0] = 0, 1000
	values := cat(deltaInt32s(t, prefixes...), deltaInt32s(t, suffixes...), []byte(first))
	data := fileBuilder{
		schema: []format.SchemaElement{required(format.ByteArray)}, rows: 1000, pages: []page{pageV1(format.DeltaByteArray, 1000, values...)},
		change: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.Encoding = []format.Encoding{format.DeltaByteArray}
		},
	}.build(t)
	memory := budgettest.AtMost(1 << 20)
	d, err := openBytes(t, Options{Limits: Limits{Budget: memory}}, data)
	if err != nil {
		t.Fatal(err)
	}
	r := scanOf(t, d, 0).NewReader()
	before := memory.Committed()
	if checkEncoded(t, r, 0) {
		t.Error("handed on")
	}
	if more := memory.Committed() - before; more > 256<<10 {
		t.Errorf("%d bytes more are held", more)
	}
	r.Close()
}

// Wherever memory is refused the unit is not handed on, and nothing of it is kept.
func TestEncodedPlainRefused(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Gzip} {
		node := parquet.Optional(parquet.Compressed(parquet.Encoded(parquet.String(), &parquet.DeltaByteArray), codec))
		refuseEncoded(t, textsOf(t, node, 2000, func(i int) string { return fmt.Sprintf("%d and more of it, and more", i) }))
	}
}

// halfType is floats of 16 bits.
type halfType struct{ parquet.Type }

func (halfType) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// Floats of 16 bits are handed on as FLOAT and decimals of byte arrays as INT64, in all encodings,
// with dictionaries and without.
func TestEncodedMadeNumbers(t *testing.T) {
	halves := func(i int) parquet.Value {
		return parquet.FixedLenByteArrayValue([]byte{byte(i), byte(i * 7 >> 3)})
	}
	decimals := func(i int) parquet.Value {
		return parquet.ByteArrayValue(bigEndian(int64(i*i)-3000, 8+i%12)[max(i%3, 0):])
	}
	half, bytes := parquet.Leaf(halfType{parquet.FixedLenByteArrayType(2)}), parquet.Decimal(2, 18, parquet.ByteArrayType)
	wide := parquet.Decimal(2, 38, parquet.ByteArrayType)
	for _, x := range []struct {
		name  string
		node  parquet.Node
		value func(i int) parquet.Value
		as    Physical
		enc   []encoding.Encoding
	}{
		{"half", half, halves, Float, []encoding.Encoding{&parquet.Plain, &parquet.ByteStreamSplit, &parquet.DeltaByteArray, &parquet.RLEDictionary}},
		{"bytes", bytes, decimals, Int64, []encoding.Encoding{&parquet.Plain, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray, &parquet.RLEDictionary}},
		{"wide bytes", wide, decimals, Int64, []encoding.Encoding{&parquet.Plain, &parquet.DeltaLengthByteArray}},
	} {
		for _, enc := range x.enc {
			for version := 1; version <= 2; version++ {
				for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip} {
					t.Run(fmt.Sprintf("%s/%v/v%d/%v", x.name, enc, version, codec), func(t *testing.T) {
						values := make([]parquet.Value, 3000)
						for i := range values {
							if values[i] = x.value(i%700).Level(0, 1, 0); i%11 == 0 {
								values[i] = parquet.NullValue().Level(0, 0, 0)
							}
						}
						node := parquet.Optional(parquet.Compressed(parquet.Encoded(x.node, enc), codec))
						r := readerOf(t, writeValues(t, node, values, parquet.DataPageVersion(version), parquet.PageBufferSize(900)))
						if as, ok := r.scan.Encoded(0); !ok || as.Physical != x.as {
							t.Fatalf("%v, %+v", ok, as)
						}
						for u := range r.scan.units {
							if !checkEncoded(t, r, u) {
								t.Errorf("unit %d was not handed on", u)
							}
						}
					})
				}
			}
		}
	}
}

// Decimals of which 64 bits do not hold all are declined: by the footer where it tells, else by
// their page, if it is read here.
func TestEncodedBeyond64(t *testing.T) {
	large := append([]byte{1}, make([]byte, 15)...)
	for _, x := range []struct {
		name string
		node parquet.Node
		v    parquet.Value
		told bool // by the footer
		ok   bool
	}{
		{"small", parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16)), parquet.FixedLenByteArrayValue(bigEndian(-5, 16)), true, true},
		{"fixed", parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16)), parquet.FixedLenByteArrayValue(large), true, false},
		{"fixed, not told", parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16)), parquet.FixedLenByteArrayValue(large), false, true},
		{"bytes", parquet.Decimal(2, 38, parquet.ByteArrayType), parquet.ByteArrayValue(large), true, false},
		{"bytes, not told", parquet.Decimal(2, 38, parquet.ByteArrayType), parquet.ByteArrayValue(large), false, false},
	} {
		one := parquet.Encoded(x.node, &parquet.Plain)
		data := writeValues(t, one, []parquet.Value{x.v.Level(0, 0, 0)})
		r := readerOf(t, data)
		if !x.told {
			r.scan.d.files[0].chunk(0, 0).MetaData.Statistics = format.Statistics{}
		}
		if ok := checkEncoded(t, r, 0); ok != x.ok {
			t.Errorf("%s: handed on: %v", x.name, ok)
		}
	}
}
