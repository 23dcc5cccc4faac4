package parquetio

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file skips rows that are not needed. A page of nothing but such rows is not loaded; within a
// page that is loaded, they are skipped when rows behind them are read: without
// decoding them where every value has the same size or its size before it, else by decoding them.

// skip skips the next n rows of the row group. Errors are *Error.
func (c *columnReader) skip(n int64) error {
	for n > 0 {
		have, err := c.available()
		if err != nil || have == 0 { // the caller finds out that the column has ended
			return err
		}
		k := int(min(n, int64(have)))
		c.left -= k
		c.behind += k
		n -= int64(k)
	}
	return nil
}

// catchUp passes over the rows of the page that are behind.
func (c *columnReader) catchUp() error {
	for c.behind > 0 {
		n := min(c.behind, c.shared.batchRows)
		if err := c.skipRows(n); err != nil {
			return err
		}
		c.behind -= n
	}
	return nil
}

// skipRows skips n rows, of a batch at most.
func (c *columnReader) skipRows(n int) error {
	rows, err := c.levels.read(n)
	if err != nil || rows.count == 0 {
		return err
	}
	if c.coded {
		return c.codes.skip(rows.count)
	}
	switch src := c.decoder.source().(type) {
	case *plainBlocks:
		_, err = src.block(rows.count)
	case *plainSpans:
		err = src.skip(rows.count)
	default:
		var v column.Vector
		err = c.rowError(c.readFlat(&v, rowSet{count: rows.count}), rows.valid)
	}
	return err
}

// source is the stream that the decoder takes values of its physical type off.
func (d *decoder) source() any {
	switch d.physical {
	case format.ByteArray:
		return d.spanSrc
	case format.Boolean, format.Int32, format.Int64:
		return d.intSrc
	}
	return d.blockSrc
}

// skip skips n values.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		if h.left == 0 {
			if err := h.next(); err != nil {
				return err
			}
			continue // a run may be empty
		}
		k := min(n, h.left)
		if h.packed {
			h.skipPacked(k)
		}
		h.left -= k
		n -= k
	}
	return nil
}

// skipPacked skips n values, of at most left, of the current bit-packed run.
func (h *hybrid) skipPacked(n int) {
	k := min(n, len(h.group)-h.at)
	h.at += k
	n -= k
	h.data = h.data[min(n/8*int(h.width), len(h.data)):]
	if n %= 8; n > 0 {
		var rest [8]int32
		h.unpack(rest[:n])
	}
}

// skip skips n values.
func (p *plainSpans) skip(n int) error {
	data, pos := p.data, p.pos
	for range n {
		if len(data)-pos < 4 {
			return errValuesEnd
		}
		size := binary.LittleEndian.Uint32(data[pos:])
		pos += 4
		if uint64(size) > uint64(len(data)-pos) {
			return errors.New("damaged: a byte array is longer than its page")
		}
		pos += int(size)
	}
	p.pos = pos
	return nil
}
