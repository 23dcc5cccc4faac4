package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file decodes large dictionaries of texts no further than rows refer to them, in chunks of which a filter leaves few rows.
// Entries are in order of first appearance, or nearly so, so that the rows in the first part of a row group need a first part of
// its dictionary:
//
//	entries  |......|......|............|                         |
//	          first  again, twice as many      never decompressed
//
// Each time there is a new Dict, which shares the memory of those before. What is kept by dictionary is made anew then, which is why a reader
// whose rows have needed a whole dictionary decodes the next ones at once.
//
// PUBLISHED: the entries of a Dict, and the padding bytes behind each, are not written again: other readers may be reading them.

const (
	// leastPrefix is from how many bytes on a dictionary is decoded in parts, and prefixEntries how many entries the
	// first one has.
	leastPrefix   = 512 << 10
	prefixEntries = 4 << 10
	prefixStep    = 64 << 10 // bytes that are decompressed at a time
)

var errSnappyEnd = errors.New("more data than promised")

// dictPrefix is a dictionary of which a part was decoded.
type dictPrefix struct {
	typ    column.Type
	packed buffer // the page as it lies in the file, until all is decoded
	src    []byte // in packed
	data   []byte // PAD; decompressed as far as op
	spans  []column.Span
	op, ip int // where decompressing goes on
	pos, n int // where the next entry begins, and its number
}

// prefixes reports whether a dictionary page of size bytes is decoded in parts.
func (c *columnReader) prefixes(size int) bool {
	return snappyResumes && c.sparse && !c.needsAll && c.id == format.Snappy && size >= leastPrefix &&
		c.want.Rep() == column.RepBytes && c.leaf.physical == format.ByteArray
}

// startPrefix decodes a first part of a dictionary page of n entries and size bytes, which is all that the window holds. It keeps
// the memory of the window.
func (c *columnReader) startPrefix(body []byte, n, size int) (err error) {
	c.dictMem.data = recycled(c.spareDict.data, size+padding, c.dictSlack)
	c.dictMem.spans = recycled(c.spareDict.spans, n, c.dictSlack)
	_, ip := binary.Uvarint(body) // checked
	p := &dictPrefix{typ: c.want, src: body, data: c.dictMem.data[:size], spans: c.dictMem.spans[:n], ip: ip}
	p.packed, c.in.mem = c.in.mem, buffer{mem: c.in.mem.mem}
	c.prefix = p
	c.dict, err = p.extend(1)
	return err
}

// retirePrefix lets go of what it takes to decode more of the chunk's dictionary.
func (c *columnReader) retirePrefix() {
	if c.prefix != nil && c.using == nil {
		c.prefix.packed.free()
	}
	c.prefix = nil
}

// extendDictionary makes sure of the entries that codes name.
func (c *columnReader) extendDictionary(codes []int32) (err error) {
	most := uint32(0)
	for _, code := range codes {
		most = max(most, uint32(code))
	}
	p := c.prefix
	if p == nil || int64(most) >= int64(len(p.spans)) {
		n := c.dict.Len()
		if p != nil {
			n = len(p.spans)
		}
		return fmt.Errorf("damaged: a code beyond the %d entries of the dictionary", n)
	}
	if d := c.using; d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.dict.Len() <= int(most) {
			if d.dict, err = p.extended(d.dict, int(most)+1); err != nil {
				return err
			}
		}
		c.dict = d.dict
	} else if c.dict, err = p.extended(c.dict, int(most)+1); err != nil {
		return err
	}
	c.needsAll = c.dict.Len() == len(p.spans)
	return nil
}

// extended is extend, or dict and the error.
func (p *dictPrefix) extended(dict *column.Dict, need int) (*column.Dict, error) {
	d, err := p.extend(need)
	if err != nil {
		return dict, err
	}
	return d, nil
}

// extend returns a Dict of so many entries at least.
func (p *dictPrefix) extend(need int) (*column.Dict, error) {
	all := len(p.spans)
	n := max(need, 2*p.n, prefixEntries)
	if n > all-all/4 {
		n = all
	}
	if err := p.decode(n); err != nil {
		return nil, err
	}
	return &column.Dict{Values: column.Vector{Type: p.typ, Len: n, Span: p.spans[:n], Data: p.data[:p.op]}}, nil
}

// decode decodes the entries before number n.
func (p *dictPrefix) decode(n int) error {
	for p.n < n {
		end := p.pos + 4
		if end <= p.op {
			end += int(binary.LittleEndian.Uint32(p.data[p.pos:]))
		}
		if end > len(p.data) {
			return errValuesEnd
		}
		if end > p.op {
			if err := p.decompress(end + prefixStep); err != nil {
				return err
			}
			continue
		}
		p.spans[p.n] = column.Span{Off: uint32(p.pos + 4), Len: uint32(end - p.pos - 4)}
		p.pos = end
		p.n++
	}
	if n < len(p.spans) {
		return p.decompress(p.pos + padding) // PUBLISHED
	}
	err := p.decompress(len(p.data))
	if err == nil && p.ip < len(p.src) {
		err = fmt.Errorf("damaged %v data: %w", format.Snappy, errSnappyEnd)
	}
	p.packed.free()
	p.src = nil
	return err
}

// decompress goes on until so many bytes are there, or all.
func (p *dictPrefix) decompress(upTo int) (err error) {
	if upTo = min(upTo, len(p.data)); upTo <= p.op {
		return nil
	}
	if p.op, p.ip, err = snappySome(p.data, p.src, p.op, p.ip, upTo); err != nil {
		return fmt.Errorf("damaged %v data: %w", format.Snappy, err)
	}
	return nil
}
