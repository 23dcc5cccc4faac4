package parquetio

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

var compressors = map[format.CompressionCodec]compress.Codec{
	format.Snappy: &parquet.Snappy, format.Gzip: &parquet.Gzip, format.Brotli: &parquet.Brotli,
	format.Zstd: &parquet.Zstd, format.Lz4Raw: &parquet.Lz4Raw,
}

// TestDecompressExactly: what comes out has exactly the promised size or is
// an error, and a codec that met damage still works.
func TestDecompressExactly(t *testing.T) {
	text := []byte(strings.Repeat("group by ", 1000))
	for id, compressor := range compressors {
		src, err := compressor.Encode(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		c := codec{mem: new(account)}
		for range 2 {
			for _, size := range []int{len(text) - 1, len(text) + 1, 0} {
				if err := c.decompress(id, make([]byte, size), src); err == nil {
					t.Errorf("%v: no error for %d bytes", id, size)
				}
			}
			if err := c.decompress(id, make([]byte, len(text)), src[:len(src)/2]); err == nil {
				t.Errorf("%v: no error for half the data", id)
			}
			if err := c.decompress(id, make([]byte, len(text)), []byte("damaged")); err == nil {
				t.Errorf("%v: no error for damaged data", id)
			}
			dst := make([]byte, len(text))
			if err := check(id, src, len(dst)); err != nil {
				t.Errorf("%v: %v", id, err)
			}
			if err := c.decompress(id, dst, src); err != nil || !bytes.Equal(dst, text) {
				t.Errorf("%v: %v", id, err)
			}
		}
		c.close()
	}
}

// TestCodecCheck: what a codec cannot give is refused before memory is asked
// for.
func TestCodecCheck(t *testing.T) {
	src := snappy.Encode(nil, make([]byte, 100))
	for _, test := range []struct {
		id   format.CompressionCodec
		src  []byte
		size int
		ok   bool
	}{
		{format.Uncompressed, src, len(src), true},
		{format.Uncompressed, src, 100, false},
		{format.Snappy, src, 100, true},
		{format.Snappy, src, 99, false},
		{format.Snappy, nil, 1, false},
		{format.Snappy, binary.AppendUvarint(nil, 1<<28), 1 << 28, false},
		{format.Gzip, src, 1 << 20, false},
		{format.Lz4Raw, src, 1 << 20, false},
		{format.Zstd, src, 1 << 18, true},
		{format.Zstd, src, 1 << 20, false},
		{format.Brotli, src, 1 << 20, true},
		{format.Brotli, src[:1], 4 << 20, false},
		{format.Uncompressed, src, 0, true},
		{format.LZO, src, 100, false},
	} {
		if err := check(test.id, test.src, test.size); (err == nil) != test.ok {
			t.Errorf("%v, %d bytes for %d: %v", test.id, len(test.src), test.size, err)
		}
	}
}

// TestOldLz4: Hadoop's frames, one or more, and a bare block.
func TestOldLz4(t *testing.T) {
	text := []byte(strings.Repeat("group by ", 100))
	block := func(b []byte) []byte {
		out := make([]byte, lz4.CompressBlockBound(len(b)))
		n, err := lz4.CompressBlock(b, out, nil)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		return out[:n]
	}
	frame := func(b []byte) []byte {
		packed := block(b)
		head := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
		return append(binary.BigEndian.AppendUint32(head, uint32(len(packed))), packed...)
	}
	for name, src := range map[string][]byte{
		"bare":       block(text),
		"one frame":  frame(text),
		"two frames": append(frame(text[:400]), frame(text[400:])...),
	} {
		dst := make([]byte, len(text))
		c := codec{mem: new(account)}
		if err := c.decompress(format.Lz4, dst, src); err != nil || !bytes.Equal(dst, text) {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.decompress(format.Lz4, dst, src[:len(src)-1]); err == nil {
			t.Errorf("%s: no error for cut data", name)
		}
		if err := c.decompress(format.Lz4, make([]byte, len(text)+1), src); err == nil {
			t.Errorf("%s: no error for a larger size", name)
		}
	}
}
