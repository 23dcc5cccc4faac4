package parquetio

import (
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/format"
)

var errPagesEnd = errors.New("damaged: fewer rows in the pages than the row group has")

// firstHeader is how much of a chunk is looked at for a page header at first.
// Most have some dozens of bytes, those with statistics of long values more.
const firstHeader = 4 << 10

// nextHeader decodes the header of the page that comes next, and returns its
// size. It takes nothing off the chunk.
func (c *columnReader) nextHeader() (size int, err error) {
	if c.in.rest() == 0 && c.in.over == 0 {
		return 0, errPagesEnd
	}
	size, err = c.pageHeader()
	if c.in.over > 0 && (err != nil || int64(c.header.CompressedPageSize) > c.in.rest()-int64(size)) {
		c.in.extend()
		size, err = c.pageHeader()
	}
	return size, err
}

// pageHeader decodes the header that the rest of the chunk begins with.
func (c *columnReader) pageHeader() (size int, err error) {
	for n := int64(firstHeader); ; n *= 2 {
		if err := c.in.fill(n, "a page header"); err != nil {
			return 0, err
		}
		walk := thriftWalk{data: c.in.data}
		err := walk.structure(0, 0)
		if errors.Is(err, errThriftEnd) && c.in.left > 0 && n < c.f.limits.MaxPage {
			continue // it may go on in what was not read
		}
		if err == nil {
			c.header, err = decodeHeader(c.in.data[:walk.pos])
		}
		if err != nil {
			return 0, fmt.Errorf("damaged page header: %w", err)
		}
		return walk.pos, nil
	}
}

// decodeHeader decodes a page header that is all of data.
func decodeHeader(data []byte) (h format.PageHeader, err error) {
	if decodePage(data, &h) {
		return h, nil
	}
	whole := new(format.PageHeader)
	err = unmarshal(data, whole)
	return *whole, err
}

// pageSize checks the sizes in a page's header, which has `header` bytes, and returns the bytes of
// header and page in the chunk.
func (c *columnReader) pageSize(header int) (int64, error) {
	h := &c.header
	rest := c.in.rest() - int64(header)
	if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > rest {
		return 0, fmt.Errorf("damaged: a page of %d bytes where %d are left in its chunk", h.CompressedPageSize, rest)
	}
	if h.UncompressedPageSize < 0 {
		return 0, fmt.Errorf("damaged: a page of %d bytes", h.UncompressedPageSize)
	}
	if int64(h.UncompressedPageSize) > c.f.limits.MaxPage {
		return 0, fmt.Errorf("a page of %d bytes; the limit is %d", h.UncompressedPageSize, c.f.limits.MaxPage)
	}
	return int64(header) + int64(h.CompressedPageSize), nil
}

// body advances beyond a page whose header, of `header` bytes, was decoded, and
// returns the bytes behind the header, not decompressed.
func (c *columnReader) body(header int) ([]byte, error) {
	h := &c.header
	size, err := c.pageSize(header)
	if err != nil {
		return nil, err
	}
	if err := c.in.fill(size, c.pageName()); err != nil {
		more := int64(0) // to decompress it
		if c.id != format.Uncompressed {
			more = int64(h.UncompressedPageSize)
		}
		if h.Type == format.DictionaryPage { // its values are copied
			more += int64(h.UncompressedPageSize)
		}
		return nil, c.refusal(err, more)
	}
	c.in.advance(header)
	body := c.in.advance(int(h.CompressedPageSize))
	return body, c.checkSum(body)
}

// checkSum compares the page at hand, as it lies in the file, with its checksum.
func (c *columnReader) checkSum(body []byte) error {
	if h := &c.header; h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(body) {
		return errors.New("damaged: the checksum of a page does not match")
	}
	return nil
}

