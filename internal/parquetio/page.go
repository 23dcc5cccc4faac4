package parquetio

import (
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/format"
)

var errPagesEnd = errors.New("damaged: fewer rows in the pages than the row group has")

// nextPage takes a page off rest, header and body, without decompressing it.
func (c *columnReader) nextPage() (body []byte, err error) {
	if len(c.rest) == 0 && c.over == 0 {
		return nil, errPagesEnd
	}
	size, err := c.pageHeader()
	if c.over > 0 && (err != nil || int(c.header.CompressedPageSize) > len(c.rest)-size) {
		c.rest, c.over = c.rest[:len(c.rest)+c.over], 0
		size, err = c.pageHeader()
	}
	if err != nil {
		return nil, fmt.Errorf("damaged page header: %w", err)
	}
	c.rest = c.rest[size:]
	h := &c.header
	if h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(c.rest) {
		return nil, fmt.Errorf("damaged: a page of %d bytes where %d are left in its chunk", h.CompressedPageSize, len(c.rest))
	}
	if h.UncompressedPageSize < 0 {
		return nil, fmt.Errorf("damaged: a page of %d bytes", h.UncompressedPageSize)
	}
	if int64(h.UncompressedPageSize) > c.f.limits.MaxPage {
		return nil, fmt.Errorf("a page of %d bytes; the limit is %d", h.UncompressedPageSize, c.f.limits.MaxPage)
	}
	body, c.rest = c.rest[:h.CompressedPageSize], c.rest[h.CompressedPageSize:]
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(body) {
		return nil, errors.New("damaged: the checksum of a page does not match")
	}
	return body, nil
}

// pageHeader decodes the header that rest begins with and returns its size.
func (c *columnReader) pageHeader() (size int, err error) {
	walk := thriftWalk{data: c.rest}
	if err := walk.structure(0, 0); err != nil {
		return 0, err
	}
	c.header = format.PageHeader{}
	c.thrift.ResetBytes(c.rest[:walk.pos])
	return walk.pos, c.pageDecoder.Decode(&c.header)
}

// expand decompresses src to exactly size bytes, in *buf if need be, and
// satisfies PAD.
func (c *columnReader) expand(buf *[]byte, id format.CompressionCodec, src []byte, size int) ([]byte, error) {
	if size == 0 {
		return src[:0], nil // whatever the codec makes of nothing
	}
	if err := c.codec.check(id, src, size); err != nil {
		return nil, err
	}
	if id == format.Uncompressed {
		return src, nil
	}
	*buf = padded(*buf, size)
	return *buf, c.codec.decompress(id, *buf, src)
}

// loadDictionary decodes the chunk's dictionary if it begins with one.
func (c *columnReader) loadDictionary() error {
	rest, over := c.rest, c.over
	body, err := c.nextPage()
	if err != nil {
		return err
	}
	if c.header.Type != format.DictionaryPage {
		c.rest, c.over = rest, over
		return nil
	}
	return c.dictionary(body)
}

// loadPage loads the next data page, or skips a page that is none.
func (c *columnReader) loadPage() error {
	body, err := c.nextPage()
	if err != nil {
		return err
	}
	h := &c.header
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		return c.pageV1(&h.DataPageHeader.V, body)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		return c.pageV2(&h.DataPageHeaderV2.V, body)
	case h.Type == format.DictionaryPage:
		return errors.New("damaged: a dictionary page that is not the first page")
	case h.Type == format.IndexPage:
		return nil
	}
	return fmt.Errorf("damaged: a page of type %d without its header", h.Type)
}

// startPage accounts for the rows of a page.
func (c *columnReader) startPage(values int32) (rows int, err error) {
	if values < 0 || int64(values) > c.rows-c.seen {
		return 0, fmt.Errorf("damaged: a page of %d rows where the row group has %d left", values, c.rows-c.seen)
	}
	c.seen += int64(values)
	return int(values), nil
}

func (c *columnReader) pageV1(h *format.DataPageHeader, body []byte) error {
	rows, err := c.startPage(h.NumValues)
	if err != nil {
		return err
	}
	body, err = c.expand(&c.page, c.id, body, int(c.header.UncompressedPageSize))
	if err != nil {
		return err
	}
	values, err := c.levels.start(body, h.DefinitionLevelEncoding, rows)
	if err != nil {
		return err
	}
	return c.startValues(h.Encoding, values, rows)
}

func (c *columnReader) pageV2(h *format.DataPageHeaderV2, body []byte) error {
	rows, err := c.startPage(h.NumValues)
	if err != nil {
		return err
	}
	rep, def := int64(h.RepetitionLevelsByteLength), int64(h.DefinitionLevelsByteLength)
	size := int64(c.header.UncompressedPageSize)
	if rep < 0 || def < 0 || rep+def > int64(len(body)) || rep+def > size {
		return fmt.Errorf("damaged: %d and %d bytes of levels in a page of %d", rep, def, len(body))
	}
	c.levels.startRuns(body[rep : rep+def])
	id := c.id
	if h.IsCompressed.Valid && !h.IsCompressed.V {
		id = format.Uncompressed
	}
	values := body[rep+def:]
	if len(values) > 0 { // an empty value part is never compressed
		if values, err = c.expand(&c.page, id, values, int(size-rep-def)); err != nil {
			return err
		}
	}
	return c.startValues(h.Encoding, values, rows)
}

// startValues sets the streams to the values of a page.
func (c *columnReader) startValues(enc format.Encoding, values []byte, rows int) error {
	c.coded = isDictionary(enc)
	if c.coded {
		return c.startCodes(values, rows)
	}
	if c.want.Kind != column.Null && len(values) > 0 {
		if err := c.streams.start(&c.decoder, enc, values, rows, c.f.limits.MaxPage); err != nil {
			return err
		}
	} else {
		c.streams.startEmpty(&c.decoder)
	}
	c.left = rows
	return nil
}

// startCodes starts a stream of dictionary codes: the width of a code in a
// byte, then runs.
func (c *columnReader) startCodes(values []byte, rows int) error {
	width := uint(0)
	if len(values) > 0 { // else no row holds a value
		width, values = uint(values[0]), values[1:]
	}
	if width > 32 {
		return fmt.Errorf("damaged: dictionary codes of %d bits", width)
	}
	c.codes.reset(values, width)
	if width == 0 {
		c.codes.left = rows // all the first entry; some writers give no run
	}
	c.left = rows
	return nil
}

// checkEnd checks that no data page follows when all rows have been seen.
// Other bytes may: some writers count more than the pages into the chunk.
func (c *columnReader) checkEnd() error {
	c.over = 0 // what lies there need not be of this chunk
	for len(c.rest) > 0 {
		if _, err := c.nextPage(); err != nil {
			return nil
		}
		h := &c.header
		if h.Type == format.DataPage && h.DataPageHeader.V.NumValues > 0 ||
			h.Type == format.DataPageV2 && h.DataPageHeaderV2.V.NumValues > 0 {
			return errors.New("damaged: more rows in the pages than the row group has")
		}
	}
	return nil
}
