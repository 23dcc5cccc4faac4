package sink

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

const (
	pageRows = 128 << 10             // a page of 64-bit numbers is a MiB, as usual
	stepRows = 1 << 10               // rows encoded between two looks at the size
	maxPage  = math.MaxInt32 - 1<<28 // what a codec cannot make larger than the format allows
)

// parquetColumn builds the chunk of one column in one row group: values
// are collected in an open page; a full page is compressed and appended to the
// finished pages. In a column of elements a slot takes the part of a row.
type parquetColumn struct {
	field   column.Field
	path    []string // in the schema
	storage parquetStorage
	nest    *levels // of elements; else nil
	room    *parquetRoom
	codec   compress.Codec
	encode  plainEncoder
	bounds  bounds
	dict    *dictionary // nil: the column has none

	// the open page
	plain    []byte  // its values
	codes    []int32 // or, while the dictionary is open, their codes
	null     []bool  // nil: none is NULL so far
	rows     int
	pageNull int
	page     bounds // of its values

	// the chunk
	pages    []byte
	written  int64 // bytes of pages that are in the file already
	values   int64 // NULLs included, as the format counts
	nulls    int64
	unpacked int64 // size of the chunk if it were not compressed
	index    pageIndex
}

func newParquetColumn(f column.Field, s parquetStorage, codec compress.Codec, room *parquetRoom) *parquetColumn {
	c := &parquetColumn{
		field: f, path: []string{f.Name}, storage: s, room: room, codec: codec, encode: encoderOf(f.Type, s, room), bounds: bounds{typ: f.Type}, page: bounds{typ: f.Type},
	}
	c.dict = newDictionary(f.Type, s, room)
	c.reset()
	return c
}

func (c *parquetColumn) reset() {
	if c.dict != nil {
		c.dict.reset()
	}
	c.pages, c.written, c.values, c.nulls, c.unpacked = c.pages[:0], 0, 0, 0, 0
	c.bounds.reset()
	c.page.reset()
	c.index = pageIndex{}
}

// size is how much memory the chunk takes so far.
func (c *parquetColumn) size() int64 {
	n := len(c.pages) + len(c.plain) + 4*len(c.codes) + c.nest.size()
	if c.dict != nil {
		n += len(c.dict.plain)
	}
	return int64(n)
}

// add appends the rows from..to of v.
func (c *parquetColumn) add(v *column.Vector, from, to int) error {
	for from < to {
		next, err := c.addStep(v, from, min(to, from+stepRows, from+pageRows-c.rows))
		if err != nil {
			return fmt.Errorf("column %q: %w", c.field.Name, err)
		}
		c.page.add(v, from, next)
		c.addNulls(v, from, next)
		c.nest.moveToPage(next - from)
		c.rows += next - from
		from = next
		dictFull := c.dict != nil && !c.dict.closed && c.dict.isFull()
		if c.rows >= pageRows || len(c.plain) >= c.room.page || dictFull {
			if err := c.closePage(); err != nil {
				return err
			}
		}
		if dictFull {
			c.dict.closed = true
		}
	}
	return nil
}

// addStep encodes rows into the open page and returns the row after the last
// it took.
func (c *parquetColumn) addStep(v *column.Vector, from, to int) (next int, err error) {
	if c.dict != nil && !c.dict.closed {
		c.codes, next, err = c.dict.encode(c.codes, v, from, to, c.storage, c.encode)
		return next, err
	}
	c.plain, next, err = c.encode(c.plain, v, from, to)
	return next, err
}

func (c *parquetColumn) addNulls(v *column.Vector, from, to int) {
	if v.Null == nil {
		if c.pageNull > 0 {
			c.null = append(c.null, make([]bool, to-from)...)
		}
		return
	}
	for i, isNull := range v.Null[from:to] {
		if !isNull {
			continue
		}
		if c.pageNull == 0 {
			c.null = append(c.null[:0], make([]bool, c.rows)...)
		}
		for len(c.null) < c.rows+i { // since the last NULL
			c.null = append(c.null, false)
		}
		c.null = append(c.null, true)
		c.pageNull++
	}
	for c.pageNull > 0 && len(c.null) < c.rows+to-from {
		c.null = append(c.null, false)
	}
}

// closePage compresses the open page and appends it to the chunk.
func (c *parquetColumn) closePage() error {
	if c.rows == 0 {
		return nil
	}
	err := c.beginBody()
	if err != nil {
		return err
	}
	encoding := format.Plain
	switch {
	case len(c.codes) > 0: // a page of NULLs needs no dictionary, and there may be none
		encoding = format.RLEDictionary
		if c.room.body, err = appendCodes(c.room.body, c.codes, &c.room.coded); err != nil {
			return err
		}
	case c.storage.physical == format.Boolean:
		c.room.body = appendPacked(c.room.body, c.plain)
	default:
		c.room.body = append(c.room.body, c.plain...)
	}
	header, before := c.endPage(encoding), len(c.pages)
	c.pages, err = c.appendPage(c.pages, header, c.room.body)
	c.index.place(before, len(c.pages))
	return err
}