// refusal is an error of reading the page at hand. If memory was refused, the error
// says of the page that it takes `more` bytes to go on.
func (c *columnReader) refusal(err error, more int64) error {
	var refused *MemoryError
	if !errors.As(err, &refused) {
		return err
	}
	h := &c.header
	size := int64(h.UncompressedPageSize)
	refused.All += more
	values, most := int64(1), int64(1)
	switch h.Type {
	case format.DataPage:
		values = int64(h.DataPageHeader.V.NumValues)
	case format.DataPageV2:
		values = int64(h.DataPageHeaderV2.V.NumValues)
	case format.DictionaryPage:
		values = int64(h.DictionaryPageHeader.V.NumValues)
	}
	if values > 1 {
		// times the mean length a value may have; with longer ones the stated need is too little
		most = 2
	}
	refused.Value = min(size, most*(size/max(values, 1)+1))
	return err
}

// nextPage takes a page off the chunk, without decompressing it.
func (c *columnReader) nextPage() (body []byte, err error) {
	header, err := c.nextHeader()
	if err != nil {
		return nil, err
	}
	return c.body(header)
}

// pageName names the current page in an error, where there is no memory for
// it: a page of one value is as large as that value.
func (c *columnReader) pageName() string {
	h := &c.header
	switch {
	case h.Type == format.DictionaryPage:
		return "a dictionary"
	case h.Type == format.DataPage && h.DataPageHeader.V.NumValues == 1,
		h.Type == format.DataPageV2 && h.DataPageHeaderV2.V.NumValues == 1:
		return "a value"
	}
	return "a page"
}

// expand decompresses src to exactly size bytes, in *buf if need be, and
// satisfies PAD.
func (c *columnReader) expand(buf *buffer, id format.CompressionCodec, src []byte, size int) ([]byte, error) {
	if err := check(id, src, size); err != nil {
		return nil, err
	}
	if size == 0 {
		return src[:0], nil
	}
	if id == format.Uncompressed {
		return src, nil
	}
	dst, err := buf.room(size, c.pageName())
	if err != nil {
		more := int64(0)
		if c.header.Type == format.DictionaryPage { // its values are copied
			more = int64(size)
		}
		return nil, c.refusal(err, more)
	}
	return dst, c.shared.codec.decompress(id, dst, src)
}

// loadDictionary decodes the chunk's dictionary if it begins with one.
func (c *columnReader) loadDictionary() error {
	header, err := c.nextHeader()
	if err != nil || c.header.Type != format.DictionaryPage {
		return err
	}
	return c.dictionary(header)
}

// skipDictionary is loadDictionary for later: see wantDictionary.
func (c *columnReader) skipDictionary() error {
	c.in.short = true
	header, err := c.nextHeader()
	if err != nil || c.header.Type != format.DictionaryPage {
		return err
	}
	size, err := c.pageSize(header)
	if err != nil {
		return err
	}
	c.lateDict.at, c.lateDict.size = c.in.at(), size
	c.in.skip(size)
	return nil
}

// wantDictionary makes sure of the dictionary if it was passed over. The page that was found stays
// so.
func (c *columnReader) wantDictionary() error {
	switch {
	case c.lateDict.size == 0:
		return nil
	case c.common != nil:
		return c.takeShared(true)
	}
	return c.loadLate()
}

// loadLate decodes the dictionary that was passed over.
func (c *columnReader) loadLate() error {
	header, at, rest, over := c.header, c.in.at(), c.in.rest(), c.in.over
	c.in.start(c.lateDict.at, c.lateDict.size, 0)
	c.lateDict.size = 0
	err := c.loadDictionary()
	c.header = header
	c.in.start(at, rest, over)
	return err
}

