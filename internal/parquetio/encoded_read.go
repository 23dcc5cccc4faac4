package parquetio

import (
	"errors"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/format"
)

// EncodedChunk is a column chunk as it lies in the file, with its dictionary
// decoded.
type EncodedChunk struct {
	// Pages are the data pages that have rows, in their order. The slice is
	// the reader's, good until its next call.
	Pages []EncodedPage

	// Dict is the dictionary, of the wanted type; nil where no page is coded.
	Dict *column.Dict
}

// EncodedPage is a data page. Its sizes agree with one another, its checksum
// with its bytes, where it has one. Its levels and values were not looked at.
type EncodedPage struct {
	At     int // where its bytes begin, behind the header, in the memory of the unit
	Bytes  int // of it there
	Size   int // of it decompressed; above 0
	Levels int // of a v2 page: the bytes of levels in front, never compressed; or SizedLevels
	Rows   int // above 0; NULLs, if there are any, are counted
	Coded  bool
	Snappy bool // the page, but for the levels of a v2 page, is compressed
}

// SizedLevels are the levels of a v1 page of a column that may hold NULLs:
// their length in 4 bytes, then they, part of what is compressed. Levels are
// definition levels of one bit, in runs.
const SizedLevels = -1

// maxEncodedPages bounds the list of a chunk's pages, which is not drawn:
// 64 KiB. A chunk of more is long, or its pages are too small to be worth
// the trip.
const maxEncodedPages = 1 << 10

// errNotEncoded tells of a chunk that is whole, and not for this road.
var errNotEncoded = errors.New("not to be handed on encoded")

// ReadEncoded reads the chunks of a unit, one for each wanted column, into
// memory of at least the size that EncodedUnit gives, of which it uses as
// much. Chunks begin at multiples of EncodedAlign and have at least as many
// zeros behind them.
//
// It is not ok, without an error, where anything at all is wrong with a
// chunk, or not for this road, or where there is no memory for a dictionary:
// Open and Next, at the same unit, give the values or say what it is. An
// error is about reading the file, an *Error.
//
// ReadEncoded ends the unit that is open. It may be called at any time.
func (r *Reader) ReadEncoded(unit int, into []byte) (chunks []EncodedChunk, ok bool, err error) {
	r.unit = -1
	e, ok := r.scan.EncodedUnit(unit)
	if !ok || e.Bytes > int64(len(into)) {
		return nil, false, nil
	}
	r.begin()
	if r.openFileOf(unit) != nil {
		return nil, false, nil
	}
	r.scan.hinted[unit].Store(true)
	r.chunks = r.chunks[:0]
	at := 0
	for _, c := range r.cols {
		size, err := c.fetch(r.scan.units[unit].Group, into[at:])
		if err != nil {
			return nil, false, err
		}
		chunk, ok := c.encodedChunk(at + size)
		if !ok {
			return nil, false, nil
		}
		r.chunks = append(r.chunks, chunk)
		at += int(encodedRoom(int64(size)))
	}
	r.scan.readAhead(unit + 1)
	return r.chunks, true, nil
}

// openFileOf is openFile for a unit, behind a fence.
func (r *Reader) openFileOf(unit int) (err error) {
	defer fence(r.scan.units[unit].File, &err)
	return r.openFile(r.scan.fileOf[unit])
}

// fetch reads the chunk of a row group to the beginning of into, puts zeros
// behind it and stands at its first page. Errors are *Error.
func (c *columnReader) fetch(group int, into []byte) (size int, err error) {
	c.begin(group)
	defer c.fence(&err)
	start, n, err := c.f.chunkRange(c.metadata())
	if err != nil {
		return 0, err
	}
	chunk := into[:n] // its capacity is more: PAD
	clear(into[n:encodedRoom(n)])
	if err := readAt(c.f.r, chunk, start); err != nil {
		return 0, err
	}
	c.in.hold(chunk)
	return int(n), nil
}

// encodedChunk walks the chunk that was fetched, which ends at a place in the
// memory of the unit.
func (c *columnReader) encodedChunk(end int) (chunk EncodedChunk, ok bool) {
	err := c.listPages(end)
	c.in.start(0, 0, 0) // lets go of the memory
	chunk.Pages = c.pages
	if slices.ContainsFunc(c.pages, func(p EncodedPage) bool { return p.Coded }) {
		chunk.Dict = c.dict
		return chunk, err == nil && c.dict != nil
	}
	return chunk, err == nil
}

// listPages fills pages and decodes the dictionary. No page is behind the
// last one.
func (c *columnReader) listPages(end int) (err error) {
	defer c.fence(&err)
	c.pages = c.pages[:0]
	if err := c.loadDictionary(); err != nil {
		return err
	}
	for c.seen < c.rows {
		body, err := c.nextPage()
		if err != nil {
			return err
		}
		p, err := c.encodedPage(body)
		if err != nil {
			return err
		}
		if p.Rows == 0 {
			continue
		}
		if len(c.pages) == maxEncodedPages {
			return errNotEncoded
		}
		p.At = end - int(c.in.rest()) - len(body)
		c.pages = append(c.pages, p)
	}
	return c.checkEnd()
}

// encodedPage describes a page, as loadPage would load it.
func (c *columnReader) encodedPage(body []byte) (p EncodedPage, err error) {
	h := &c.header
	p = EncodedPage{Bytes: len(body), Size: int(h.UncompressedPageSize), Snappy: c.id == format.Snappy}
	enc := format.Plain
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		enc = h.DataPageHeader.V.Encoding
		err = c.encodedV1(&p, &h.DataPageHeader.V, body)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		enc = h.DataPageHeaderV2.V.Encoding
		err = c.encodedV2(&p, &h.DataPageHeaderV2.V, body)
	case h.Type == format.IndexPage:
	default:
		return p, errNotEncoded
	}
	p.Coded = isDictionary(enc)
	if err == nil && !p.Coded && enc != format.Plain {
		err = errNotEncoded
	}
	return p, err
}

func (c *columnReader) encodedV1(p *EncodedPage, h *format.DataPageHeader, body []byte) (err error) {
	if p.Rows, err = c.startPage(h.NumValues); err != nil || p.Rows == 0 {
		return err
	}
	if c.leaf.maxDef > 0 {
		p.Levels = SizedLevels
		if h.DefinitionLevelEncoding != format.RLE {
			return errNotEncoded
		}
	}
	return c.checkEncoded(p, body, p.Size)
}

func (c *columnReader) encodedV2(p *EncodedPage, h *format.DataPageHeaderV2, body []byte) (err error) {
	if p.Rows, err = c.startPage(h.NumValues); err != nil || p.Rows == 0 {
		return err
	}
	def := int(h.DefinitionLevelsByteLength)
	if h.RepetitionLevelsByteLength != 0 || def < 0 || def > min(p.Bytes, p.Size) || (def > 0) != (c.leaf.maxDef > 0) {
		return errNotEncoded
	}
	p.Levels = def
	if h.IsCompressed.Valid && !h.IsCompressed.V {
		p.Snappy = false
	}
	return c.checkEncoded(p, body[def:], p.Size-def)
}

// checkEncoded checks that so many bytes, at least one, can come out of src.
func (c *columnReader) checkEncoded(p *EncodedPage, src []byte, size int) error {
	id := format.Uncompressed
	if p.Snappy {
		id = format.Snappy
	}
	if size == 0 {
		return errNotEncoded
	}
	return check(id, src, size)
}
