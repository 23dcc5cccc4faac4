package parquetio

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/parquet-go/parquet-go/format"
)

// dictMemory is what the values of a Dict lie in. It is Go's, since a Dict outlives the chunk, and
// the reader.
type dictMemory struct {
	data  []byte // PAD
	spans []column.Span
	ints  []int64
}

// recycled returns n elements, which mean nothing: those of old, if they are enough, and not far too many;
// else new ones with 1/slack more behind them.
func recycled[T any](old []T, n, slack int) []T {
	if cap(old) >= n && cap(old)/4 <= n {
		return old[:n]
	}
	fresh := make([]T, n, n+n/slack)
	hostmem.AdviseHuge(fresh)
	return fresh
}

// Dictionaries of a column have nearly the same size: new memory is made an eighth larger than it need be, unless the budget
// refuses that.
const (
	dictSlack = 8
	noSlack   = math.MaxInt
)

// dictionary decodes a dictionary page, into the memory of the dictionary before the last one: a Dict
// outlives its chunk for those who keep it, but not the next chunk (RECYCLED). What is always new
// memory has its pages cleared by the system, and that took an eighth of the time of reading long texts.
func (c *columnReader) dictionary(body []byte) error {
	h := c.header.DictionaryPageHeader
	if !h.Valid {
		return errors.New("damaged: a dictionary page without its header")
	}
	if h.V.Encoding != format.Plain && h.V.Encoding != format.PlainDictionary {
		return fmt.Errorf("dictionary encoded as %v; not supported", h.V.Encoding)
	}
	c.hasDict = true
	size, n := int(c.header.UncompressedPageSize), int64(h.V.NumValues)
	if err := c.leaf.checkEntries(n, size); err != nil {
		return err
	}
	if err := check(c.id, body, size); err != nil {
		return err
	}
	bytes := dictionaryBytes(c.want, int(n), size)
	if c.prefixes(size) { // which are in the memory of the page
		bytes = max(bytes, int64(size)+padding)
	}
	if err := c.drawDictionary(bytes); err != nil {
		return err
	}
	if c.prefixes(size) {
		return c.startPrefix(body, int(n), size)
	}
	values, err := c.dictionaryValues(body, size)
	if err != nil || n == 0 || c.want.Kind == column.Null {
		return err
	}
	c.streams.startEmpty(&c.decoder)
	c.streams.startPlain(&c.decoder, values)
	dict := &column.Dict{Values: column.Vector{Type: c.want, Len: int(n)}}
	if err := c.fillDictionary(&dict.Values); err != nil {
		var bad *valueError
		if errors.As(err, &bad) {
			err = c.valueError(bad, fmt.Errorf("dictionary entry %d %s", bad.index, bad.reason))
		}
		return err
	}
	c.dict = dict
	return nil
}

// dictionaryValues decompresses a dictionary page of so many bytes. Where
// the Dict's values are bytes, the result is the Dict's to keep.
func (c *columnReader) dictionaryValues(body []byte, size int) ([]byte, error) {
	if c.want.Rep() != column.RepBytes {
		return c.expand(&c.page, c.id, body, size)
	}
	c.dictMem.data = recycled(c.spareDict.data, size+padding, c.dictSlack)
	fresh := c.dictMem.data[:size]
	if size == 0 {
		return fresh, nil // as in expand
	}
	if c.id == format.Uncompressed {
		copy(fresh, body)
		return fresh, nil
	}
	return fresh, c.shared.codec.decompress(c.id, fresh, body)
}

// dictionaryBytes is what a dictionary of n values of a type takes, whose
// page has size bytes.
func dictionaryBytes(t column.Type, n, size int) int64 {
	bytes := int64(n) * elementBytes(t)
	if t.Rep() == column.RepBytes {
		bytes += int64(size) + padding
	}
	return bytes
}

// elementBytes is what a value takes in a vector; of byte strings, its place.
func elementBytes(t column.Type) int64 {
	if t.Rep() == column.RepWide {
		return int64(unsafe.Sizeof(decimal256.Num{}))
	}
	return 8
}

