package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// packing is how the buffers of a batch are compressed.
type packing int

const (
	plain packing = iota
	packedLZ4
	packedZSTD
)

// unpackedSize stands before the bytes of a buffer that is compressed.
const unpackedSize = 8

// The most that a byte can stand for: LZ4 has lengths of 255 a byte, ZSTD runs of 128 KiB in 4
// bytes.
const lz4Growth, zstdGrowth = 256, 32 << 10

func (p packing) growth() int64 {
	if p == packedZSTD {
		return zstdGrowth
	}
	return lz4Growth
}

// growthFloor is what any buffer may have.
const growthFloor = 64 << 10

// extent takes the next buffer of the batch: where it is in the body.
func (d *batch) extent() (at, size int64, err error) {
	if d.bLeft == 0 {
		return 0, 0, errDamaged
	}
	if at, err = d.int(d.buffers, 8); err != nil {
		return 0, 0, err
	}
	if size, err = d.int(d.buffers+8, 8); err != nil {
		return 0, 0, err
	}
	if at < 0 || size < 0 || at > d.body || size > d.body-at {
		return 0, 0, errDamaged
	}
	d.buffers, d.bLeft = d.buffers+bufferSize, d.bLeft-1
	return at, size, nil
}

// pass passes over the next buffer.
func (d *batch) pass() error {
	_, _, err := d.extent()
	return err
}

// buffer reads the next buffer, which must have so many bytes at least. Those behind them are left
// out, where that saves anything.
func (d *batch) buffer(need int64) (*memory.Buffer, error) {
	at, size, err := d.extent()
	if err != nil {
		return nil, err
	}
	if d.packed == plain || size == 0 {
		if size < need {
			return nil, errDamaged
		}
		b, err := d.read(at, need)
		return memory.NewBufferBytes(b), err
	}
	if size < unpackedSize {
		return nil, errDamaged
	}
	packed, err := d.read(at, size)
	if err != nil {
		return nil, err
	}
	b, err := d.unpack(packed, need)
	if err != nil {
		return nil, err
	}
	return memory.NewBufferBytes(b), nil
}

// read reads bytes of the body.
func (d *batch) read(at, n int64) ([]byte, error) {
	if err := d.draw(n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, readAt(d.from, b, d.at+at)
}

func (d *batch) draw(n int64) error {
	if err := d.file.from.Draw(n); err != nil {
		return err
	}
	*d.drawn += n
	return nil
}

// unpack decompresses a buffer, which says how long it is; -1: it is as it is.
func (d *batch) unpack(packed []byte, need int64) ([]byte, error) {
	size := int64(binary.LittleEndian.Uint64(packed))
	packed = packed[unpackedSize:]
	if size == -1 {
		if int64(len(packed)) < need {
			return nil, errDamaged
		}
		return packed, nil
	}
	if size < need || size > growthFloor+d.packed.growth()*int64(len(packed)) {
		return nil, errDamaged
	}
	if err := d.draw(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	return b, d.codec.decompress(d.packed, b, packed)
}

// codec keeps what decompresses.
type codec struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
}

func (c *codec) close() {
	if c.zstd != nil {
		c.zstd.Close()
		c.zstd = nil
	}
}

// decompress fills dst.
func (c *codec) decompress(how packing, dst, src []byte) (err error) {
	switch how {
	case packedLZ4:
		return c.unlz4(dst, src)
	case packedZSTD:
		if c.zstd == nil {
			c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
			if err != nil {
				return err
			}
		}
		out, err := c.zstd.DecodeAll(src, dst[:0:len(dst)])
		if err != nil || len(out) != len(dst) {
			return errDamaged
		}
		return nil
	}
	return errors.New("compressed in a way that is not known")
}

// unlz4 decompresses a frame.
func (c *codec) unlz4(dst, src []byte) error {
	in := bytes.NewReader(src)
	if c.lz4 == nil {
		c.lz4 = lz4.NewReader(in)
	} else {
		c.lz4.Reset(in)
	}
	if _, err := io.ReadFull(c.lz4, dst); err != nil {
		return errDamaged
	}
	return nil
}