// findPage goes on to the next data page, or passes over a page that is none. Of a data page only
// the header is read: see loadPage.
func (c *columnReader) findPage() error {
	if err := c.dropPage(); err != nil {
		return err
	}
	header, err := c.nextHeader()
	if err != nil {
		return err
	}
	h := &c.header
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		c.left, err = c.pageRows(h.DataPageHeader.V.NumValues)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		c.left, err = c.pageRows(h.DataPageHeaderV2.V.NumValues)
	case h.Type == format.DictionaryPage:
		return errors.New("damaged: a dictionary page that is not the first page")
	case h.Type == format.IndexPage:
		_, err := c.body(header)
		return err
	default:
		return fmt.Errorf("damaged: a page of type %d without its header", h.Type)
	}
	c.found = header
	if err == nil && c.judged {
		c.judgePage()
	}
	return err
}

// encoding is that of the values of the data page that was found.
func (c *columnReader) encoding() format.Encoding {
	if c.header.Type == format.DataPage {
		return c.header.DataPageHeader.V.Encoding
	}
	return c.header.DataPageHeaderV2.V.Encoding
}

// pageRows accounts for the rows of a page.
func (c *columnReader) pageRows(values int32) (rows int, err error) {
	if values < 0 || int64(values) > c.rows-c.seen {
		return 0, fmt.Errorf("damaged: a page of %d rows where the row group has %d left", values, c.rows-c.seen)
	}
	c.seen += int64(values)
	return int(values), nil
}

// dropPage passes over the page at hand if it was found and not loaded. Its bytes are not read.
func (c *columnReader) dropPage() error {
	c.behind = 0
	if c.found == 0 {
		return nil
	}
	size, err := c.pageSize(c.found)
	if err != nil {
		return err
	}
	c.in.skip(size)
	c.in.short = true // the next page may be passed over too
	c.found = 0
	c.unread++
	return nil
}

// loadPage takes the page that was found off the chunk, decompresses it and sets the streams to it.
func (c *columnReader) loadPage() error {
	if isDictionary(c.encoding()) {
		if err := c.wantDictionary(); err != nil {
			return err
		}
	}
	body, err := c.body(c.found)
	if err != nil {
		return err
	}
	c.found, c.in.short = 0, false
	if c.header.Type == format.DataPage {
		return c.pageV1(&c.header.DataPageHeader.V, body)
	}
	return c.pageV2(&c.header.DataPageHeaderV2.V, body)
}

func (c *columnReader) pageV1(h *format.DataPageHeader, body []byte) error {
	rows := int(h.NumValues)
	body, err := c.expand(&c.page, c.id, body, int(c.header.UncompressedPageSize))
	if err != nil {
		return err
	}
	if c.repeats != nil {
		if body, err = c.repeats.start(body, h.RepetitionLevelEncoding, rows); err != nil {
			return err
		}
	}
	values, err := c.levels.start(body, h.DefinitionLevelEncoding, rows)
	if err != nil {
		return err
	}
	return c.startValues(h.Encoding, values, rows)
}

func (c *columnReader) pageV2(h *format.DataPageHeaderV2, body []byte) error {
	rows := int(h.NumValues)
	rep, def := int64(h.RepetitionLevelsByteLength), int64(h.DefinitionLevelsByteLength)
	size := int64(c.header.UncompressedPageSize)
	if rep < 0 || def < 0 || rep+def > int64(len(body)) || rep+def > size {
		return fmt.Errorf("damaged: %d and %d bytes of levels in a page of %d", rep, def, len(body))
	}
	if c.repeats != nil {
		c.repeats.startRuns(body[:rep])
	}
	c.levels.startRuns(body[rep : rep+def])
	id := c.id
	if h.IsCompressed.Valid && !h.IsCompressed.V {
		id = format.Uncompressed
	}
	values := body[rep+def:]
	if len(values) > 0 { // an empty value part is never compressed
		var err error
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
	return nil
}

// checkEnd checks that no data page follows when all rows have been seen.
// Other bytes may: some writers count more than the pages into the chunk.
func (c *columnReader) checkEnd() error {
	if err := c.dropPage(); err != nil {
		return err
	}
	c.in.over = 0 // what lies there need not be of this chunk
	for c.in.rest() > 0 {
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
