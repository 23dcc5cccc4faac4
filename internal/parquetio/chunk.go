package parquetio

import (
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/parquet-go/parquet-go/format"
)

// chunkHints is what the footer says of a chunk: hints, not promises.
type chunkHints struct {
	bytes       int64 // in the file, compressed
	plain       int64 // decompressed
	slow        int64 // plain, if the codec takes several times as long as Snappy; else 0
	dictAll     bool  // all data pages are dictionary-coded
	dictEntries int   // entries of the dictionary, about; -1: not known
}

// chunkHints returns the hints about the chunk of a leaf in a row group.
func (f *file) chunkHints(group, leaf int) chunkHints {
	m := &f.chunk(group, leaf).MetaData
	hints := chunkHints{bytes: m.TotalCompressedSize, plain: m.TotalUncompressedSize, dictAll: allDictionary(m), dictEntries: -1}
	switch m.Codec {
	case format.Zstd, format.Gzip, format.Brotli:
		if hints.plain > hints.bytes+hints.bytes/16 { // else it is stored as it is
			hints.slow = hints.plain
		}
	}
	// DuckDB sets the count of distinct values to the dictionary's size.
	if n := m.Statistics.DistinctCount; hints.dictAll && n > 0 && n <= math.MaxInt32 {
		hints.dictEntries = int(n)
	}
	return hints
}

// filled reports whether the footer says that a leaf has no NULL in a row group. The library
// reads a count of NULLs that is missing as 0, so other statistics must be there: all known
// writers that write them count NULLs too.
func (f *file) filled(group, leaf int) bool {
	lf := &f.leaves[leaf]
	if lf.maxDef == 0 {
		return true
	}
	s := &f.chunk(group, lf.index).MetaData.Statistics
	return lf.maxDef == 1 && s.NullCount == 0 && (len(s.MaxValue) > 0 || len(s.Max) > 0)
}

// allDictionary goes by the counts of pages by encoding where there are any.
// Else it can be sure only for the older name of the encoding, which covers
// the dictionary page too: beside the newer one, PLAIN may mean that page or
// data pages.
func allDictionary(m *format.ColumnMetaData) bool {
	if len(m.EncodingStats) > 0 {
		data, dict := int64(0), int64(0)
		for _, s := range m.EncodingStats {
			if s.PageType != format.DataPage && s.PageType != format.DataPageV2 {
				continue
			}
			data += int64(s.Count)
			if isDictionary(s.Encoding) {
				dict += int64(s.Count)
			}
		}
		return dict > 0 && dict == data
	}
	old := false
	for _, e := range m.Encoding {
		switch e {
		case format.PlainDictionary, format.RLEDictionary:
			old = true
		case format.RLE, format.BitPacked: // of the levels
		default:
			return false
		}
	}
	return old
}

func isDictionary(e format.Encoding) bool {
	return e == format.PlainDictionary || e == format.RLEDictionary
}

// maxOver is by how many bytes a chunk may be longer than it says: old
// writers did not count the header of the dictionary page (PARQUET-816).
const maxOver = 100

// A workspace is what the column readers of one goroutine share.
type workspace struct {
	account   account
	codec     codec
	batchRows int // the most rows that are read at once
}

func newWorkspace(from budget.Lender, batchRows int) *workspace {
	w := &workspace{account: account{from: from}, batchRows: batchRows}
	w.codec.mem = &w.account
	return w
}

// close gives everything back that was drawn. The column readers are closed
// before.
func (w *workspace) close() {
	w.codec.close()
	if invariant.Enabled {
		invariant.Check(w.account.used == 0, "DRAWN")
	}
	w.account.close()
}

// columnReader reads one column of a file, row group by row group, in steps
// of any size within a page and up to the workspace's batchRows. It is for
// one goroutine. All memory is reused from chunk to chunk.
type columnReader struct {
	f     *file
	leaf  *leaf
	want  column.Type
	field int // of the dataset's schema; -1: none
	group int

	// The chunk.
	in   window // on its bytes
	id   format.CompressionCodec
	rows int64 // rows in the row group
	seen int64 // rows in the pages loaded so far
	dict *column.Dict
	// hasDict tells that a dictionary page has been met: dict is nil if it
	// was empty.
	hasDict bool
	// lateDict is where a dictionary page lies that was passed over until a page needs it; size
	// 0: there is none.
	lateDict struct{ at, size int64 }
	sparse   bool        // few of its rows may be wanted
	needsAll bool        // the last dictionary that was decoded in parts was needed as a whole
	prefix   *dictPrefix // dict is a part of it; nil: all was decoded at once
	common   *sharedDict // what becomes dict; nil: it is the reader's own
	using    *sharedDict // that dict is; nil: none
	dictMem  dictMemory  // of dict, if it is the reader's own

	// The page.
	left int // rows not yet read
	// size of its header, which is decoded, while nothing of the page was taken off the chunk; else
	// 0
	found   int
	behind  int    // rows of it to pass over before the next ones are read
	coded   bool   // its values are dictionary codes
	page    buffer // its body, decompressed
	levels  levels
	repeats *levels // repetition levels, where they are wanted (records.go); else nil
	codes   hybrid

	judged bool      // bounds of pages are wanted
	index  pageIndex // of the chunk, if judged
	bounds column.Bounds
	known  bool  // bounds says something of the page
	unread int64 // pages that were passed over and not loaded

	pages    []EncodedPage // of the chunk, where they are handed on encoded
	dictPage EncodedPage   // likewise; of no rows: there is none
	coder    *textCoder    // nil: none was needed yet
	// coding tells that a page of values of the chunk was handed on as codes; codedMost: which are
	// (Reader.CodeTexts)
	coding    bool
	codedMost int
	moves     bool // its pages are put into their places one by one, where they are handed on encoded

	shared  *workspace
	vectors int64 // drawn for out and the like
	header  format.PageHeader
	decoder decoder
	streams streams
	out     output
}

