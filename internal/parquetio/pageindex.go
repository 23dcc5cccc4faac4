package parquetio

import (
	"bytes"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file has the bounds of the values of single pages: from the page index of the file, or
// from the statistics in a page's header. It is trusted as far as the statistics of row groups are
// (bounds.go): well-formed statistics are taken to be true.
//
// Pages are found by walking their headers, index or not, so that an index that lies about places
// or rows cannot bring rows of different columns together: what it says of a page counts only where
// the page is found at the place, with the size, and at the row that it names.

const (
	// maxPageIndex is the largest index of a chunk that is read. Real ones have some 40 bytes a
	// page.
	maxPageIndex = 4 << 20

	// pageIndexGrowth bounds the memory for a byte of an index: an empty value of one byte is a
	// slice, as large as the place of a page.
	pageIndexGrowth = 1 + 24
)

// pageIndex is the page index of a chunk. The zero value is that of a chunk without one.
type pageIndex struct {
	places    []format.PageLocation // in the order of the file; none: there is no index
	null      []bool                // by page: it holds no values
	low, high [][]byte              // by page
	drawn     int64
}

// readIndex reads the page index of the chunk if there is one. It only saves time: it is left out
// if anything about it is wrong, or if there is no memory for it.
func (c *columnReader) readIndex() {
	c.dropIndex()
	chunk := c.f.chunk(c.group, c.leaf.index)
	if ordered, signed := c.f.ordering(c.leaf); !ordered && !signed || chunk.ColumnIndexLength <= 0 {
		return
	}
	size := int64(chunk.OffsetIndexLength) + int64(chunk.ColumnIndexLength)
	if chunk.OffsetIndexLength <= 0 || size > maxPageIndex || c.shared.account.draw(size*pageIndexGrowth, "a page index") != nil {
		return
	}
	c.index.drawn = size * pageIndexGrowth
	var places format.OffsetIndex
	var values format.ColumnIndex
	if c.f.decodeAt(chunk.OffsetIndexOffset, int64(chunk.OffsetIndexLength), &places) != nil ||
		c.f.decodeAt(chunk.ColumnIndexOffset, int64(chunk.ColumnIndexLength), &values) != nil {
		return
	}
	n := len(places.PageLocations)
	if len(values.NullPages) != n || len(values.MinValues) != n || len(values.MaxValues) != n ||
		!slices.IsSortedFunc(places.PageLocations, byPlace) {
		return
	}
	c.index.places, c.index.null, c.index.low, c.index.high = places.PageLocations, values.NullPages, values.MinValues, values.MaxValues
}

func byPlace(a, b format.PageLocation) int { return int(min(max(a.Offset-b.Offset, -1), 1)) }

// decodeAt decodes a struct that lies in the file.
func (f *file) decodeAt(at, size int64, to any) (err error) {
	defer invariant.Fence(&err, damagedIn(f.name))
	if at < int64(len(magic)) || at > f.size || size > f.size-at {
		return errThriftEnd
	}
	buf := make([]byte, size)
	if err := f.readHint(buf, at); err != nil {
		return err
	}
	walk := thriftWalk{data: buf}
	if err := walk.structure(0, 0); err != nil {
		return err
	}
	return thrift.Unmarshal(new(thrift.CompactProtocol), buf[:walk.pos], to)
}

// dropIndex lets go of the index.
func (c *columnReader) dropIndex() {
	c.shared.account.give(c.index.drawn)
	c.index = pageIndex{}
}

// judgePage sets bounds to what is known of the page that was found.
func (c *columnReader) judgePage() {
	low, high := c.pageStatistics()
	c.bounds = column.Bounds{Rows: int64(c.left), Nulls: -1}
	setBounds(&c.bounds, c.leaf, c.want, low, high)
	if all := bytes.Count(high, []byte{0xFF}); all == len(high) && c.leaf.typ.Rep() == column.RepBytes {
		c.bounds.HasMax = false // of a longer value, cut off: parquet-go leaves it at that
	}
	c.known = c.bounds.HasMin || c.bounds.HasMax
}

// pageStatistics is the stored bounds of the page that was found, from the index or else from its
// header.
func (c *columnReader) pageStatistics() (low, high []byte) {
	place := format.PageLocation{Offset: c.in.at()}
	if k, ok := slices.BinarySearchFunc(c.index.places, place, byPlace); ok {
		place = c.index.places[k]
		if place.FirstRowIndex == c.seen-int64(c.left) && int64(place.CompressedPageSize) == int64(c.found)+int64(c.header.CompressedPageSize) && !c.index.null[k] {
			return c.index.low[k], c.index.high[k]
		}
		return nil, nil
	}
	if c.header.Type == format.DataPage {
		return statistics(c.f, c.leaf, &c.header.DataPageHeader.V.Statistics)
	}
	return statistics(c.f, c.leaf, &c.header.DataPageHeaderV2.V.Statistics)
}
