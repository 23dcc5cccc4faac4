package gagg_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// encodingsSchema has a column for each encoding and type that devices decode beside PLAIN numbers
// and texts; the second letter of a name is o where values may be NULL.
func encodingsSchema(codec compress.Codec) *parquet.Schema {
	split, delta, runs := &parquet.ByteStreamSplit, &parquet.DeltaBinaryPacked, &parquet.RLE
	fixed := func(width int) parquet.Node { return parquet.Decimal(2, 12, parquet.FixedLenByteArrayType(width)) }
	group := parquet.Group{
		"a":  parquet.Encoded(parquet.Leaf(parquet.Int64Type), delta),
		"bo": parquet.Optional(parquet.Encoded(parquet.Int(32), delta)),
		"co": parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.DoubleType), split)),
		"d":  parquet.Encoded(parquet.Leaf(parquet.FloatType), split),
		"eo": parquet.Optional(parquet.Leaf(parquet.BooleanType)),
		"f":  parquet.Encoded(parquet.Leaf(parquet.BooleanType), runs),
		"go": parquet.Optional(fixed(6)),
		"h":  parquet.Encoded(fixed(16), split),
		"i":  parquet.Encoded(fixed(5), &parquet.RLEDictionary),
		"j":  parquet.Leaf(parquet.Int96Type),
		"ko": parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.Int96Type), &parquet.RLEDictionary)),
		"l":  parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray),
		"mo": parquet.Optional(parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)),
		"n":  parquet.Encoded(fixed(7), &parquet.DeltaByteArray),
		"q":  parquet.Encoded(parquet.UUID(), &parquet.Plain),
		"ro": parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(3)), &parquet.ByteStreamSplit)),
		"s":  parquet.Encoded(parquet.Leaf(halfType{parquet.FixedLenByteArrayType(2)}), &parquet.ByteStreamSplit),
		"to": parquet.Optional(parquet.Encoded(parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16)), &parquet.RLEDictionary)),
		"u":  parquet.Encoded(parquet.Decimal(2, 12, parquet.ByteArrayType), &parquet.Plain),
		"v":  parquet.Encoded(parquet.Decimal(2, 30, parquet.ByteArrayType), &parquet.DeltaByteArray),
		"w":  parquet.Encoded(parquet.Decimal(3, 25, parquet.FixedLenByteArrayType(11)), &parquet.Plain),
		"x":  parquet.Encoded(parquet.UUID(), &parquet.RLEDictionary),
		"oo": parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)),                // NULL in all rows
		"po": parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.RLEDictionary)), // likewise
	}
	for name, node := range group {
		group[name] = parquet.Compressed(node, codec)
	}
	return parquet.NewSchema("t", group)
}

// halfType is floats of 16 bits.
type halfType struct{ parquet.Type }

