package parquetio

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
)

// deltaLengths is byte arrays in DELTA_LENGTH_BYTE_ARRAY: all lengths, then
// all bytes.
type deltaLengths struct {
	lengths deltas
	data    []byte
	pos     int
	buf     []int64
}

func (d *deltaLengths) reset(data []byte, limit int) (err error) {
	if err = d.lengths.reset(data, limit); err != nil {
		return err
	}
	d.pos = 0
	d.data, err = d.lengths.end()
	return err
}

func (d *deltaLengths) spans(dst []column.Span) ([]byte, error) {
	d.buf = grown(d.buf, len(dst))
	if err := d.lengths.read(d.buf); err != nil {
		return nil, err
	}
	pos := d.pos
	for i, n := range d.buf {
		if uint64(n) > uint64(len(d.data)-pos) {
			return nil, fmt.Errorf("damaged: a byte array of %d bytes in %d", n, len(d.data)-pos)
		}
		dst[i] = column.Span{Off: uint32(pos), Len: uint32(n)}
		pos += int(n)
	}
	d.pos = pos
	return d.data, nil
}

// deltaStrings is byte arrays in DELTA_BYTE_ARRAY: how many bytes each value
// shares with the start of the one before, then the remainders in
// DELTA_LENGTH_BYTE_ARRAY. It also serves fixed-length ones.
type deltaStrings struct {
	prefixes deltas
	suffixes deltaLengths
	max      int64  // bytes that one call may make
	width    int    // of fixed-length values; 0: any
	before   []byte // the value handed out last, in last
	last     buffer
	out      buffer
	prefix   []int64
	suffix   []column.Span
	fixed    []column.Span
}

func (d *deltaStrings) reset(data []byte, limit int, max int64, width int) error {
	d.max, d.width, d.before = max, width, nil
	if err := d.prefixes.reset(data, limit); err != nil {
		return err
	}
	rest, err := d.prefixes.end()
	if err != nil {
		return err
	}
	return d.suffixes.reset(rest, limit)
}

func (d *deltaStrings) spans(dst []column.Span) ([]byte, error) {
	d.prefix = grown(d.prefix, len(dst))
	if err := d.prefixes.read(d.prefix); err != nil {
		return nil, err
	}
	d.suffix = grown(d.suffix, len(dst))
	data, err := d.suffixes.spans(d.suffix)
	if err != nil {
		return nil, err
	}
	out, err := d.layOut(dst)
	if err != nil {
		return nil, err
	}
	last := d.before
	for i, s := range dst {
		v := out[s.Off : s.Off+s.Len]
		n := copy(v, last[:d.prefix[i]])
		from := d.suffix[i]
		copy(v[n:], data[from.Off:from.Off+from.Len])
		last = v
	}
	if len(dst) == 0 {
		return out, nil
	}
	if d.before, err = d.last.room(len(last), "a value"); err != nil {
		return nil, err
	}
	copy(d.before, last)
	return out, nil
}

// layOut checks the lengths, sets dst and returns room for the values.
func (d *deltaStrings) layOut(dst []column.Span) ([]byte, error) {
	size, before := int64(0), int64(len(d.before))
	for i, p := range d.prefix {
		if p < 0 || p > before {
			return nil, fmt.Errorf("damaged: a prefix of %d bytes of a value of %d", p, before)
		}
		before = p + int64(d.suffix[i].Len)
		if d.width > 0 && before != int64(d.width) {
			return nil, fmt.Errorf("damaged: a value of %d bytes among values of %d", before, d.width)
		}
		if before > d.max-size {
			return nil, errors.New("values of a page are larger than the page limit")
		}
		dst[i] = column.Span{Off: uint32(size), Len: uint32(before)}
		size += before
	}
	return d.out.room(int(size), "values with shared prefixes")
}

func (d *deltaStrings) block(n int) ([]byte, error) {
	d.fixed = grown(d.fixed, n)
	return d.spans(d.fixed)
}

// grown returns a slice of n elements, reusing s.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
