package parquetio

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/format"
)

// dictionary decodes a dictionary page. Its memory is new: a Dict outlives
// the chunk for those who keep it.
func (c *columnReader) dictionary(body []byte) error {
	h := c.header.DictionaryPageHeader
	if !h.Valid {
		return errors.New("damaged: a dictionary page without its header")
	}
	if h.V.Encoding != format.Plain && h.V.Encoding != format.PlainDictionary {
		return fmt.Errorf("dictionary encoded as %v; not supported", h.V.Encoding)
	}
	c.hasDict = true
	var fresh []byte
	buf := &c.page
	if c.want.Rep() == column.RepBytes {
		buf = &fresh
	}
	values, err := c.expand(buf, c.id, body, int(c.header.UncompressedPageSize))
	if err != nil {
		return err
	}
	if c.want.Rep() == column.RepBytes && fresh == nil { // not compressed: part of the chunk
		fresh = padded(nil, len(values))
		copy(fresh, values)
		values = fresh
	}
	if n := int64(h.V.NumValues); n < 0 || n > c.maxEntries(len(values)) {
		return fmt.Errorf("damaged: a dictionary of %d values in %d bytes", n, len(values))
	}
	if h.V.NumValues == 0 || c.want.Kind == column.Null {
		return nil
	}
	c.streams.startEmpty(&c.decoder)
	c.streams.startPlain(&c.decoder, values)
	dict := &column.Dict{Values: column.Vector{Type: c.want, Len: int(h.V.NumValues)}}
	if err := c.fillDictionary(&dict.Values); err != nil {
		var bad *valueError
		if errors.As(err, &bad) {
			err = fmt.Errorf("dictionary entry %d %s", bad.index, bad.reason)
		}
		return err
	}
	c.dict = dict
	return nil
}

// maxEntries bounds the entries that so many bytes can hold (SIZE).
func (c *columnReader) maxEntries(size int) int64 {
	switch c.leaf.physical {
	case format.Boolean:
		return int64(size) * 8
	case format.ByteArray:
		return int64(size) / 4
	case format.FixedLenByteArray:
		return int64(size / c.leaf.length)
	}
	return int64(size / widths[c.leaf.physical])
}

func (c *columnReader) fillDictionary(v *column.Vector) (err error) {
	switch c.want.Rep() {
	case column.RepInt64:
		v.Int = make([]int64, v.Len)
		return c.decoder.ints(v.Int)
	case column.RepFloat64:
		v.Float = make([]float64, v.Len)
		return c.decoder.floats(v.Float)
	case column.RepWide:
		v.Wide = make([]decimal256.Num, v.Len)
		return c.decoder.wides(v.Wide)
	default:
		v.Span = make([]column.Span, v.Len)
		v.Data, err = c.decoder.bytes(v.Span)
		return err
	}
}
