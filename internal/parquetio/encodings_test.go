package parquetio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
)

// wireCase is a Parquet type, what of it a writer stores and a reader must
// make of that, and the encodings it may come in.
type wireCase struct {
	name      string
	node      parquet.Node
	typ       column.Type
	encodings []encoding.Encoding
	make      func(r *rand.Rand) (parquet.Value, column.Value)
}

func wantInt(t column.Type, v int64) column.Value { return column.Value{Type: t, Int: v} }

func wireCases() []wireCase {
	ints := []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaBinaryPacked, &parquet.ByteStreamSplit}
	floats := []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.ByteStreamSplit}
	texts := []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray}
	fixed := []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaByteArray, &parquet.ByteStreamSplit}
	int32s := func(t column.Type, lo, hi int64) func(*rand.Rand) (parquet.Value, column.Value) {
		return func(r *rand.Rand) (parquet.Value, column.Value) {
			v := lo + r.Int64N(hi-lo+1)
			return parquet.Int32Value(int32(v)), wantInt(t, v)
		}
	}
	int64s := func(t column.Type) func(*rand.Rand) (parquet.Value, column.Value) {
		return func(r *rand.Rand) (parquet.Value, column.Value) {
			v := int64(r.Uint64()) >> r.IntN(64)
			return parquet.Int64Value(v), wantInt(t, v)
		}
	}
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	dec9, dec18, dec38, dec76 := column.DecimalType(9, 2), column.DecimalType(18, 4), column.DecimalType(38, 10), column.DecimalType(76, 0)
	stamp := func(u column.Unit) column.Type { return column.TimestampType(u, true) }
	cases := []wireCase{
		{"int8", parquet.Int(8), kind(column.Int8), ints, int32s(kind(column.Int8), -128, 127)},
		{"int16", parquet.Int(16), kind(column.Int16), ints, int32s(kind(column.Int16), -32768, 32767)},
		{"int32", parquet.Leaf(parquet.Int32Type), kind(column.Int32), ints, int32s(kind(column.Int32), math.MinInt32, math.MaxInt32)},
		{"uint8", parquet.Uint(8), kind(column.Uint8), ints, int32s(kind(column.Uint8), 0, 255)},
		{"uint16", parquet.Uint(16), kind(column.Uint16), ints, int32s(kind(column.Uint16), 0, 65535)},
		{"uint32", parquet.Uint(32), kind(column.Uint32), ints, int32s(kind(column.Uint32), 0, math.MaxUint32)},
		{"date", parquet.Date(), kind(column.Date), ints, int32s(kind(column.Date), -800000, 800000)},
		{"time32", parquet.Time(parquet.Millisecond), column.Type{Kind: column.Time, Unit: column.Milli, UTC: true}, ints, int32s(column.Type{Kind: column.Time, Unit: column.Milli, UTC: true}, 0, 86399999)},
		{"decimal9", parquet.Decimal(2, 9, parquet.Int32Type), dec9, ints, int32s(dec9, -999999999, 999999999)},
		{"int64", parquet.Leaf(parquet.Int64Type), kind(column.Int64), ints, int64s(kind(column.Int64))},
		{"uint64", parquet.Uint(64), kind(column.Uint64), ints, int64s(kind(column.Uint64))},
		{"timestamp_ms", parquet.Timestamp(parquet.Millisecond), stamp(column.Milli), ints, int64s(stamp(column.Milli))},
		{"timestamp_us", parquet.Timestamp(parquet.Microsecond), stamp(column.Micro), ints, int64s(stamp(column.Micro))},
		{"timestamp_ns", parquet.TimestampAdjusted(parquet.Nanosecond, false), column.TimestampType(column.Nano, false), ints, int64s(column.TimestampType(column.Nano, false))},
		{"decimal18", parquet.Decimal(4, 18, parquet.Int64Type), dec18, ints, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := r.Int64N(2e18-1) - (1e18 - 1)
			return parquet.Int64Value(v), wantInt(dec18, v)
		}},
		{"bool", parquet.Leaf(parquet.BooleanType), kind(column.Bool), []encoding.Encoding{&parquet.Plain, &parquet.RLE}, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := r.IntN(3) / 2
			return parquet.BooleanValue(v == 1), wantInt(kind(column.Bool), int64(v))
		}},
		{"int96", parquet.Leaf(parquet.Int96Type), column.TimestampType(column.Micro, false), []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}, func(r *rand.Rand) (parquet.Value, column.Value) {
			day, nanos := uint32(2440588-1000+r.IntN(2000)), uint64(r.Int64N(86400e9))
			v := (int64(day)-2440588)*86400e6 + int64(nanos/1000)
			return parquet.Int96Value(deprecated.Int96{uint32(nanos), uint32(nanos >> 32), day}), wantInt(column.TimestampType(column.Micro, false), v)
		}},
		{"float", parquet.Leaf(parquet.FloatType), kind(column.Float32), floats, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := float32(r.NormFloat64())
			return parquet.FloatValue(v), column.Value{Type: kind(column.Float32), Float: float64(v)}
		}},
		{"double", parquet.Leaf(parquet.DoubleType), kind(column.Float64), floats, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := r.NormFloat64()
			return parquet.DoubleValue(v), column.Value{Type: kind(column.Float64), Float: v}
		}},
		{"string", parquet.String(), kind(column.String), texts, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := fmt.Sprintf("%0*d", r.IntN(40), r.IntN(1000))
			return parquet.ByteArrayValue([]byte(v)), column.Value{Type: kind(column.String), Bytes: v}
		}},
		{"binary", parquet.Leaf(parquet.ByteArrayType), kind(column.Binary), texts, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := make([]byte, r.IntN(4))
			return parquet.ByteArrayValue(v), column.Value{Type: kind(column.Binary), Bytes: string(v)}
		}},
		{"uuid", parquet.UUID(), kind(column.UUID), fixed, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := binary.BigEndian.AppendUint64(make([]byte, 8), r.Uint64())
			return parquet.FixedLenByteArrayValue(v), column.Value{Type: kind(column.UUID), Bytes: string(v)}
		}},
		{"fixed", parquet.Leaf(parquet.FixedLenByteArrayType(3)), column.Type{Kind: column.FixedBinary, Width: 3}, fixed, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := []byte{byte(r.IntN(3)), byte(r.IntN(3)), byte(r.IntN(256))}
			return parquet.FixedLenByteArrayValue(v), column.Value{Type: column.Type{Kind: column.FixedBinary, Width: 3}, Bytes: string(v)}
		}},
	}
	for _, width := range []int{5, 8, 9, 16} {
		name := fmt.Sprintf("decimal_fixed%d", width)
		cases = append(cases, wireCase{name, parquet.Decimal(2, 9, parquet.FixedLenByteArrayType(width)), dec9, fixed, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := r.Int64N(2e9-1) - 999999999
			return parquet.FixedLenByteArrayValue(bigEndian(v, width)), wantInt(dec9, v)
		}})
	}
	for typ, width := range map[column.Type]int{dec38: 16, dec76: 32} {
		name := fmt.Sprintf("decimal%d_fixed%d", typ.Precision, width)
		cases = append(cases, wireCase{name, parquet.Decimal(int(typ.Scale), int(typ.Precision), parquet.FixedLenByteArrayType(width)), typ, fixed, func(r *rand.Rand) (parquet.Value, column.Value) {
			v := int64(r.Uint64())
			return parquet.FixedLenByteArrayValue(bigEndian(v, width)), column.Value{Type: typ, Wide: decimal256.FromI64(v)}
		}})
	}
	cases = append(cases, wireCase{"decimal_bytes", parquet.Decimal(10, 38, parquet.ByteArrayType), dec38, texts, func(r *rand.Rand) (parquet.Value, column.Value) {
		v := int64(r.Uint64()) >> r.IntN(60)
		return parquet.ByteArrayValue(bigEndian(v, 8+r.IntN(8))), column.Value{Type: dec38, Wide: decimal256.FromI64(v)}
	}})
	return cases
}

