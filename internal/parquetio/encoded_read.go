package parquetio

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// EncodedChunk is a column chunk as it lies in the file, or the data pages of
// one that were decompressed, with its dictionary decoded.
type EncodedChunk struct {
	// Pages are the data pages that have rows, in their order. The slice is
	// the reader's, good until its next call.
	Pages []EncodedPage

	// Dict is the dictionary, of the wanted type; nil where no page is coded. It has the texts of
	// pages that were made codes too (CodeTexts). One without entries is of a chunk whose coded
	// pages have no value, or are damaged.
	Dict *column.Dict

	// DictPage is the dictionary page, as a page of values without NULLs whose Rows are the
	// entries, in place of Dict, of a column whose texts stay as they are (StoredTexts); nil: no
	// page is coded, or there is no entry and Dict says so.
	DictPage *EncodedPage

	// End is how much of the memory of the unit is used up to here, a multiple
	// of EncodedAlign.
	End int
}

// EncodedPage is a data page. Its sizes agree with one another, its checksum
// with its bytes, where it has one. Its levels and values were not looked at.
type EncodedPage struct {
	At     int // where its bytes begin in the memory of the unit
	Bytes  int // of it there
	Size   int // of it decompressed; above 0
	Levels int // of a v2 page: the bytes of levels in front, never compressed; or SizedLevels
	Rows   int // above 0; NULLs, if there are any, are counted
	Coded  bool
	Codec  PageCodec // of the page, but for the levels of a v2 page

	Encoding PageEncoding // of a page that is not coded, but for TruthRuns
}

// SizedLevels are the levels of a v1 page of a column that may hold NULLs:
// their length in 4 bytes, then they, part of what is compressed. Levels are
// definition levels of one bit, in runs.
const SizedLevels = -1

const (
	// maxEncodedPages bounds the list of a chunk's pages: 48 KiB. A chunk of
	// more is long, or its pages are too small to be worth the trip.
	maxEncodedPages = 1 << 10
	// leastEncodedPages is the first capacity of the list.
	leastEncodedPages = 16
)

// errNotEncoded is the error of a chunk that is whole, and is not read encoded.
var errNotEncoded = errors.New("not to be handed on encoded")

// ReadEncoded reads the chunks of a unit, one for each wanted column, into
// memory of at least the size that EncodedUnit gives, of which it uses no
// more. Chunks begin at multiples of EncodedAlign and have at least as many
// zeros behind them.
//
// It is not ok, without an error, where a chunk is damaged, or is not of the
// forms that are read encoded, or where there is no memory for a dictionary,
// for the list of pages or for decompressed pages: Open and Next, at the same
// unit, give the values or the error. An error that is returned here is about
// reading the file, an *Error; some of these are not returned here either.
//
// ReadEncoded ends the unit that is open. It may be called at any time.
func (r *Reader) ReadEncoded(unit int, into []byte) (chunks []EncodedChunk, ok bool, err error) {
	r.unit, r.open = -1, -1
	e, ok := r.scan.EncodedUnit(unit)
	if !ok || e.Bytes > int64(len(into)) {
		return nil, false, nil
	}
	r.begin()
	if r.openFileOf(unit) != nil {
		return nil, false, nil
	}
	r.hold(r.scan.units[unit].of)
	r.goAhead(unit)
	r.chunks = r.chunks[:0]
	at := 0
	for i, c := range r.cols {
		c.codedMost = r.codedMost(i)
		chunk, ok, err := c.readEncoded(r.scan.units[unit].Group, into, at)
		if err != nil || !ok {
			return nil, false, err
		}
		r.chunks = append(r.chunks, chunk)
		at = chunk.End
	}
	return r.chunks, true, nil
}

// openFileOf is openFile for a unit, behind a fence.
func (r *Reader) openFileOf(unit int) (err error) {
	defer invariant.Fence(&err, damagedIn(r.scan.units[unit].File))
	return r.openFile(r.scan.fileOf[r.scan.units[unit].of])
}

// encodedPlace is where a chunk lies, or will, in the memory of its unit.
type encodedPlace struct {
	memory []byte // up to the end of the chunk's room, without the zeros
	at     int    // behind the last page; of a chunk that was fetched: behind it
}

// readEncoded reads the chunk of a row group to a place in the memory of the
// unit.
func (c *columnReader) readEncoded(group int, into []byte, at int) (chunk EncodedChunk, ok bool, err error) {
	c.begin(group)
	c.sparse = false // rows may be of any entry
	room, _ := c.f.encodedRoom(c.leaf, c.metadata())
	place := encodedPlace{memory: into[:at+int(room)-padding], at: at}
	if c.moves = c.leaf.movesPages(c.metadata()); c.moves {
		err = c.unfetched()
	} else {
		err = c.fetch(&place)
	}
	if err != nil {
		return chunk, false, err
	}
	chunk, ok = c.encodedChunk(&place)
	chunk.End = at + int(encodedRoom(int64(place.at-at)))
	clear(into[place.at:chunk.End])
	return chunk, ok, nil
}

