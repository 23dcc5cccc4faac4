package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// levels is the stream of a page's definition levels. For a column outside
// lists they tell no more than which rows hold a value: those at the highest
// level. A lower level says which of the structs around the value is NULL.
type levels struct {
	max    int32
	runs   hybrid
	legacy []byte // BIT_PACKED levels: most significant bit first, no runs
	bit    int    // next bit of legacy
	mode   levelMode
	buf    []int32
	null   []bool
}

type levelMode uint8

const (
	levelsNone   levelMode = iota // every row holds a value
	levelsRuns                    // in runs
	levelsLegacy                  // in legacy
)

// start takes the levels off the head of a v1 page's body and returns the
// rest, the values.
func (l *levels) start(body []byte, enc format.Encoding, rows int) ([]byte, error) {
	if l.max == 0 {
		l.mode = levelsNone
		return body, nil
	}
	width := bits.Len32(uint32(l.max))
	switch enc {
	case format.RLE:
		if len(body) < 4 {
			return nil, errors.New("damaged: no definition levels")
		}
		n := binary.LittleEndian.Uint32(body)
		body = body[4:]
		if int64(n) > int64(len(body)) {
			return nil, fmt.Errorf("damaged: %d bytes of definition levels in %d", n, len(body))
		}
		l.startRuns(body[:n])
		return body[n:], nil
	case format.BitPacked:
		n := (int64(rows)*int64(width) + 7) / 8
		if n > int64(len(body)) {
			return nil, fmt.Errorf("damaged: %d bytes of definition levels in %d", n, len(body))
		}
		l.mode, l.legacy, l.bit = levelsLegacy, body[:n], 0
		return body[n:], nil
	}
	return nil, fmt.Errorf("definition levels encoded as %v; not supported", enc)
}

// startRuns takes the levels of a v2 page, which are always runs.
func (l *levels) startRuns(data []byte) {
	l.mode = levelsNone
	if l.max > 0 {
		l.mode = levelsRuns
		l.runs.reset(data, uint(bits.Len32(uint32(l.max))))
	}
}

// rowSet tells which of some rows hold a value. Where all do, valid and null
// are nil.
type rowSet struct {
	valid []int32 // 1 for a row with a value, 0 for NULL
	null  []bool  // the same, the other way round
	count int     // rows with a value
}

// read takes n levels. The result is good until the next read.
func (l *levels) read(n int) (rowSet, error) {
	if l.mode == levelsNone {
		return rowSet{count: n}, nil
	}
	l.buf = grown(l.buf, n)
	switch l.mode {
	case levelsLegacy:
		l.readLegacy(l.buf)
	case levelsRuns:
		all, err := l.readRuns(l.buf)
		if err != nil {
			return rowSet{}, fmt.Errorf("damaged definition levels: %w", err)
		}
		if all {
			return rowSet{count: n}, nil
		}
	}
	l.null = grown(l.null, n)
	count, err := l.fold(l.buf, l.null)
	if err != nil || count == n {
		return rowSet{count: count}, err
	}
	return rowSet{valid: l.buf, null: l.null, count: count}, nil
}

// readRuns fills buf, or only reports that all of its levels are the highest
// where one look shows it.
func (l *levels) readRuns(buf []int32) (all bool, err error) {
	v, ok, err := l.runs.constant(len(buf))
	switch {
	case err != nil:
		return false, err
	case !ok:
		return false, l.runs.read(buf)
	case v == l.max:
		return true, nil
	}
	fill(buf, v)
	return false, nil
}

// fold turns levels into ones (at the highest level) and zeros, sets null
// for the zeros, and counts the ones.
func (l *levels) fold(buf []int32, null []bool) (int, error) {
	null = null[:len(buf)]
	count, above := int32(0), int32(0)
	if l.max == 1 { // the levels are the ones and zeros
		for i, v := range buf {
			above |= 1 - v
			count += v
			null[i] = v == 0
		}
	} else {
		for i, v := range buf {
			above |= l.max - v
			one := int32((uint32(v^l.max) - 1) >> 31)
			buf[i] = one
			count += one
			null[i] = one == 0
		}
	}
	if above < 0 {
		return 0, fmt.Errorf("damaged: definition level above %d", l.max)
	}
	return int(count), nil
}

func (l *levels) readLegacy(dst []int32) {
	width := bits.Len32(uint32(l.max))
	for i := range dst {
		v := int32(0)
		for range width {
			v = v<<1 | int32(l.legacy[l.bit/8]>>(7-l.bit%8)&1)
			l.bit++
		}
		dst[i] = v
	}
}