// newColumnReader returns a reader of a leaf (a number in f.leaves) that
// makes vectors of type want, which the leaf's type must widen to. The caller
// closes it, before the workspace.
func newColumnReader(f *file, leaf int, want column.Type, shared *workspace) (*columnReader, error) {
	l := &f.leaves[leaf]
	if l.err != nil {
		return nil, &Error{File: f.name, RowGroup: -1, Column: l.name, Err: l.err}
	}
	if !widens(l.typ, want) {
		return nil, &Error{File: f.name, RowGroup: -1, Column: l.name, Err: fmt.Errorf("%v cannot be read as %v", l.typ, want)}
	}
	c := &columnReader{f: f, leaf: l, want: want, field: -1, decoder: newDecoder(l, want), shared: shared}
	c.levels.max = int32(l.maxDef)
	c.in.r, c.in.mem.mem, c.page.mem = f.r, &shared.account, &shared.account
	c.in.ask = f.ask
	c.dictMem.use(&shared.account)
	c.streams.use(&shared.account)
	c.vectors = vectorBytes(l, want, shared.batchRows)
	if err := shared.account.draw(c.vectors, "vectors"); err != nil {
		return nil, &Error{File: f.name, RowGroup: -1, Column: l.name, Err: err}
	}
	return c, nil
}

// vectorBytes bounds what the vectors of a column take, and what is as long
// as they are.
func vectorBytes(l *leaf, want column.Type, rows int) int64 {
	row := elementBytes(want) + 4 // values or codes
	if l.maxDef > 0 {
		row = 2*row + 4 + 1 // dense and placed; levels, NULLs
	}
	switch {
	case l.physical == format.Boolean:
		row += 4
	case l.physical == format.ByteArray, l.physical == format.FixedLenByteArray:
		row += 32 // lengths, prefixes, suffixes and values of the delta encodings
	case want.Rep() == column.RepWide:
		row += 8
	}
	return row * (max(int64(rows), minLane) + 1)
}

// open begins the chunk of a row group and stands before its first data
// page. Errors are *Error.
func (c *columnReader) open(group int) error {
	c.begin(group)
	c.sparse = false
	if c.common != nil { // another reader may have it
		return c.start(c.skipDictionary)
	}
	return c.start(c.loadDictionary)
}

// openLate is open for a chunk of which few pages may be wanted: its dictionary is decoded when
// one of them needs it.
func (c *columnReader) openLate(group int) error {
	c.begin(group)
	c.sparse = true
	return c.start(c.skipDictionary)
}

// start stands at the first page of the chunk and has its dictionary read or passed over.
func (c *columnReader) start(dictionary func() error) (err error) {
	c.freePages() // what was reserved is for reading
	c.freeCoder()
	defer c.place(&err)
	defer invariant.Fence(&err, damaged)
	if c.rows == 0 {
		return nil
	}
	start, size, err := c.f.chunkRange(c.metadata())
	if err != nil {
		return err
	}
	c.in.start(start, size, min(maxOver, c.f.end-start-size))
	return dictionary()
}

// begin leaves the last chunk for that of a row group.
func (c *columnReader) begin(group int) {
	c.group = group
	c.id = c.metadata().Codec
	c.rows, c.seen, c.left = c.f.groups[group].rows, 0, 0
	c.found, c.behind = 0, 0
	c.judged, c.known = false, false
	c.dropIndex()
	c.retireDictionary()
	c.in.start(0, 0, 0)
	c.in.mem.trim()
	c.page.trim()
	c.dictMem.trim()
	c.streams.trim()
	c.coding = false
}

// metadata is what the footer says about the chunk.
func (c *columnReader) metadata() *format.ColumnMetaData {
	return &c.f.chunk(c.group, c.leaf.index).MetaData
}

// available returns how many rows of the current page are left, going on to the
// next page when none is; 0 means that all rows of the row group have been
// read or passed over, no more and no fewer. Errors are *Error.
func (c *columnReader) available() (n int, err error) {
	if c.left > 0 {
		return c.left, nil
	}
	defer c.place(&err)
	defer invariant.Fence(&err, damaged)
	for c.left == 0 && c.seen < c.rows {
		if err := c.findPage(); err != nil {
			return 0, err
		}
	}
	if c.left == 0 {
		return 0, c.checkEnd()
	}
	return c.left, nil
}

// close gives the reader's memory back. The vectors that were read are no
// longer valid, nor is their Dict.
func (c *columnReader) close() {
	c.left, c.seen, c.rows, c.found = 0, 0, 0, 0
	c.dropIndex()
	c.retireDictionary()
	c.dictMem.free()
	c.in.start(0, 0, 0)
	c.in.mem.free()
	c.page.free()
	c.streams.free()
	c.freePages()
	c.freeCoder()
	c.shared.account.give(c.vectors)
	c.vectors = 0
}
