package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// codec decompresses pages. The state of the stream formats is kept from
// page to page, and drawn from mem. close drops the state.
type codec struct {
	mem    *account
	drawn  int64
	src    bytes.Reader
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

// maxRatio bounds what a codec can make of a byte. It stops a small file from
// asking for a large buffer (SIZE).
var maxRatio = map[format.CompressionCodec]int64{
	format.Uncompressed: 1,
	format.Snappy:       24,      // 64 bytes by a copy of 3
	format.Lz4Raw:       256,     // 255 by a length byte
	format.Lz4:          256,     //
	format.Gzip:         1040,    // 258 by two bits
	format.Zstd:         1 << 15, // 128 KiB by a block of 4
	format.Brotli:       2 << 20, // 16 MiB by a meta-block, whose header alone has some 8 bytes
}

// check tells, without decompressing, why size bytes cannot come out of src.
func check(id format.CompressionCodec, src []byte, size int) error {
	if size == 0 {
		return nil // codecs differ in what they make of nothing
	}
	switch id {
	case format.Uncompressed:
		if size != len(src) {
			return fmt.Errorf("damaged: %d bytes of uncompressed data that should be %d", len(src), size)
		}
	case format.Snappy:
		if n, err := snappy.DecodedLen(src); err != nil || n != size {
			return fmt.Errorf("damaged: SNAPPY data that should give %d bytes", size)
		}
	case format.LZO:
		return errors.New("compression codec LZO is not supported")
	}
	return checkRatio(id, int64(len(src)), int64(size))
}

// checkRatio is check for packed bytes that have not been read.
func checkRatio(id format.CompressionCodec, packed, size int64) error {
	if ratio, ok := maxRatio[id]; ok && (packed < 0 || size > 64+ratio*packed) {
		return fmt.Errorf("damaged: %d bytes of %v cannot give %d", packed, id, size)
	}
	return nil
}

// decompress fills dst, whose length is the exact size that must come out.
func (c *codec) decompress(id format.CompressionCodec, dst, src []byte) error {
	if err := c.drawState(id, src); err != nil {
		return err
	}
	n, err := c.decode(id, dst, src)
	if err != nil {
		return fmt.Errorf("damaged %v data: %w", id, err)
	}
	if n != len(dst) {
		return fmt.Errorf("damaged: %v data gives %d bytes, not %d", id, n, len(dst))
	}
	return nil
}

// drawState draws the memory for the state of a stream format.
func (c *codec) drawState(id format.CompressionCodec, src []byte) error {
	more := stateBytes(id, src) - c.drawn
	if more <= 0 {
		return nil
	}
	if err := c.mem.draw(more, fmt.Sprintf("the window of %v data", id)); err != nil {
		return err
	}
	c.drawn += more
	return nil
}

// What a decoder keeps from page to page, beside brotli's window: 38 KiB, 296 KiB and 70 KiB of
// pages of 64 KiB to 8 MiB (TestCodecState). Brotli's window doubles as it is filled, and for that
// moment both are there.
const (
	gzipState   = 48 << 10
	zstdState   = 320 << 10
	brotliState = 256 << 10
)

// stateBytes is the memory for decompressing src, beside src and the result.
func stateBytes(id format.CompressionCodec, src []byte) int64 {
	switch id {
	case format.Gzip:
		return gzipState
	case format.Zstd:
		return zstdState
	case format.Brotli:
		return brotliState + brotliWindow(src)
	}
	return 0
}

// brotliWindow is the size of the window that the head of brotli data asks
// for (RFC 7932, section 9.1); 0 where the decoder will refuse it.
func brotliWindow(src []byte) int64 {
	if len(src) == 0 {
		return 0
	}
	head := src[0]
	switch low, high := head>>1&7, head>>4&7; {
	case head&1 == 0:
		return 1 << 16
	case low != 0:
		return 1 << (17 + low)
	case high == 0:
		return 1 << 17
	case high == 1:
		return 0
	default:
		return 1 << (8 + high)
	}
}

func (c *codec) decode(id format.CompressionCodec, dst, src []byte) (int, error) {
	switch id {
	case format.Snappy:
		return len(dst), decodeSnappy(dst, src)
	case format.Gzip:
		return c.readGzip(dst, src)
	case format.Brotli:
		c.src.Reset(src)
		if c.brotli == nil {
			c.brotli = brotli.NewReader(&c.src)
		} else if err := c.brotli.Reset(&c.src); err != nil {
			return 0, err
		}
		return readExactly(c.brotli, dst)
	case format.Zstd:
		return c.decodeZstd(dst, src)
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	case format.Lz4:
		return decodeOldLz4(dst, src)
	}
	return 0, errors.New("codec not supported")
}

func (c *codec) readGzip(dst, src []byte) (n int, err error) {
	c.src.Reset(src)
	if c.gzip == nil {
		c.gzip, err = gzip.NewReader(&c.src)
	} else {
		err = c.gzip.Reset(&c.src)
	}
	if err != nil {
		return 0, err
	}
	return readExactly(c.gzip, dst)
}

func (c *codec) decodeZstd(dst, src []byte) (n int, err error) {
	if c.zstd == nil {
		// One decoder at a time, so it starts no goroutine; the capacity of
		// dst is the limit.
		c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return 0, err
		}
	}
	out, err := c.zstd.DecodeAll(src, dst[:0:len(dst)])
	return len(out), err
}

// readExactly fills dst from r, which must end there.
func readExactly(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err != nil {
		return n, err
	}
	var more [1]byte
	if k, err := io.ReadFull(r, more[:]); k > 0 {
		return n + k, errors.New("more data than promised")
	} else if !errors.Is(err, io.EOF) {
		return n, err
	}
	return n, nil
}

// decodeOldLz4 reads the codec once called LZ4, which never said how its
// blocks are framed. Hadoop's way is before each block its size and its
// compressed size, big-endian; some writers have one block without a frame.
func decodeOldLz4(dst, src []byte) (int, error) {
	if n, ok := decodeHadoopLz4(dst, src); ok {
		return n, nil
	}
	return lz4.UncompressBlock(src, dst)
}

func decodeHadoopLz4(dst, src []byte) (int, bool) {
	done := 0
	for len(src) > 0 {
		if len(src) < 8 {
			return 0, false
		}
		size := int64(binary.BigEndian.Uint32(src))
		packed := int64(binary.BigEndian.Uint32(src[4:]))
		src = src[8:]
		if size > int64(len(dst)-done) || packed > int64(len(src)) {
			return 0, false
		}
		n, err := lz4.UncompressBlock(src[:packed], dst[done:done+int(size)])
		if err != nil || n != int(size) {
			return 0, false
		}
		done += n
		src = src[packed:]
	}
	return done, done == len(dst)
}

// close drops the state of the stream formats.
func (c *codec) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
	c.mem.give(c.drawn)
	*c = codec{mem: c.mem}
}