// drawDictionary draws the memory of the chunk's dictionary. That of the
// chunk before is still counted: those who group or compare by dictionaries
// keep the last one until they have met the next.
func (c *columnReader) drawDictionary(bytes int64) error {
	c.shared.account.give(c.spareDictBytes) // what is not used again is garbage
	c.spareDictBytes = 0
	c.dictSlack = dictSlack
	if c.shared.account.draw(bytes+bytes/dictSlack, "a dictionary") == nil {
		c.dictBytes += bytes + bytes/dictSlack
		return nil
	}
	c.dictSlack = noSlack
	if err := c.shared.account.draw(bytes, "a dictionary"); err != nil {
		return err
	}
	c.dictBytes += bytes
	return nil
}

// largeDictionary is from how many bytes on the memory of a dictionary that is given back must be gone, too: nobody counts it any
// more, and it is a part of the limit that cannot wait for a garbage collection. One that may be kept (ScanOptions.SpareBytes) is too
// small a part of it, and forcing a collection for each would take longer than reading it.
const largeDictionary = 4 << 20

// retireDictionary is called between two chunks. Nobody may look at the dictionary before the last one
// any more.
func (c *columnReader) retireDictionary() {
	c.retirePrefix()
	c.oldUsing.leave(c.shared.spareBytes)
	c.oldUsing, c.using = c.using, nil
	c.dropSpareDictionary()
	c.spareDict, c.oldDictMem, c.dictMem = c.oldDictMem, c.dictMem, dictMemory{}
	if invariant.Enabled { // RECYCLED
		for i := range c.spareDict.data {
			c.spareDict.data[i] = 0xdb
		}
		for i := range c.spareDict.ints {
			c.spareDict.ints[i] = math.MinInt64
		}
		for i := range c.spareDict.spans {
			c.spareDict.spans[i] = column.Span{Off: math.MaxUint32}
		}
	}
	c.spareDictBytes, c.oldDictBytes, c.dictBytes = c.oldDictBytes, c.dictBytes, 0
	if c.spareDictBytes > c.shared.spareBytes {
		c.dropSpareDictionary()
	}
	c.dict, c.hasDict, c.lateDict.size = nil, false, 0
}

// dropSpareDictionary gives the memory back that was kept for another dictionary.
func (c *columnReader) dropSpareDictionary() {
	if c.spareDictBytes >= max(largeDictionary, c.shared.spareBytes) && c.shared.account.from != nil {
		c.spareDict = dictMemory{}
		debug.FreeOSMemory()
	}
	c.shared.account.give(c.spareDictBytes)
	c.spareDictBytes = 0
}

// checkEntries tells that so many entries cannot be in a dictionary page of so
// many bytes (SIZE).
func (l *leaf) checkEntries(n int64, size int) error {
	if n < 0 || size < 0 || n > l.maxEntries(int64(size)) {
		return fmt.Errorf("damaged: a dictionary of %d values in %d bytes", n, size)
	}
	return nil
}

func (l *leaf) maxEntries(size int64) int64 {
	switch l.physical {
	case format.Boolean:
		return size * 8
	case format.ByteArray:
		return size / 4
	case format.FixedLenByteArray:
		return size / int64(l.length)
	}
	return size / int64(widths[l.physical])
}

func (c *columnReader) fillDictionary(v *column.Vector) (err error) {
	switch c.want.Rep() {
	case column.RepInt64:
		c.dictMem.ints = recycled(c.spareDict.ints, v.Len, c.dictSlack)
		v.Int = c.dictMem.ints
		return c.decoder.ints(v.Int)
	case column.RepFloat64:
		v.Float = make([]float64, v.Len)
		return c.decoder.floats(v.Float)
	case column.RepWide:
		v.Wide = make([]decimal256.Num, v.Len)
		return c.decoder.wides(v.Wide)
	default:
		c.dictMem.spans = recycled(c.spareDict.spans, v.Len, c.dictSlack)
		v.Span = c.dictMem.spans
		v.Data, err = c.decoder.bytes(v.Span)
		return err
	}
}
