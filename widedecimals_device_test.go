package gagg_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// A row group with a decimal that 64 bits do not hold is the CPU's, whether a value of it is in a
// page, in a dictionary or in a byte array: as an argument, a key and in a filter. The others are
// the device's.
func TestDeviceWideDecimals(t *testing.T) {
	gputest.Need(t, 1)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays()}
	fixed := parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16))
	var out bytes.Buffer
	w := parquet.NewWriter(&out, parquet.NewSchema("t", parquet.Group{
		"a": parquet.Leaf(parquet.Int32Type),
		"b": parquet.Encoded(fixed, &parquet.Plain), "c": parquet.Encoded(fixed, &parquet.RLEDictionary),
		"d": parquet.Encoded(parquet.Decimal(2, 38, parquet.ByteArrayType), &parquet.Plain),
	}), parquet.MaxRowsPerRowGroup(500))
	const rows, at = 3000, 1234
	for r := range rows {
		v := bytes.Repeat([]byte{byte(-(r % 2))}, 16) // -1 and 0, and above
		v[15] = byte(r % 7)
		row := parquet.Row{parquet.Int32Value(int32(r % 10)), parquet.FixedLenByteArrayValue(v), parquet.FixedLenByteArrayValue(v), parquet.ByteArrayValue(v)}
		if r == at {
			large := append([]byte{0, 0, 0, 0, 0, 0, 1}, make([]byte, 9)...) // 2^72
			row[1], row[2], row[3] = parquet.FixedLenByteArrayValue(large), parquet.FixedLenByteArrayValue(large), parquet.ByteArrayValue(large)
		}
		for c := range row {
			row[c] = row[c].Level(0, 0, c)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	from := gagg.Parquet("wide", bytes.NewReader(out.Bytes()), int64(out.Len()))
	for _, q := range []gagg.Query{
		{By: []string{"a"}, Aggs: exprs("sum(b)")},
		{By: []string{"a"}, Aggs: exprs("sum(c)", "count(*)")},
		{By: []string{"a"}, Aggs: exprs("mean(d)")},
		{By: []string{"b"}, Aggs: exprs("count(*)")},
		{By: []string{"d"}, Aggs: exprs("count(*)")},
		{By: []string{"a"}, Aggs: exprs("count(*)"), Where: "b >= 0"},
		{By: []string{"b * 2"}, Aggs: exprs("count(*)")},
	} {
		q.From = from
		want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		// batches of one row group
		got, s, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 3 << 20, Streams: 1}))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("by %v, %v: %d groups, want %d, or others; %v", q.By, q.Aggs, len(got), len(want), err)
		}
		if e := s.Encoded; e.Rows == 0 || e.Rows > rows-500 {
			t.Errorf("by %v, %v: those of devices %+v, fallbacks %v", q.By, q.Aggs, e, s.Fallbacks)
		}
	}
}