func (halfType) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// encodingsFile has rows of that schema, 1,000 a row group.
func encodingsFile(t *testing.T, rows, version int, codec compress.Codec) gagg.Source {
	t.Helper()
	var out bytes.Buffer
	schema := encodingsSchema(codec)
	w := parquet.NewWriter(&out, schema, parquet.DataPageVersion(version), parquet.PageBufferSize(2000), parquet.WriteBufferSize(0), parquet.MaxRowsPerRowGroup(1000))
	decimal := func(v int64, width int) parquet.Value {
		b := bytes.Repeat([]byte{byte(v >> 63)}, width)
		for k := range min(width, 8) {
			b[width-1-k] = byte(v >> (8 * k))
		}
		return parquet.FixedLenByteArrayValue(b)
	}
	for r := range rows {
		v := int64(r*7919%1013) - 500
		day := parquet.Int96Value(deprecated.Int96{uint32(r % 5 * 1000), 0, uint32(2440588 + v)})
		row := parquet.Row{
			parquet.Int64Value(v * v * v), parquet.Int32Value(int32(v % 10)), parquet.DoubleValue(float64(v) / 4), parquet.FloatValue(float32(v) / 8),
			parquet.BooleanValue(v%3 == 0), parquet.BooleanValue(r%100 < 60), decimal(v*1_000_003, 6), decimal(-v, 16), decimal(v%7, 5), day, day,
			parquet.ByteArrayValue(fmt.Appendf(nil, "%d", v)), parquet.ByteArrayValue(fmt.Appendf(nil, "/a/path/of/some/bytes/%d", v%50)), decimal(v*v, 7),
			parquet.NullValue(), parquet.NullValue(),
			decimal(v%300, 16), decimal(v%9, 3), parquet.FixedLenByteArrayValue([]byte{byte(v), 0x3c + byte(v%3)}),
			decimal(v*v*v%5003, 16), parquet.ByteArrayValue(decimal(v*77, 3+r%9).ByteArray()), parquet.ByteArrayValue(decimal(v*v*v, 5+r%9).ByteArray()),
			decimal(v*1_000_000_007, 11), decimal(-v%20, 16),
		}
		for c, name := range schema.Columns() {
			optional, def := len(name[0]) == 2, 0
			if optional {
				def = 1
			}
			if row[c].IsNull() || optional && (r+c)%11 == 0 {
				row[c], def = parquet.NullValue(), 0
			}
			row[c] = row[c].Level(0, def, c)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return gagg.Parquet("encodings", bytes.NewReader(out.Bytes()), int64(out.Len()))
}

// Of each encoding and type that devices decode, in keys, arguments and filters, they make the
// CPU's answer, of all rows.
func TestDeviceEncodings(t *testing.T) {
	for _, version := range []int{1, 2} {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd} {
			sameEncodings(t, version, codec, []gagg.Query{
				{By: []string{"bo", "eo"}, Aggs: exprs("count(*)", "sum(a)", "max(co)", "min(d)", "count(go)")},
				{By: []string{"f", "i"}, Aggs: exprs("sum(go)", "max(h)", "min(j)", "max(ko)", "median(co)")},
				{By: []string{"go"}, Aggs: exprs("count(*)", "max(a)", "sum(h)")},
				{By: []string{"ko", "h"}, Aggs: exprs("count(eo)", "min(a)")},
				{By: []string{"co", "j"}, Aggs: exprs("count(*)", "sum(bo)")},
				{By: []string{"a"}, Aggs: exprs("max(d)"), Where: "f and bo > 2 or h < 0"},
			})
		}
	}
}

// Pages that workers make PLAIN are the device's too: as keys of any length, by codes, and where
// only lengths of texts are wanted.
func TestDeviceMadePlain(t *testing.T) {
	for version, codec := range map[int]compress.Codec{1: &parquet.Gzip, 2: &parquet.Snappy} {
		sameEncodings(t, version, codec, []gagg.Query{
			{By: []string{"l"}, Aggs: exprs("count(*)", "sum(n)")},
			{By: []string{"mo", "i"}, Aggs: exprs("count(*)", "max(n)")},
			{By: []string{"upper(l)"}, Aggs: exprs("count(*)"), Where: "mo <> '/a/path/of/some/bytes/3'"},
			{By: []string{"i"}, Aggs: exprs("count(*)"), Where: "strlen(mo) > 23 and l <> ''"},
		})
	}
}

// Strings and decimals of a fixed number of bytes, decimals of byte arrays and of more than 18
// digits, and floats of 16 bits are keys, arguments and what is computed of.
func TestDeviceFixed(t *testing.T) {
	for version, codec := range map[int]compress.Codec{1: &parquet.Snappy, 2: &parquet.Zstd} {
		sameEncodings(t, version, codec, []gagg.Query{
			{By: []string{"q"}, Aggs: exprs("count(*)", "sum(to)", "sum(v)", "mean(w)")},
			{By: []string{"x", "ro"}, Aggs: exprs("count(*)", "sum(u)", "max(u)")},
			{By: []string{"s"}, Aggs: exprs("count(*)", "count(to)", "count(u)")},
			{By: []string{"u", "i"}, Aggs: exprs("min(s)", "sum(s)", "median(s)")},
			{By: []string{"to"}, Aggs: exprs("count(*)", "sum(w)")},
			{By: []string{"w"}, Aggs: exprs("count(*)"), Where: "to > 3 or v < 0"},
			{By: []string{"v"}, Aggs: exprs("count(*)", "sum(to * 2)")},
			{By: []string{"go * h"}, Aggs: exprs("count(*)")}, // 24 digits
			{By: []string{"h * h * h"}, Aggs: exprs("sum(a)")},
			{By: []string{"to + 1"}, Aggs: exprs("sum(a)")},
		})
	}
}

// Columns of NULLs alone, whose dictionaries have no entries, are the device's.
func TestDeviceEmptyDictionaries(t *testing.T) {
	sameEncodings(t, 1, &parquet.Snappy, []gagg.Query{
		{By: []string{"oo", "i"}, Aggs: exprs("count(*)", "sum(po)", "count(po)")},
		{By: []string{"po", "upper(oo)"}, Aggs: exprs("count(*)", "max(a)")},
		{By: []string{"i"}, Aggs: exprs("count(*)", "count(po)"), Where: "oo is null and strlen(oo) is null"},
	})
}

// sameEncodings compares the answers of queries of a file of encodingsFile on a device with the
// CPU's.
func sameEncodings(t *testing.T, version int, codec compress.Codec, queries []gagg.Query) {
	t.Helper()
	gputest.Need(t, 1)
	const rows = 5000
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays()}
	from := encodingsFile(t, rows, version, codec)
	for _, q := range queries {
		q.From = from
		want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		got, s, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}))
		what := fmt.Sprintf("v%d, %v, by %v", version, codec, q.By)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d groups, want %d, or others; %v", what, len(got), len(want), err)
		}
		if e := s.Encoded; e.Rows != rows || e.Declined != 0 {
			t.Errorf("%s: those of devices %+v, fallbacks %v", what, e, s.Fallbacks)
		}
	}
}
