package sink

import (
	"bytes"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// This file is the page index: where the pages of a chunk lie, and the bounds of their values, by
// which readers pass over pages. The indexes of all row groups lie together before the footer,
// where readers expect them, the bounds before the places. Row groups of a large row have none,
// nor have files with lists or maps: there a page may begin within a row.

// pageIndex gathers the index of a chunk.
type pageIndex struct {
	places  []format.PageLocation // with offsets from the first page
	values  format.ColumnIndex
	unknown bool // the bounds of a page are not known; then no page has any
}

// add begins the entry of a page that begins at a row.
func (x *pageIndex) add(row, nulls int64, b *bounds, s parquetStorage) {
	x.places = append(x.places, format.PageLocation{FirstRowIndex: row})
	low, high, ok := b.ofPage(s)
	x.unknown = x.unknown || !ok
	v := &x.values
	v.NullPages, v.NullCounts = append(v.NullPages, !b.some), append(v.NullCounts, nulls)
	v.MinValues, v.MaxValues = append(v.MinValues, low), append(v.MaxValues, high)
}

// place completes it: the page lies there in the bytes of the chunk's pages.
func (x *pageIndex) place(from, to int) {
	p := &x.places[len(x.places)-1]
	p.Offset, p.CompressedPageSize = int64(from), int32(to-from)
}

// at is the index of a chunk whose first page lies at an offset in the file.
func (x *pageIndex) at(offset int64) pageIndex {
	for i := range x.places {
		x.places[i].Offset += offset
	}
	return *x
}

// ofPage returns the bounds of a page for the index; none if the page has no values. Long texts
// are cut, and the upper bound is raised, so that no value lies outside. ok is false if bounds
// are not known.
func (b *bounds) ofPage(s parquetStorage) (low, high []byte, ok bool) {
	if !b.some {
		return nil, nil, true
	}
	stat := b.statistics(s, 0)
	if len(b.minText) <= maxBoundBytes && len(b.maxText) <= maxBoundBytes {
		return stat.MinValue, stat.MaxValue, stat.MinValue != nil
	}
	low, high = bytes.Clone(b.minText[:min(len(b.minText), maxBoundBytes)]), bytes.Clone(b.maxText)
	if len(high) > maxBoundBytes {
		high = above(high[:maxBoundBytes])
	}
	return low, high, high != nil
}

// above is the least text, of no more bytes, that is greater than all texts that begin with the
// given one; nil: there is none.
func above(text []byte) []byte {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < 0xFF {
			text[i]++
			return text[:i+1]
		}
	}
	return nil
}

// fileIndex is the encoded page index of the row groups that were written, and where each chunk's
// part lies in it.
type fileIndex struct {
	most           int // bytes
	off            bool
	values, places []byte
}

// indexShare is the divisor of a row group's memory that gives the most memory for the index of a
// file. A file with more pages has no index.
const indexShare = 8

// indexGroup keeps the indexes of a row group. Chunks get their places as if the index lay at the
// beginning of the file.
func (w *parquetWriter) indexGroup(group *format.RowGroup) error {
	f := &w.index
	for i := range group.Columns {
		x, chunk := &w.chunks[i], &group.Columns[i]
		var err error
		if !x.unknown {
			if chunk.ColumnIndexOffset, chunk.ColumnIndexLength, err = appendStruct(&f.values, &x.values); err != nil {
				return err
			}
		}
		if chunk.OffsetIndexOffset, chunk.OffsetIndexLength, err = appendStruct(&f.places, &format.OffsetIndex{PageLocations: x.places}); err != nil {
			return err
		}
	}
	if len(f.values)+len(f.places) > f.most {
		*f = fileIndex{off: true}
	}
	return nil
}

// appendStruct encodes a struct behind others, and returns where.
func appendStruct(to *[]byte, v any) (at int64, size int32, err error) {
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
	at = int64(len(*to))
	*to = append(*to, b...)
	return at, int32(len(b)), err
}

// writeIndex writes the index, and tells the chunks where it lies.
func (w *parquetWriter) writeIndex() error {
	values := w.offset
	places := values + int64(len(w.index.values))
	for g := range w.meta.RowGroups {
		for i := range w.meta.RowGroups[g].Columns {
			chunk := &w.meta.RowGroups[g].Columns[i]
			if w.index.off {
				chunk.ColumnIndexLength, chunk.OffsetIndexLength = 0, 0
			}
			chunk.ColumnIndexOffset, chunk.OffsetIndexOffset = placed(chunk.ColumnIndexOffset, chunk.ColumnIndexLength, values), placed(chunk.OffsetIndexOffset, chunk.OffsetIndexLength, places)
		}
	}
	if err := w.write(w.index.values); err != nil {
		return err
	}
	return w.write(w.index.places)
}

// placed is where in the file a part of the index lies; 0: there is none.
func placed(at int64, size int32, index int64) int64 {
	if size == 0 {
		return 0
	}
	return index + at
}
