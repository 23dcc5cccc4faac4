package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/bitpack"
)

// deltas is a stream of integers in DELTA_BINARY_PACKED: the first value,
// then blocks of differences.
//
//	header: varint block size | varint miniblocks a block | varint count | zigzag first value
//	block:  zigzag least difference | a width for each miniblock | miniblocks
//
// A miniblock holds differences less the least one, bit-packed by its width.
// Only as much as is asked for is unpacked (LAZY): with a width of 0 a block
// of any size takes no bytes.
type deltas struct {
	data    []byte // what follows the consumed part; PAD
	left    int    // values not yet handed out
	first   bool   // the next value is the first one: last itself
	last    int64
	least   int64  // least difference of the block
	widths  []byte // of the block's miniblocks that are still to come
	perMini int
	minis   int
	inMini  int // values of the current miniblock not yet unpacked
	width   uint

	unpacked [32]uint64 // the miniblock's size is a multiple of this
	at       int        // next element of unpacked; 32: none left
}

var errDelta = errors.New("damaged DELTA_BINARY_PACKED header")

// reset starts a stream of at most limit values at data.
func (d *deltas) reset(data []byte, limit int) error {
	var head [3]uint64 // block size, miniblocks, count
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return errDelta
		}
		head[i], data = v, data[n:]
	}
	first, n := binary.Varint(data)
	if n <= 0 {
		return errDelta
	}
	block, minis := head[0], head[1]
	// The largest block that parquet-go, which is lavish, reads is 65536.
	if block == 0 || block > 65536 || block%128 != 0 || minis == 0 || minis > block || block%minis != 0 || block/minis%32 != 0 {
		return fmt.Errorf("%w: blocks of %d values in %d parts", errDelta, block, minis)
	}
	if head[2] > uint64(limit) {
		return fmt.Errorf("%w: %d values in a page of %d", errDelta, head[2], limit)
	}
	*d = deltas{
		data: data[n:], left: int(head[2]), first: true, last: first,
		perMini: int(block / minis), minis: int(minis), at: len(d.unpacked),
	}
	return nil
}

// read fills dst. Arithmetic wraps at 64 bits; where it should at 32, the
// low halves of the results are right.
func (d *deltas) read(dst []int64) error {
	if len(dst) > d.left {
		return errValuesEnd
	}
	d.left -= len(dst)
	if d.first && len(dst) > 0 {
		d.first = false
		dst[0] = d.last
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.at == len(d.unpacked) {
			if err := d.refill(); err != nil {
				return err
			}
		}
		src := d.unpacked[d.at:]
		src = src[:min(len(src), len(dst))]
		last := d.last
		for i, delta := range src {
			last += int64(delta) + d.least
			dst[i] = last
		}
		d.last = last
		d.at += len(src)
		dst = dst[len(src):]
	}
	return nil
}

// refill unpacks the next 32 differences.
func (d *deltas) refill() error {
	if d.inMini == 0 {
		if err := d.nextMini(); err != nil {
			return err
		}
	}
	d.inMini -= len(d.unpacked)
	d.at = 0
	if d.width == 0 {
		clear(d.unpacked[:])
		return nil
	}
	size := len(d.unpacked) / 8 * int(d.width)
	if size <= len(d.data) {
		bitpack.Unpack(d.unpacked[:], d.data, d.width)
		d.data = d.data[size:]
		return nil
	}
	// Writers may leave off the unused end of the last miniblock. What PAD
	// allows to read there is handed out only if the count lies.
	if len(d.data) == 0 {
		return errValuesEnd
	}
	var tail [32*8 + padding]byte
	copy(tail[:], d.data)
	bitpack.Unpack(d.unpacked[:], tail[:size], d.width)
	d.data = d.data[len(d.data):]
	return nil
}

// nextMini starts the next miniblock, in the next block if need be.
func (d *deltas) nextMini() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.data)
		if n <= 0 || len(d.data)-n < d.minis {
			return errValuesEnd
		}
		d.least = least
		d.widths = d.data[n : n+d.minis]
		d.data = d.data[n+d.minis:]
	}
	d.width = uint(d.widths[0])
	d.widths = d.widths[1:]
	if d.width > 64 {
		return fmt.Errorf("damaged: differences of %d bits", d.width)
	}
	d.inMini = d.perMini
	return nil
}

// end returns what follows the stream in its page, without unpacking it. It
// serves before the first read, and leaves the stream where it is.
func (d *deltas) end() ([]byte, error) {
	s := *d
	for left := s.left - 1; left > 0; { // the first value is in the header
		if err := s.nextMini(); err != nil {
			return nil, err
		}
		left -= s.perMini
		s.data = s.data[min(s.perMini/8*int(s.width), len(s.data)):]
	}
	return s.data, nil
}

// deltaInts is INT32 or INT64 values in DELTA_BINARY_PACKED.
type deltaInts struct {
	deltas
	narrow bool // INT32
}

func (d *deltaInts) ints(dst []int64) error {
	if err := d.read(dst); err != nil {
		return err
	}
	if d.narrow {
		for i, v := range dst {
			dst[i] = int64(int32(v))
		}
	}
	return nil
}
