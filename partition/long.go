package partition

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/spill"
)

// This file handles rows whose values are longer than a block. Such values are written to disk
// from their place, part by part, and are read into one buffer that is drawn from the budget. So
// no copy of them escapes the budget. The parts of a long block are in the order in which they are
// written, its rows last:
//
//	values, with their headers ... | arena.Padding | rows

var _ arena.Putter = (*Disk)(nil)

// Put takes a value of the row that is being packed.
func (d *Disk) Put(b []byte) (ref uint64) {
	if d.section.Len()+len(b) <= BlockBytes {
		return uint64(d.parts.Raw)/8 + d.section.Put(b)
	}
	d.putPart(d.section.Values())
	d.section.Reset()
	if len(b) <= BlockBytes {
		return uint64(d.parts.Raw)/8 + d.section.Put(b)
	}
	var head [arena.Header]byte
	arena.PutHeader(head[:], len(b))
	d.putPart(head[:])
	ref = uint64(d.parts.Raw) / 8
	for len(b) >= 8 {
		n := min(len(b)&^7, spill.PartBytes)
		d.putPart(b[:n])
		b = b[n:]
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		d.putPart(tail[:])
	}
	return ref
}

// putPart writes a part of the block being packed, a multiple of 8 bytes. It leaves an error in
// d.failed.
func (d *Disk) putPart(b []byte) {
	if d.failed == nil {
		d.failed = d.begin()
	}
	if d.failed == nil && len(b) > 0 {
		d.failed = d.file.AppendPart(&d.parts, b, 0, 0)
	}
}

// endLong ends a long block: it writes the rest of its values, and its rows.
func (d *Disk) endLong(dst []Block) ([]Block, error) {
	d.putPart(d.section.Values())
	var padding [arena.Padding]byte
	d.putPart(padding[:])
	rows := d.n / d.stride
	if d.failed == nil {
		d.failed = d.file.AppendPart(&d.parts, bytesOf(d.rows[:d.n]), rows, d.stride)
	}
	if d.failed != nil {
		return dst, d.failed
	}
	dst = append(dst, Block{extent: d.parts, Rows: int32(rows), Long: true})
	d.n, d.parts = 0, spill.Extent{}
	d.section.Reset()
	return dst, nil
}

// readLong is Read of a long block.
func (d *Disk) readLong(b Block, p *Page) error {
	if err := budget.Or(p.From).Draw(b.Bytes()); err != nil {
		return err
	}
	p.long = hostmem.Make[byte](int(b.Bytes()))
	if _, err := d.file.Read(b.extent, p.long); err != nil {
		return err
	}
	at := len(p.long) - 8*int(b.Rows)*d.stride
	p.Section, p.Rows = p.long[:at:at], wordsOf(p.long[at:], int(b.Rows)*d.stride)
	return nil
}

// Long reports whether the page is a long block.
func (p *Page) Long() bool { return p.long != nil }

// Detach hands over the memory of a long block, which has the section and behind it the rows. The
// memory is drawn from the budget, and the caller frees it. It is nil if the page is no long
// block.
func (p *Page) Detach() []byte {
	b := p.long
	p.long = nil
	return b
}

// Free frees the memory of a long block.
func (p *Page) Free() {
	if p.long == nil {
		return
	}
	size := int64(len(p.long))
	hostmem.Free(p.long)
	p.long, p.Rows, p.Section = nil, nil, nil
	budget.Or(p.From).Release(size)
}
