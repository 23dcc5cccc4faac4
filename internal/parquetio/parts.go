package parquetio

import "github.com/parquet-go/parquet-go/format"

// This file cuts row groups into parts, so that there are units for all workers where row groups
// are few, and small ones at the end, so that workers end together. A worker that takes a part
// opens the chunks and passes over the pages before it, by their headers. Where a part begins or
// ends within a page, both workers decompress the page; a dictionary is decoded by one of them
// (shareddict.go).
//
// Where readers filter rows and row groups are very few, parts are small: which of them have rows
// that are left is not known, and workers take them in turns.

const (
	// DefaultLeastPart is the usual least part for Split: some milliseconds of a worker. On 16
	// threads a row group of 5 MB took longer in 13 parts than in one, as each worker began with
	// buffers of its own, and one of 100 MB a quarter of the time.
	DefaultLeastPart = 1 << 20

	// rowWeight is added for each row to its bytes, which may be next to none.
	rowWeight = 4

	// partShare is the least ratio of a part's bytes to the bytes that several workers read because
	// of it: one page of each wanted column, and the dictionaries.
	partShare = 3

	// partsEach is the parts that the rest of the input has for each worker where it is cut.
	partsEach = 2

	// filteredPart is the rows of a part where readers filter rows, and filteredRow what each
	// counts beside its bytes. There are at most filteredMost parts, or filteredEach for each
	// worker: where parts meet, pages are read twice: of each column some 32 pages of all.
	filteredPart = 16 << 10
	filteredRow  = 16
	filteredMost = 32
	filteredEach = 4
)

// Split cuts row groups into parts of about least bytes or more, if without that there are too few
// units for the workers. Row groups that are not worth cutting come first, so that the
// last units are small. It is called before the first reader is made.
func (s *Scan) Split(workers int, least int64) {
	if workers <= 1 {
		s.units = s.groups
		s.share(nil)
		s.reorder()
		return
	}
	most, left := make([]int64, len(s.groups)), int64(0)
	for i := range s.groups {
		most[i], left = max(s.mostParts(&s.groups[i]), 1), left+s.groups[i].weight()
	}
	var units []Unit
	for _, whole := range []bool{true, false} {
		for i, g := range s.groups {
			if whole == (most[i] == 1) {
				parts := s.filteredParts(&s.groups[i], workers, least)
				if parts < 2 {
					parts = min(g.weight()/max(left/int64(partsEach*workers), least), most[i])
				}
				units = g.cut(units, max(parts, 1))
				left -= g.weight()
			}
		}
	}
	s.units = units
	s.share(units)
	s.reorder()
}

func (u *Unit) weight() int64 { return u.Bytes + rowWeight*u.Rows }

// cut appends a row group in parts of about the same size.
func (u Unit) cut(units []Unit, parts int64) []Unit {
	for p := range parts {
		part := u
		part.Start = p * (u.Rows / parts)
		if part.Rows = u.Rows / parts; p == parts-1 {
			part.Rows = u.Rows - part.Start
		}
		part.First += part.Start
		part.Bytes = u.Bytes*(p+1)/parts - u.Bytes*p/parts
		part.Plain, part.Slow = u.Plain/parts, u.Slow/parts
		units = append(units, part)
	}
	return units
}

// filteredParts is how many parts a row group is cut into where readers filter rows and there are
// twice as many workers as row groups.
func (s *Scan) filteredParts(g *Unit, workers int, least int64) int64 {
	if len(s.skipCols) == 0 || 2*len(s.groups) > workers {
		return 1
	}
	pages, _, ok := s.readTwice(g)
	// workers would do little but to decompress the same pages
	if !ok || g.Bytes+filteredRow*g.Rows < 2*pages {
		return 1
	}
	return min(g.Rows/max(filteredPart*least/DefaultLeastPart, 1), max(filteredMost, filteredEach*int64(workers)))
}

// mostParts is how many parts of a row group are worth cutting, as far as is known of its pages.
func (s *Scan) mostParts(g *Unit) int64 {
	pages, dictionaries, ok := s.readTwice(g)
	if !ok {
		return 1
	}
	return g.Bytes / (partShare * (pages + dictionaries))
}

// readTwice is about how many bytes a page of each wanted column has, and the dictionaries, which
// several workers read if a row group is cut; false: that is not known, or no column is read.
func (s *Scan) readTwice(g *Unit) (pages, dictionaries int64, ok bool) {
	f := s.d.files[s.fileOf[g.of]]
	for i, leaf := range s.leaves[f.layout] {
		if leaf < 0 {
			continue
		}
		peek := s.peeked[i]()
		if peek.page < 0 || peek.dictBytes < 0 {
			return 0, 0, false
		}
		m := &f.chunk(g.Group, f.leaves[leaf].index).MetaData
		pages += max(peek.packed, 1)
		dictionaries += dictPacked(m, peek.dictBytes)
		ok = true
	}
	return pages, dictionaries, ok
}

// dictPacked is about the compressed size of the dictionary page of a chunk: the bytes in front of
// the first data page; or else it is estimated from the largest dictionary that was read, of
// `largest` bytes decompressed.
func dictPacked(m *format.ColumnMetaData, largest int64) int64 {
	if n := m.DataPageOffset - m.DictionaryPageOffset; m.DictionaryPageOffset > 0 && n > 0 && n < m.TotalCompressedSize {
		return n
	}
	return int64(min(float64(m.TotalCompressedSize)/float64(max(m.TotalUncompressedSize, 1)), 1) * float64(largest))
}
