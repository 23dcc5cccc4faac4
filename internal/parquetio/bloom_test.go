package parquetio

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// bloomFile is a file that holds just a bloom filter, one that denies every
// value, behind four bytes.
func bloomFile(t testing.TB, change func(*format.BloomFilterHeader), bits int) (*file, *format.ColumnMetaData) {
	t.Helper()
	h := format.BloomFilterHeader{NumBytes: int32(bits)}
	h.Algorithm.Value = new(format.SplitBlockAlgorithm)
	h.Hash.Value = new(format.XxHash)
	h.Compression.Value = new(format.BloomFilterUncompressed)
	change(&h)
	header, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		t.Fatal(err)
	}
	data := append([]byte("PAR1"), header...)
	data = append(data, make([]byte, bits)...)
	md := &format.ColumnMetaData{Type: format.Int64, BloomFilterOffset: 4, BloomFilterLength: int32(len(header) + bits)}
	return &file{name: "f", r: bytes.NewReader(data), size: int64(len(data))}, md
}

// F46: a filter with anything wrong about it denies nothing.
func TestBloomInDoubt(t *testing.T) {
	number := column.Type{Kind: column.Int64}
	five := column.Value{Type: number, Int: 5}
	none := func(*format.BloomFilterHeader) {}
	f, md := bloomFile(t, none, 64)
	maybe := bloomFilter(f, md, number, number)
	if maybe(five) {
		t.Fatal("the empty filter denies nothing")
	}
	for name, v := range map[string]column.Value{"NULL": {Type: number, Null: true}, "another type": {Type: column.Type{Kind: column.Int32}, Int: 5}} {
		if !maybe(v) {
			t.Errorf("%s is denied", name)
		}
	}
	if bloomFilter(f, md, column.Type{Kind: column.Int32}, number) != nil {
		t.Error("hashes of another type are used")
	}

	changes := map[string]func(*format.BloomFilterHeader){
		"no bytes":       func(h *format.BloomFilterHeader) { h.NumBytes = 0 },
		"negative":       func(h *format.BloomFilterHeader) { h.NumBytes = -64 },
		"not in blocks":  func(h *format.BloomFilterHeader) { h.NumBytes = 60 },
		"past the end":   func(h *format.BloomFilterHeader) { h.NumBytes = 96 },
		"another length": func(h *format.BloomFilterHeader) { h.NumBytes = 32 },
		"gzip":           func(h *format.BloomFilterHeader) { h.Compression.Value = new(format.BloomFilterGzip) },
	}
	for name, change := range changes {
		f, md := bloomFile(t, change, 64)
		if !bloomFilter(f, md, number, number)(five) {
			t.Errorf("%s: the filter is used", name)
		}
	}
	for _, off := range []int64{5, 20, f.size - 1} {
		md.BloomFilterOffset = off
		if !bloomFilter(f, md, number, number)(five) {
			t.Errorf("the filter at byte %d is used", off)
		}
	}
	for _, off := range []int64{-1, 0, f.size, f.size + 1} {
		md.BloomFilterOffset = off
		if bloomFilter(f, md, number, number) != nil {
			t.Errorf("a filter at byte %d", off)
		}
	}
}

func FuzzBloom(f *testing.F) {
	f.Add([]byte("\x15\x40\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &file{name: "f", r: bytes.NewReader(data), size: int64(len(data))}
		md := &format.ColumnMetaData{Type: format.Int64, BloomFilterOffset: 1}
		number := column.Type{Kind: column.Int64}
		if maybe := bloomFilter(in, md, number, number); maybe != nil {
			maybe(column.Value{Type: number, Int: 5})
		}
	})
}