// fetch reads the chunk to its place and stands at its first page. Errors are
// *Error.
func (c *columnReader) fetch(to *encodedPlace) (err error) {
	defer c.place(&err)
	defer invariant.Fence(&err, damaged)
	start, n, err := c.f.chunkRange(c.metadata())
	if err != nil {
		return err
	}
	chunk := to.memory[to.at:][:n] // its capacity is more: PAD
	to.at += int(n)
	c.f.ask(start, n)
	if err := readAt(c.f.r, chunk, start); err != nil {
		return err
	}
	c.in.hold(chunk)
	return nil
}

// unfetched stands at the first page of the chunk, of which nothing is read.
// Errors are *Error.
func (c *columnReader) unfetched() (err error) {
	defer c.place(&err)
	defer invariant.Fence(&err, damaged)
	start, n, err := c.f.chunkRange(c.metadata())
	if err == nil {
		c.in.start(start, n, 0)
	}
	return err
}

// encodedChunk walks the chunk at whose first page it stands.
func (c *columnReader) encodedChunk(place *encodedPlace) (chunk EncodedChunk, ok bool) {
	err := c.listPages(place)
	c.in.start(0, 0, 0) // lets go of the memory
	chunk.Pages = c.pages
	if slices.ContainsFunc(c.pages, func(p EncodedPage) bool { return p.Coded }) {
		if c.leaf.physical == format.Boolean {
			chunk.Dict = truths(c.want)
			return chunk, err == nil
		}
		if c.hasDict && c.dict == nil && c.dictPage.Rows == 0 && !c.coding { // of NULLs alone
			chunk.Dict = &column.Dict{Values: column.Vector{Type: c.want}}
			return chunk, err == nil
		}
		if c.storesDict() {
			chunk.DictPage = &c.dictPage
			return chunk, err == nil && c.dictPage.Rows > 0
		}
		if chunk.Dict = c.dict; c.coding && err == nil {
			chunk.Dict = c.coder.dict(c.want)
			return chunk, true
		}
		return chunk, err == nil && c.dict != nil
	}
	return chunk, err == nil
}

// truths is the dictionary of booleans in runs.
func truths(of column.Type) *column.Dict {
	return &column.Dict{Values: column.Vector{Type: of, Len: 2, Int: []int64{0, 1}}}
}

// listPages fills pages and decodes the dictionary. No page is behind the
// last one.
func (c *columnReader) listPages(place *encodedPlace) (err error) {
	defer c.place(&err)
	defer invariant.Fence(&err, damaged)
	c.pages, c.dictPage = c.pages[:0], EncodedPage{}
	load := c.loadDictionary
	if c.storesDict() {
		load = func() error { return c.storeDictionary(place) }
	}
	if err := load(); err != nil {
		return err
	}
	for c.seen < c.rows {
		body, err := c.nextPage()
		if err != nil {
			return err
		}
		p, id, err := c.encodedPage(body)
		if err != nil {
			return err
		}
		if p.Rows == 0 {
			continue
		}
		if len(c.pages) == maxEncodedPages {
			return errNotEncoded
		}
		put := c.put
		switch {
		case c.leaf.makesPlain(c.encoding()):
			put = c.putPlain
		case !p.Coded && c.codesTexts():
			put = c.putCoded
		}
		if err := put(&p, id, body, place); err != nil {
			return err
		}
		if err := c.roomForPage(); err != nil {
			return err
		}
		c.pages = append(c.pages, p)
	}
	return c.checkEnd()
}

// storesDict reports whether the dictionary is handed on as it is.
func (c *columnReader) storesDict() bool {
	return c.codedMost == StoredTexts && c.hasTexts()
}

// hasTexts reports whether values are handed on as byte arrays.
func (c *columnReader) hasTexts() bool {
	return c.leaf.physical == format.ByteArray && !c.leaf.bytesDecimal()
}

// storeDictionary describes the chunk's dictionary page, if it begins with one.
func (c *columnReader) storeDictionary(place *encodedPlace) error {
	header, err := c.nextHeader()
	if err != nil || c.header.Type != format.DictionaryPage {
		return err
	}
	n, err := c.dictionaryEntries(header)
	if err != nil {
		return err
	}
	body, err := c.body(header)
	if err != nil {
		return err
	}
	p := EncodedPage{Bytes: len(body), Size: int(c.header.UncompressedPageSize), Rows: n, Codec: pageCodecs[c.id]}
	if n == 0 {
		return nil
	}
	if err := checkSize(c.id, body, p.Size); err != nil {
		return err
	}
	c.dictPage = p
	return c.put(&c.dictPage, c.id, body, place)
}

// roomForPage makes sure that pages has room for another one (DRAWN).
func (c *columnReader) roomForPage() error {
	had := cap(c.pages)
	if len(c.pages) < had {
		return nil
	}
	more := max(had, leastEncodedPages)
	if err := c.shared.account.draw(int64(more)*encodedPageBytes, "a list of pages"); err != nil {
		return err
	}
	c.pages = append(make([]EncodedPage, 0, had+more), c.pages...)
	return nil
}

// freeCoder frees the memory of the coder. Its entries must not be read any more.
func (c *columnReader) freeCoder() {
	if c.coder != nil {
		c.coder.free()
	}
}

// freePages frees the list, which must not be used any more.
func (c *columnReader) freePages() {
	c.shared.account.give(int64(cap(c.pages)) * encodedPageBytes)
	c.pages = nil
}

const encodedPageBytes = int64(unsafe.Sizeof(EncodedPage{}))
