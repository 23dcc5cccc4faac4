package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// This file decompresses the large Snappy page of a dictionary where it lies: it is read to the end
// of the memory to whose beginning it is decompressed, so that no other memory holds it meanwhile.
//
//	memory:  data, as far as op |>>>        | src, from ip on |
//	         |.......... the page, decompressed ......| placeMargin |
//
// src stays ahead of the written bytes, since the rest of a page is hardly longer compressed than
// decompressed: by one byte in 60 where nothing repeats, and less in long literals. A page made on
// purpose may break that. So each step checks first, and where it might write over src, the rest of
// src is copied to memory of its own (PLACED).

const (
	// placeStep bytes are decompressed at a time, and up to placeBeyond may be written behind
	// them.
	placeStep   = 64 << 10
	placeBeyond = 1 << 10
	placeMargin = placeStep + placeBeyond + placeStep/4
)

var (
	errSnappy    = errors.New("corrupt input")
	errSnappyEnd = errors.New("more data than promised")
)

// snappyPage is a Snappy page that is decompressed in steps.
type snappyPage struct {
	src    []byte // from ip on what was not decompressed; nil: all was
	behind int    // where src begins, from the beginning of data; noPlace: elsewhere
	data   []byte // PAD; decompressed as far as op
	op, ip int
	aside  buffer // src, where it had to go
}

// noPlace is where bytes are that are not in the way.
const noPlace = -1

// places reports whether the page at hand, of size bytes, can be decompressed where it lies.
func (c *columnReader) places(size int) bool {
	return snappyResumes && c.id == format.Snappy && size > 0 && int(c.header.CompressedPageSize) <= size+placeMargin
}

// placePage takes the dictionary page at hand off the chunk, to the memory that is the
// dictionary's.
func (c *columnReader) placePage(header, size int) (p snappyPage, err error) {
	packed := int(c.header.CompressedPageSize)
	if err := checkRatio(c.id, int64(packed), int64(size)); err != nil {
		return p, err
	}
	memory, err := c.dictMem.page.room(size+placeMargin, c.pageName())
	if err != nil {
		return p, c.refusal(err, dictionaryBytes(c.want, c.entries(), 0))
	}
	at := len(memory) - packed
	src := memory[at:]
	c.in.advance(header)
	if err := c.in.read(src); err != nil {
		return p, err
	}
	if err := c.checkSum(src); err != nil {
		return p, err
	}
	if err := check(c.id, src, size); err != nil {
		return p, err
	}
	_, ip := binary.Uvarint(src)
	return snappyPage{src: src, behind: at, data: memory[:size], ip: ip, aside: buffer{mem: &c.shared.account}}, nil
}

// decompress goes on until upTo bytes are there, or all.
func (p *snappyPage) decompress(upTo int) (err error) {
	for upTo = min(upTo, len(p.data)); p.op < upTo; {
		next := min(p.op+placeStep, upTo)
		if p.behind != noPlace && p.behind+p.ip < next+placeBeyond {
			if err := p.moveAside(); err != nil {
				return err
			}
		}
		if p.op, p.ip, err = snappySome(p.data, p.src, p.op, p.ip, next); err != nil {
			return fmt.Errorf("damaged %v data: %w", format.Snappy, err)
		}
	}
	return nil
}

// moveAside copies the rest of src to memory that is not written over.
func (p *snappyPage) moveAside() error {
	aside, err := p.aside.room(len(p.src)-p.ip, "a dictionary")
	if err != nil {
		return err
	}
	copy(aside, p.src[p.ip:])
	p.src, p.ip, p.behind = aside, 0, noPlace
	return nil
}

// all decompresses the rest. It is an error if that is more than the page has room for.
func (p *snappyPage) all() error {
	err := p.decompress(len(p.data))
	if err == nil && p.ip < len(p.src) {
		err = fmt.Errorf("damaged %v data: %w", format.Snappy, errSnappyEnd)
	}
	p.aside.free()
	p.src = nil
	return err
}