// beginBody makes the body of the open page its levels.
func (c *parquetColumn) beginBody() (err error) {
	if c.nest != nil {
		c.room.body, err = c.nest.appendTo(c.room.body[:0])
	} else {
		c.room.body = c.appendLevels(c.room.body[:0])
	}
	return err
}

// endPage counts the values of the open page, empties it, and returns its header.
func (c *parquetColumn) endPage(encoding format.Encoding) format.PageHeader {
	header := format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(c.rows), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}
	c.index.add(c.values, int64(c.pageNull), &c.page, c.storage)
	c.bounds.merge(&c.page)
	c.page.reset()
	c.values += int64(c.rows)
	c.nulls += int64(c.pageNull)
	c.plain, c.codes, c.null, c.rows, c.pageNull = c.plain[:0], c.codes[:0], c.null[:0], 0, 0
	return header
}

// appendPage appends header and body, compressed, to pages.
func (c *parquetColumn) appendPage(pages []byte, header format.PageHeader, body []byte) ([]byte, error) {
	if len(body) > maxPage {
		return pages, c.tooLarge(len(body))
	}
	var err error
	if c.room.packed, err = c.codec.Encode(c.room.packed[:0], body); err != nil {
		return pages, fmt.Errorf("column %q: compressing: %w", c.field.Name, err)
	}
	header.UncompressedPageSize, header.CompressedPageSize = int32(len(body)), int32(len(c.room.packed))
	header.CRC = int32(crc32.ChecksumIEEE(c.room.packed))
	h, err := thrift.Marshal(&thrift.CompactProtocol{}, &header)
	if err != nil {
		return pages, err
	}
	c.unpacked += int64(len(h) + len(body))
	return append(append(pages, h...), c.room.packed...), nil
}

func (c *parquetColumn) tooLarge(bytes int) error {
	return fmt.Errorf("column %q: a value of %d bytes is too large for Parquet", c.field.Name, bytes)
}

// appendLevels writes the definition levels, 1 for a value and 0 for NULL: a
// length, then one run, of equal levels or of packed bits.
func (c *parquetColumn) appendLevels(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if c.pageNull == 0 || c.pageNull == c.rows {
		dst = binary.AppendUvarint(dst, uint64(c.rows)<<1)
		if c.pageNull == 0 {
			dst = append(dst, 1)
		} else {
			dst = append(dst, 0)
		}
	} else {
		groups := (c.rows + 7) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		at := len(dst)
		dst = append(dst, make([]byte, groups)...)
		for i, isNull := range c.null {
			if !isNull {
				dst[at+i>>3] |= 1 << (i & 7)
			}
		}
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// appendPacked packs one boolean a byte into one a bit.
func appendPacked(dst, bools []byte) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, (len(bools)+7)/8)...)
	for i, b := range bools {
		dst[at+i>>3] |= b << (i & 7)
	}
	return dst
}

// finish closes the last page and returns the chunk's metadata, given where
// in the file it begins, and its bytes, which are valid until reset.
func (c *parquetColumn) finish(offset int64) (format.ColumnChunk, [][]byte, error) {
	meta := format.ColumnMetaData{
		Type:           c.storage.physical,
		Encoding:       thrift.Slice[format.Encoding]{format.Plain, format.RLE},
		PathInSchema:   thrift.Slice[string](c.path),
		Codec:          c.codec.CompressionCodec(),
		DataPageOffset: offset,
	}
	if err := c.closePage(); err != nil {
		return format.ColumnChunk{}, nil, err
	}
	parts := [][]byte{c.pages}
	if c.dict != nil && c.dict.entries > 0 {
		page, err := c.appendPage(nil, c.dict.page(), c.dict.plain)
		if err != nil {
			return format.ColumnChunk{}, nil, err
		}
		parts = [][]byte{page, c.pages}
		meta.Encoding = append(meta.Encoding, format.RLEDictionary)
		meta.DictionaryPageOffset, meta.DataPageOffset = offset, offset+int64(len(page))
	}
	meta.TotalCompressedSize = c.written
	for _, p := range parts {
		meta.TotalCompressedSize += int64(len(p))
	}
	meta.NumValues, meta.TotalUncompressedSize = c.values, c.unpacked
	meta.Statistics = c.bounds.statistics(c.storage, c.nulls)
	return format.ColumnChunk{MetaData: meta}, parts, nil
}
