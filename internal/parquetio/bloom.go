package parquetio

import (
	"io"
	"math"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
)

const (
	// maxBloomHeader bounds the header of a bloom filter. Real ones have
	// about 16 bytes.
	maxBloomHeader = 256

	// maxBloomBytes is the largest filter that writers make.
	maxBloomBytes = 128 << 20
)

// bloomFilter returns a test for values that a row group does not hold, nil
// if it has no filter. Nothing is read before the test is called, and then
// the header and one block of 32 bytes. When anything about the
// filter is in doubt, the test answers that the value may be there.
func bloomFilter(f *file, md *format.ColumnMetaData, from, want column.Type) func(column.Value) bool {
	if md.BloomFilterOffset <= 0 || md.BloomFilterOffset >= f.size || from != want {
		return nil
	}
	var bits *io.SectionReader
	opened := false
	return func(v column.Value) bool {
		hashes, ok := bloomHashes(v, md.Type, want)
		if !ok {
			return true
		}
		if !opened {
			bits, _ = openBloom(f, md) // the filter only saves time
			opened = true
		}
		for _, h := range hashes {
			if bits == nil || bloomHolds(bits, h) {
				return true
			}
		}
		return false
	}
}

func bloomHolds(bits *io.SectionReader, h uint64) bool {
	ok, err := bloom.CheckSplitBlock(bits, bits.Size(), h)
	return ok || err != nil
}

// openBloom reads the header of a filter and finds its bits; nil unless
// everything about them is as it must be.
func openBloom(f *file, md *format.ColumnMetaData) (bits *io.SectionReader, err error) {
	defer invariant.Fence(&err, damagedIn(f.name))
	buf := make([]byte, min(maxBloomHeader, f.size-md.BloomFilterOffset))
	if err := f.readHint(buf, md.BloomFilterOffset); err != nil {
		return nil, err
	}
	if far := f.far(); far != nil && !far.Near(md.BloomFilterOffset, int64(md.BloomFilterLength)) {
		return nil, errFar
	}
	walk := thriftWalk{data: buf}
	if err := walk.structure(0, 0); err != nil {
		return nil, err
	}
	var header format.BloomFilterHeader
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), buf[:walk.pos], &header); err != nil {
		return nil, err
	}
	_, split := header.Algorithm.Value.(*format.SplitBlockAlgorithm)
	_, xxhash := header.Hash.Value.(*format.XxHash)
	_, plain := header.Compression.Value.(*format.BloomFilterUncompressed)
	size, start := int64(header.NumBytes), int64(walk.pos)
	switch {
	case !split || !xxhash || !plain:
	case size <= 0 || size > maxBloomBytes || size%bloom.BlockSize != 0:
	case size > f.size-md.BloomFilterOffset-start:
	case md.BloomFilterLength > 0 && int64(md.BloomFilterLength) != start+size:
	default:
		return io.NewSectionReader(f.r, md.BloomFilterOffset+start, size), nil
	}
	return nil, nil
}

// bloomHashes are the hashes of the PLAIN forms that v may have in the file;
// ok is false where they are not certain. Zero has two forms.
func bloomHashes(v column.Value, physical format.Type, t column.Type) (hashes []uint64, ok bool) {
	if v.Null || v.Type != t {
		return nil, false
	}
	h := bloom.XXH64{}
	switch physical {
	case format.Int32:
		if t.Rep() == column.RepInt64 && (v.Int == int64(int32(v.Int)) || t.IsUnsigned()) {
			return []uint64{h.Sum64Uint32(uint32(v.Int))}, true
		}
	case format.Int64:
		if t.Rep() == column.RepInt64 {
			return []uint64{h.Sum64Uint64(uint64(v.Int))}, true
		}
	case format.Float:
		return floatHashes(v.Float, func(x float64) uint64 { return h.Sum64Uint32(math.Float32bits(float32(x))) },
			t.IsFloat() && float64(float32(v.Float)) == v.Float)
	case format.Double:
		return floatHashes(v.Float, func(x float64) uint64 { return h.Sum64Uint64(math.Float64bits(x)) }, t.IsFloat())
	case format.ByteArray, format.FixedLenByteArray:
		if t.Rep() == column.RepBytes {
			return []uint64{h.Sum64([]byte(v.Bytes))}, true
		}
	}
	return nil, false
}

// floatHashes leaves out NaN, which has many forms and hashes as none.
func floatHashes(x float64, hash func(float64) uint64, ok bool) ([]uint64, bool) {
	switch {
	case !ok || x != x:
		return nil, false
	case x == 0:
		return []uint64{hash(0), hash(math.Copysign(0, -1))}, true
	}
	return []uint64{hash(x)}, true
}
