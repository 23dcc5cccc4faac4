package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/gagg-dev/gagg/internal/column"
)

// A page's values come from one of three kinds of stream, by what a value is
// in the file. Each call takes the next values off the stream; what it
// returns is good until the next call.
type (
	// intSource gives the values of BOOLEAN, INT32 and INT64. INT32 is
	// sign-extended.
	intSource interface{ ints(dst []int64) error }
	// blockSource gives values of a fixed number of bytes, one after the
	// other (PAD).
	blockSource interface{ block(n int) ([]byte, error) }
	// spanSource gives values of any length, and the bytes that hold them
	// (PAD).
	spanSource interface {
		spans(dst []column.Span) ([]byte, error)
	}
)

var errValuesEnd = errors.New("damaged: fewer values than promised")

// cast views bytes as little-endian numbers, or as places.
func cast[T int32 | int64 | uint64 | float32 | float64 | uint16 | decimal256.Num | column.Span](b []byte) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if len(b) < size {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size)
}

// plainBlocks is PLAIN values of a fixed width.
type plainBlocks struct {
	data  []byte // what is left; PAD
	width int
}

func (p *plainBlocks) block(n int) ([]byte, error) {
	size := n * p.width
	if size > len(p.data) {
		return nil, errValuesEnd
	}
	b := p.data[:size]
	p.data = p.data[size:]
	return b, nil
}

func (p *plainBlocks) ints(dst []int64) error {
	b, err := p.block(len(dst))
	if err != nil {
		return err
	}
	if p.width == 8 {
		copy(dst, cast[int64](b))
		return nil
	}
	src := cast[int32](b)[:len(dst)]
	for i, v := range src {
		dst[i] = int64(v)
	}
	return nil
}

// plainSpans is PLAIN byte arrays: each a length of four bytes, then itself.
type plainSpans struct {
	data []byte
	pos  int
}

func (p *plainSpans) spans(dst []column.Span) ([]byte, error) {
	data, pos := p.data, p.pos
	for i := range dst {
		if len(data)-pos < 4 {
			return nil, errValuesEnd
		}
		n := binary.LittleEndian.Uint32(data[pos:])
		pos += 4
		if uint64(n) > uint64(len(data)-pos) {
			return nil, errors.New("damaged: a byte array is longer than its page")
		}
		dst[i] = column.Span{Off: uint32(pos), Len: n}
		pos += int(n)
	}
	p.pos = pos
	return data, nil
}

// bools is booleans, bit-packed or in runs.
type bools struct {
	runs hybrid
	buf  []int32
}

func (b *bools) ints(dst []int64) error {
	if cap(b.buf) < len(dst) {
		b.buf = make([]int32, len(dst))
	}
	buf := b.buf[:len(dst)]
	if err := b.runs.read(buf); err != nil {
		return fmt.Errorf("damaged booleans: %w", err)
	}
	for i, v := range buf {
		dst[i] = int64(v)
	}
	return nil
}
