package parquetio

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/parquet-go/parquet-go/format"
)

// dictMemory is the memory of the values of a Dict. It is off the Go heap, and serves the next
// chunk (RECYCLED).
type dictMemory struct {
	page   buffer // the page, decompressed, where values lie in it as they are wanted
	values buffer // numbers, and where texts lie
}

// use sets where the memory is drawn from.
func (m *dictMemory) use(mem *account) { m.page.mem, m.values.mem = mem, mem }

func (m *dictMemory) trim() {
	m.page.trim()
	m.values.trim()
}

func (m *dictMemory) free() {
	m.page.free()
	m.values.free()
}

// transfer leaves the memory and what was drawn for it to another account.
func (m *dictMemory) transfer(to *account) {
	m.page.transfer(to)
	m.values.transfer(to)
}

// dictionaryEntries checks the header, of `header` bytes, of the dictionary page at hand, and
// returns how many entries it has.
func (c *columnReader) dictionaryEntries(header int) (n int, err error) {
	h := c.header.DictionaryPageHeader
	if !h.Valid {
		return 0, errors.New("damaged: a dictionary page without its header")
	}
	if h.V.Encoding != format.Plain && h.V.Encoding != format.PlainDictionary {
		return 0, fmt.Errorf("dictionary encoded as %v; not supported", h.V.Encoding)
	}
	if _, err := c.pageSize(header); err != nil {
		return 0, err
	}
	c.hasDict = true
	return int(h.V.NumValues), c.leaf.checkEntries(int64(h.V.NumValues), int(c.header.UncompressedPageSize))
}

// dictionary decodes the dictionary page whose header, of `header` bytes, was decoded.
func (c *columnReader) dictionary(header int) error {
	n, err := c.dictionaryEntries(header)
	if err != nil {
		return err
	}
	size := int(c.header.UncompressedPageSize)
	if c.prefixes(size) {
		return c.startPrefix(header, n, size)
	}
	values, err := c.dictionaryPage(header, size)
	if err != nil || n == 0 || c.want.Kind == column.Null {
		return err
	}
	c.streams.startEmpty(&c.decoder)
	c.streams.startPlain(&c.decoder, values)
	dict := &column.Dict{Values: column.Vector{Type: c.want, Len: n}}
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

// dictionaryPage takes the dictionary page off the chunk and decompresses it to size bytes. They
// belong to the Dict if its values lie in them.
func (c *columnReader) dictionaryPage(header, size int) ([]byte, error) {
	keeps := keepsPage(c.leaf, c.want)
	if keeps && c.places(size) && int(c.header.CompressedPageSize) > len(c.in.data)-header {
		p, err := c.placePage(header, size)
		if err != nil {
			return nil, err
		}
		return p.data, p.all()
	}
	body, err := c.body(header)
	if err != nil {
		return nil, err
	}
	if !keeps {
		return c.expand(&c.page, c.id, body, size)
	}
	if err := check(c.id, body, size); err != nil {
		return nil, err
	}
	values, err := c.dictMem.page.room(size, c.pageName())
	if err != nil {
		return nil, c.refusal(err, dictionaryBytes(c.want, c.entries(), 0))
	}
	switch {
	case size == 0: // as in expand
		return values, nil
	case c.id == format.Uncompressed:
		copy(values, body)
		return values, nil
	}
	return values, c.shared.codec.decompress(c.id, values, body)
}

// entries is how many the dictionary page at hand has.
func (c *columnReader) entries() int { return int(c.header.DictionaryPageHeader.V.NumValues) }

// keepsPage reports whether values of a leaf that are wanted as a type lie in a dictionary page as
// they are wanted.
func keepsPage(l *leaf, want column.Type) bool {
	switch want.Rep() {
	case column.RepBytes:
		return true
	case column.RepInt64:
		rule := newIntRule(l.typ, want, 64)
		return l.physical == format.Int64 && rule.none()
	case column.RepFloat64:
		return l.physical == format.Double
	}
	return false
}

// dictionaryBytes is the memory of a dictionary of n values of a type, whose
// page has size bytes.
func dictionaryBytes(t column.Type, n, size int) int64 {
	bytes := int64(n)*elementBytes(t) + padding
	if t.Rep() == column.RepBytes {
		bytes += int64(size) + padding
	}
	return bytes
}

// elementBytes is the size of a value in a vector; of byte strings, of its span.
func elementBytes(t column.Type) int64 {
	if t.Rep() == column.RepWide {
		return int64(unsafe.Sizeof(decimal256.Num{}))
	}
	return 8
}

// retireDictionary is called between two chunks. The dictionary must not be read any more.
func (c *columnReader) retireDictionary() {
	if c.prefix != nil && c.using == nil {
		c.prefix.aside.free()
	}
	c.using.leave()
	c.using, c.prefix = nil, nil
	if invariant.Enabled { // RECYCLED
		for _, b := range [][]byte{c.dictMem.page.b, c.dictMem.values.b} {
			for i := range b {
				b[i] = 0xdb
			}
		}
	}
	c.dict, c.hasDict, c.lateDict.size = nil, false, 0
}

// checkEntries is an error if n entries cannot be in a dictionary page of size
// bytes (SIZE).
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
	kept := keepsPage(c.leaf, c.want)
	if kept && c.want.Rep() == column.RepInt64 {
		v.Int = cast[int64](c.streams.blocks.data)[:v.Len]
		return nil
	}
	if kept && c.want.Rep() == column.RepFloat64 {
		v.Float = cast[float64](c.streams.blocks.data)[:v.Len]
		return nil
	}
	values, err := c.dictMem.values.room(v.Len*int(elementBytes(c.want)), "a dictionary")
	if err != nil {
		return err
	}
	switch c.want.Rep() {
	case column.RepInt64:
		v.Int = cast[int64](values)
		return c.decoder.ints(v.Int)
	case column.RepFloat64:
		v.Float = cast[float64](values)
		return c.decoder.floats(v.Float)
	case column.RepWide:
		v.Wide = cast[decimal256.Num](values)
		return c.decoder.wides(v.Wide)
	default:
		v.Span = cast[column.Span](values)
		v.Data, err = c.decoder.bytes(v.Span)
		return err
	}
}