// bigEndian is v in width bytes.
func bigEndian(v int64, width int) []byte {
	b := bytes.Repeat([]byte{byte(v >> 63)}, max(width-8, 0))
	b = binary.BigEndian.AppendUint64(b, uint64(v))
	return b[len(b)-width:]
}

// writeColumn writes values to a file of one column, in row groups of 900
// rows and tiny pages.
func writeColumn(t testing.TB, node parquet.Node, version int, values []parquet.Value) []byte {
	var out bytes.Buffer
	w := parquet.NewWriter(&out, parquet.NewSchema("t", parquet.Group{"x": node}), parquet.DataPageVersion(version), parquet.PageBufferSize(300), parquet.WriteBufferSize(0))
	level := 0
	if node.Optional() {
		level = 1
	}
	for len(values) > 0 {
		n := min(len(values), 900)
		for _, v := range values[:n] {
			def := level
			if v.IsNull() {
				def = 0
			}
			if _, err := w.WriteRows([]parquet.Row{{v.Level(0, def, 0)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		values = values[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// wantColumn reads the only column of a file in steps of several sizes and
// compares it with want.
func wantColumn(t *testing.T, data []byte, want []column.Value) {
	t.Helper()
	f, err := openFile("t.parquet", bytes.NewReader(data), int64(len(data)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if f.leaves[0].err != nil {
		t.Fatal(f.leaves[0].err)
	}
	for _, batch := range []int{1 << 20, 1, 7, 64} {
		row := 0
		_, err := readColumn(f, 0, batch, func(v *column.Vector) {
			checkVector(t, v)
			for i := range v.Len {
				if got := v.At(i); row < len(want) && got != want[row] {
					t.Fatalf("batch %d, row %d: %+v, want %+v", batch, row, got, want[row])
				}
				row++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if row != len(want) {
			t.Fatalf("batch %d: %d rows, want %d", batch, row, len(want))
		}
	}
}

// checkVector checks what package column promises of every slot, those of
// NULL rows included.
func checkVector(t *testing.T, v *column.Vector) {
	t.Helper()
	if v.Null != nil && len(v.Null) != v.Len {
		t.Fatalf("%d NULL flags for %d rows", len(v.Null), v.Len)
	}
	if v.Dict != nil {
		if len(v.Codes) != v.Len {
			t.Fatalf("%d codes for %d rows", len(v.Codes), v.Len)
		}
		for i, c := range v.Codes {
			if c < 0 || int(c) >= v.Dict.Len() {
				t.Fatalf("row %d: code %d of %d", i, c, v.Dict.Len())
			}
		}
		v = &v.Dict.Values
	}
	got := [...]int{column.RepInt64: len(v.Int), column.RepFloat64: len(v.Float), column.RepWide: len(v.Wide), column.RepBytes: len(v.Span)}
	for rep, n := range got {
		if want := map[bool]int{true: v.Len}[column.Rep(rep) == v.Type.Rep()]; n != want {
			t.Fatalf("representation %d of %v has %d values, want %d", rep, v.Type, n, want)
		}
	}
	if v.Span != nil && cap(v.Data) < len(v.Data)+column.SpanPadding {
		t.Fatalf("Data of %d bytes has room for %d", len(v.Data), cap(v.Data))
	}
	for i, s := range v.Span {
		if uint64(s.Off)+uint64(s.Len) > uint64(len(v.Data)) {
			t.Fatalf("row %d: span %v in %d bytes", i, s, len(v.Data))
		}
	}
}

// makeColumn makes n values, of which a part may be NULL and many repeat.
func makeColumn(c wireCase, r *rand.Rand, n int, nulls float64) (in []parquet.Value, want []column.Value) {
	pool := make([]struct {
		in   parquet.Value
		want column.Value
	}, 40)
	for i := range pool {
		pool[i].in, pool[i].want = c.make(r)
	}
	run := 1 // rows left that are like the last one
	for len(in) < n {
		p := pool[r.IntN(len(pool))]
		if r.Float64() < nulls {
			p.in, p.want = parquet.NullValue(), column.Value{Type: c.typ, Null: true}
		}
		if r.IntN(10) == 0 {
			run = r.IntN(100)
		}
		for ; run >= 0 && len(in) < n; run-- {
			in, want = append(in, p.in), append(want, p.want)
		}
		run = 0
	}
	return in, want
}

// TestEncodings: every type in every encoding that it may come in, in both
// page versions, with and without NULLs.
func TestEncodings(t *testing.T) {
	for _, c := range wireCases() {
		for _, enc := range c.encodings {
			for version := 1; version <= 2; version++ {
				for _, nulls := range []float64{-1, 0, 0.3, 1} {
					name := fmt.Sprintf("%s/%v/v%d/nulls=%v", c.name, enc, version, nulls)
					t.Run(name, func(t *testing.T) {
						r := rand.New(rand.NewPCG(1, uint64(len(name))))
						in, want := makeColumn(c, r, 1000, nulls)
						node := parquet.Encoded(c.node, enc)
						if nulls >= 0 {
							node = parquet.Optional(node)
						}
						wantColumn(t, writeColumn(t, node, version, in), want)
					})
				}
			}
		}
	}
}

// TestCodecs: pages in every codec, dictionary pages included.
func TestCodecs(t *testing.T) {
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw}
	for _, c := range wireCases() {
		if c.name != "string" && c.name != "double" {
			continue
		}
		for _, codec := range codecs {
			for _, enc := range []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary} {
				for version := 1; version <= 2; version++ {
					t.Run(fmt.Sprintf("%s/%v/%v/v%d", c.name, codec, enc, version), func(t *testing.T) {
						in, want := makeColumn(c, rand.New(rand.NewPCG(2, 3)), 2000, 0.2)
						node := parquet.Optional(parquet.Compressed(parquet.Encoded(c.node, enc), codec))
						wantColumn(t, writeColumn(t, node, version, in), want)
					})
				}
			}
		}
	}
}
