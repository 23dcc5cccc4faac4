package parquetio

import (
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// The memory of a scan is estimated from the footers, and from the page headers
// at the beginning of a few chunks.

const (
	// maxPeeks is at how many chunks of a column a scan looks.
	maxPeeks = 16

	// usualPage is the size that most writers end a page at. A page is
	// taken to be no larger than this, or than a quarter more than the
	// largest of those looked at.
	usualPage = 1 << 20

	// unknownPage is taken for the size of pages of which none could be
	// looked at.
	unknownPage = 16 << 20

	// deltaValue is the length taken for values in DELTA_BYTE_ARRAY, of
	// which a batch is put together at a time: nothing in the file tells
	// what shared prefixes amount to.
	deltaValue = 128
)

// columnPeek is the sizes of a column's pages that were seen in some row groups of a scan.
type columnPeek struct {
	entries   int   // most entries of a dictionary; -1: not known
	dictBytes int64 // of the largest dictionary page; -1: not known
	dictSum   int64 // of the dictionary pages of the row groups looked at
	units     int   // at how many row groups it was looked
	page      int64 // of the largest first data page; -1: not known
	packed    int64 // of the same, compressed
}

// peekColumn looks at row groups spread over the scan, at all where they are few.
func (s *Scan) peekColumn(i int) (c columnPeek) {
	for u := 0; u < len(s.groups); u += 1 + (len(s.groups)-1)/maxPeeks {
		c.units++
		f := s.d.files[s.fileOf[u]]
		leaf := s.leaves[f.layout][i]
		if leaf < 0 {
			c.entries = max(c.entries, 1)
			continue
		}
		p, err := f.peek(s.groups[u].Group, leaf)
		if err != nil { // reading the unit will tell what is wrong
			return columnPeek{entries: -1, dictBytes: -1, page: -1}
		}
		c.entries = max(c.entries, p.entries)
		c.dictBytes = max(c.dictBytes, p.dictBytes)
		c.dictSum += p.dictBytes
		if p.page < 0 || c.page < 0 {
			c.page = -1
			continue
		}
		c.page, c.packed = max(c.page, p.page), max(c.packed, p.packed)
	}
	return c
}

// DictEntries is the greatest number of dictionary entries that column i of
// Columns has in a unit, 0 if it has no dictionary, 1 if it is constant, and
// -1 if that cannot be told. It is a hint: it reads the headers of
// dictionaries, of a few units spread over the scan if there are many.
func (s *Scan) DictEntries(i int) int { return s.peeked[i]().entries }

// DictBytes is how many bytes the dictionaries of column i of Columns have
// in all units together, -1 if that cannot be told. It is exact where units
// are few, and else a hint, likely to be too large, as DictEntries is.
func (s *Scan) DictBytes(i int) int64 {
	c := s.peeked[i]()
	switch {
	case c.dictBytes < 0:
		return -1
	case c.units == len(s.groups):
		return c.dictSum
	}
	return c.dictBytes * int64(len(s.groups))
}

// WorkerBytes is how much memory a reader of the scan takes, as far as it can
// be told: an upper bound for files whose pages are much alike.
func (s *Scan) WorkerBytes() int64 {
	total, state := int64(0), int64(0)
	for i := range s.cols {
		b := s.columnBytes(i)
		total += b.vectors + withSlack(b.window+b.pages+b.dict)
		state = max(state, b.state)
	}
	return total + state
}

// columnBytes is the memory of a column's reader; its buffers are
// kept from one row group to the next, so the largest ones count.
type columnBytes struct {
	vectors, window, pages, dict int64
	state                        int64 // of the codec, which all columns share
}

func (s *Scan) columnBytes(i int) (b columnBytes) {
	peek := s.peeked[i]()
	for u := range s.groups {
		f := s.d.files[s.fileOf[u]]
		leaf := s.leaves[f.layout][i]
		if leaf < 0 {
			b.vectors = max(b.vectors, s.constantBytes(i))
			continue
		}
		l := &f.leaves[leaf]
		m := &f.chunk(s.groups[u].Group, l.index).MetaData
		inWindow, inPage := peek.dictBytes, peek.dictBytes
		if keepsPage(l, s.types[i]) { // see dictionaryPage
			inPage = 0
			if snappyResumes && m.Codec == format.Snappy {
				inWindow = 0
			}
		}
		page := min(peek.pageOf(max(m.TotalUncompressedSize, 0), inPage), f.limits.MaxPage)
		packed := min(peek.pageOf(max(m.TotalUncompressedSize, 0), inWindow), f.limits.MaxPage)
		b.vectors = max(b.vectors, vectorBytes(l, s.types[i], s.batchRows))
		b.window = max(b.window, min(m.TotalCompressedSize+maxOver, max(minWindow, peek.packedOf(packed, m))))
		b.pages = max(b.pages, s.pageBuffers(page, m))
		b.dict = max(b.dict, peek.dictOf(l, s.types[i], page, m))
		b.state = max(b.state, codecState(m.Codec))
	}
	return b
}

// constantBytes is the memory of a column's vector where a file has no leaf for
// the column.
func (s *Scan) constantBytes(i int) int64 {
	return int64(s.batchRows) * (elementBytes(s.types[i]) + 1 + 4) // and NULLs, codes
}

// pageOf is the decompressed size of the largest page of a chunk of `chunk` bytes; it is not less
// than a page that was read. dict is the size of the dictionary, if that counts.
func (p *columnPeek) pageOf(chunk, dict int64) int64 {
	if p.page < 0 {
		return min(chunk, unknownPage)
	}
	return min(max(chunk, p.page), max(usualPage, p.page+p.page/4, dict))
}

// packedOf is the size in the file of a page, compressed as well as those
// looked at or as the chunk as a whole.
func (p *columnPeek) packedOf(page int64, m *format.ColumnMetaData) int64 {
	packed := page
	if all := float64(m.TotalUncompressedSize); all > 0 {
		packed = int64(float64(page) * min(1, 1.25*float64(m.TotalCompressedSize)/all))
	}
	return max(packed, p.packed) + firstHeader
}

// pageBuffers is the memory of the other forms of a page of a chunk, beside the
// one in the file.
func (s *Scan) pageBuffers(page int64, m *format.ColumnMetaData) (n int64) {
	if m.Codec != format.Uncompressed {
		n += page
	}
	if slices.Contains(m.Encoding, format.ByteStreamSplit) {
		n += page
	}
	if slices.Contains(m.Encoding, format.DeltaByteArray) {
		n += deltaValue * int64(s.batchRows)
	}
	return n
}

// dictOf is the memory of the dictionary of a chunk.
func (p *columnPeek) dictOf(l *leaf, t column.Type, page int64, m *format.ColumnMetaData) int64 {
	switch {
	case p.dictBytes > 0 && keepsPage(l, t):
		return dictionaryBytes(t, p.entries, int(p.dictBytes)) + placeMargin
	case p.dictBytes >= 0:
		return dictionaryBytes(t, p.entries, int(p.dictBytes))
	case slices.ContainsFunc(m.Encoding, isDictionary):
		return 2 * min(page, usualPage)
	}
	return 0
}

// codecState is stateBytes before anything of a page is known.
func codecState(id format.CompressionCodec) int64 {
	const usualWindow = 0b1011 // brotli: 4 MiB
	return stateBytes(id, []byte{usualWindow})
}
