package sink

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file writes a row that is too large to be gathered with others, as a row group of its own
// whose pages go to the file as they are made. A value of more than a page has a page of its own,
// and is compressed twice: to know the page's size, which stands before it, and to write it. So
// no copy is made.

// largeShare is the divisor of a row group's size beyond which a row is large. The buffers that a
// smaller row goes through hold it up to nine times, and a row group is a third of the memory.
const largeShare = 4

func (w *parquetWriter) large() int64 { return w.room.group / largeShare }

func (w *parquetWriter) writeLarge(rec arrow.Record) error {
	if err := w.rows.readLarge(rec); err != nil {
		return err
	}
	if err := w.flush(); err != nil { // the rows before; also begins the file
		return err
	}
	group, err := w.beginGroup(1)
	if err != nil {
		return err
	}
	for i, f := range w.fields {
		l := &largeValue{arr: rec.Column(i), typ: w.rows.fields[i].Type}
		for leaf, c := range f.leaves {
			offset := w.offset
			if c.dict != nil {
				c.dict.closed = true // a dictionary would come before the pages
			}
			if err := w.writeLeaf(f, leaf, &w.rows.vectors[i], l); err != nil {
				return err
			}
			if err := w.flushColumn(c, offset, &group); err != nil {
				return err
			}
		}
	}
	w.endGroup(group)
	return nil
}

// writeLeaf puts the row into a leaf: v is its value or, for lists and maps, whether it is NULL.
func (w *parquetWriter) writeLeaf(f *parquetField, leaf int, v *column.Vector, l *largeValue) error {
	c := f.leaves[leaf]
	if !f.nested {
		return w.addLarge(c, v, 0, 1)
	}
	some := false
	err := l.each(func(window *column.Vector, first bool) error {
		some = true
		for j := range window.Elem.Len {
			further := 1
			if first && j == 0 {
				further = 0
			}
			f.slot(j, further, slotElement)
		}
		return w.addSlotsOf(f, leaf, window)
	})
	if err != nil || some {
		return err
	}
	kind := uint8(slotEmpty)
	if v.IsNull(0) {
		kind = slotNull
	}
	f.slot(0, 0, kind)
	return w.addSlotsOf(f, leaf, &column.Vector{Type: l.typ})
}

// addSlotsOf puts the slots at hand into one leaf.
func (w *parquetWriter) addSlotsOf(f *parquetField, leaf int, window *column.Vector) error {
	f.gather(window)
	c, values := f.leaves[leaf], &f.elems
	if leaf == 1 {
		values = &f.counts
	}
	c.nest.first, c.nest.kind = f.first, f.kind
	err := w.addLarge(c, values, 0, values.Len)
	f.clearSlots()
	return err
}

// addLarge adds rows of v to a column, and writes its finished pages. A value of more than a page
// is a page of its own.
func (w *parquetWriter) addLarge(c *parquetColumn, v *column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		if v.Type.Rep() != column.RepBytes || v.IsNull(i) || len(v.Bytes(i)) <= c.room.page || c.storage.physical != format.ByteArray {
			continue
		}
		if err := w.addPages(c, v, from, i); err != nil {
			return err
		}
		if err := c.closePage(); err != nil {
			return err
		}
		if err := w.writePages(c); err != nil {
			return err
		}
		c.page.add(v, i, i+1)
		if err := w.writeValue(c, v.Bytes(i)); err != nil {
			return err
		}
		from = i + 1
	}
	return w.addPages(c, v, from, to)
}

// addPages adds rows of values that are not large.
func (w *parquetWriter) addPages(c *parquetColumn, v *column.Vector, from, to int) error {
	if from == to {
		return nil
	}
	if err := c.add(v, from, to); err != nil {
		return err
	}
	return w.writePages(c)
}

// writePages writes the finished pages.
func (w *parquetWriter) writePages(c *parquetColumn) error {
	err := w.write(c.pages)
	c.written += int64(len(c.pages))
	c.pages = c.pages[:0]
	return err
}

// writeValue writes a page of one value. The open page is empty.
func (w *parquetWriter) writeValue(c *parquetColumn, value []byte) error {
	c.nest.moveToPage(1)
	c.rows = 1
	if err := c.beginBody(); err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint32(c.room.body, uint32(len(value)))
	size := len(head) + len(value)
	if size > maxPage {
		return c.tooLarge(size)
	}
	sum := crc32.NewIEEE()
	packed, err := pack(c.codec, sum, head, value)
	if err != nil {
		return err
	}
	if packed > maxPage {
		return c.tooLarge(size)
	}
	header := c.endPage(format.Plain)
	header.UncompressedPageSize, header.CompressedPageSize = int32(size), int32(packed)
	header.CRC = int32(sum.Sum32())
	h, err := thrift.Marshal(&thrift.CompactProtocol{}, &header)
	if err != nil {
		return err
	}
	if err := w.write(h); err != nil {
		return err
	}
	if _, err := pack(c.codec, writerFunc(w.write), head, value); err != nil {
		return err
	}
	c.unpacked += int64(len(h) + size)
	c.written += int64(len(h)) + packed
	return nil
}

type writerFunc func(p []byte) error

func (f writerFunc) Write(p []byte) (int, error) {
	if err := f(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

var _ io.Writer = writerFunc(nil)
