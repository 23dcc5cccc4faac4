package sink

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"
)

// pack writes a page of head and value, compressed by codec, to out, piece by piece. It returns
// how many bytes it wrote. Each call writes the same bytes.
func pack(codec compress.Codec, out io.Writer, head, value []byte) (int64, error) {
	counted := &countingWriter{out: out}
	w, err := packer(codec.CompressionCodec(), counted, len(head)+len(value))
	if err != nil {
		return 0, err
	}
	for _, part := range [][]byte{head, value} {
		for len(part) > 0 { // some of them take a copy of what they are given
			n := min(len(part), pieceBytes)
			if _, err := w.Write(part[:n]); err != nil {
				return 0, err
			}
			part = part[n:]
		}
	}
	err = w.Close()
	return counted.n, err
}

// packWindow is the window of zstd and brotli, as a power of two: texts further back are not seen
// to be alike. The encoders hold that much, and some times more.
const packWindow = 18

// packer compresses size bytes.
func packer(codec format.CompressionCodec, out io.Writer, size int) (io.WriteCloser, error) {
	switch codec {
	case format.Uncompressed:
		return nopCloser{out}, nil
	case format.Snappy:
		return newSnappyPacker(out, size)
	case format.Gzip:
		return gzip.NewWriter(out), nil
	case format.Brotli:
		return brotli.NewWriterOptions(out, brotli.WriterOptions{Quality: 4, LGWin: packWindow}), nil
	case format.Zstd:
		return zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<packWindow), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	case format.Lz4Raw:
		return newLiterals(out, size)
	}
	return nil, fmt.Errorf("no compression %s of large values", codec)
}

type countingWriter struct {
	out io.Writer
	n   int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	w.n += int64(n)
	return n, err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// snappyPacker is fastSnappy for data that comes in pieces.
type snappyPacker struct {
	out    io.Writer
	block  []byte // not compressed yet
	packed []byte
}

func newSnappyPacker(out io.Writer, size int) (*snappyPacker, error) {
	_, err := out.Write(binary.AppendUvarint(nil, uint64(size)))
	return &snappyPacker{out: out, block: make([]byte, 0, snappyBlock), packed: make([]byte, s2.MaxEncodedLen(snappyBlock))}, err
}

func (w *snappyPacker) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), snappyBlock-len(w.block))
		w.block, p = append(w.block, p[:k]...), p[k:]
		if len(w.block) == snappyBlock {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (w *snappyPacker) flush() error {
	block := s2.EncodeSnappy(w.packed, w.block)
	_, head := binary.Uvarint(block) // its own length
	w.block = w.block[:0]
	_, err := w.out.Write(block[head:])
	return err
}

func (w *snappyPacker) Close() error {
	if len(w.block) == 0 {
		return nil
	}
	return w.flush()
}

// newLiterals begins an LZ4 block that is one run of literals. The library compresses whole
// blocks only, and a match between two parts compressed independently cannot be expressed.
func newLiterals(out io.Writer, size int) (io.WriteCloser, error) {
	// of the length in the token; further bytes of 255 add to it, and a last one of less
	const most = 15
	head := []byte{byte(min(size, most)) << 4}
	for left := size - most; left >= 0; left -= 255 {
		if head = append(head, byte(min(left, 255))); len(head) == pieceBytes {
			if _, err := out.Write(head); err != nil {
				return nil, err
			}
			head = head[:0]
		}
	}
	_, err := out.Write(head)
	return nopCloser{out}, err
}
