package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file decodes large dictionaries, of texts and of integers of 64 bits, no further than rows refer to them, in chunks of which a filter leaves few rows.
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
	// first one has, prefixInts of integers.
	leastPrefix   = 512 << 10
	prefixEntries = 4 << 10
	prefixInts    = 32 << 10
	prefixStep    = 64 << 10 // bytes that are decompressed at a time
)

var errSnappyEnd = errors.New("more data than promised")

// dictPrefix is a dictionary of which a part was decoded.
type dictPrefix struct {
	typ    column.Type
	packed buffer        // the page as it lies in the file, until all is decoded
	src    []byte        // in packed
	data   []byte        // PAD; decompressed as far as op
	spans  []column.Span // nil: entries are integers, as they lie in data
	op, ip int           // where decompressing goes on
	pos, n int           // where the next entry begins, and its number
	all    int           // entries
}

// prefixes reports whether a dictionary page of size bytes is decoded in parts.
func (c *columnReader) prefixes(size int) bool {
	if !snappyResumes || !c.sparse || c.needsAll || c.id != format.Snappy || size < leastPrefix {
		return false
	}
	switch c.leaf.physical {
	case format.ByteArray:
		return c.want.Rep() == column.RepBytes
	case format.Int64:
		return c.want.Rep() == column.RepInt64 && c.decoder.rule.none()
	}
	return false
}

// startPrefix decodes a first part of a dictionary page of n entries and size bytes, which is all that the window holds. It keeps
// the memory of the window.
func (c *columnReader) startPrefix(body []byte, n, size int) (err error) {
	c.dictMem.data = recycled(c.spareDict.data, size+padding, c.dictSlack)
	_, ip := binary.Uvarint(body) // checked
	p := &dictPrefix{typ: c.want, src: body, data: c.dictMem.data[:size], ip: ip, all: n}
	if c.want.Rep() == column.RepBytes {
		c.dictMem.spans = recycled(c.spareDict.spans, n, c.dictSlack)
		p.spans = c.dictMem.spans[:n]
	}
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
	if p == nil || int64(most) >= int64(p.all) {
		n := c.dict.Len()
		if p != nil {
			n = p.all
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
	c.needsAll = c.dict.Len() == p.all
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
	n := max(need, 2*p.n, prefixEntries)
	if p.spans == nil {
		n = max(n, prefixInts)
	}
	if n > p.all-p.all/4 {
		n = p.all
	}
	if err := p.decode(n); err != nil {
		return nil, err
	}
	v := column.Vector{Type: p.typ, Len: n}
	if p.spans == nil {
		v.Int = cast[int64](p.data)[:n:n]
	} else {
		v.Span, v.Data = p.spans[:n], p.data[:p.op]
	}
	return &column.Dict{Values: v}, nil
}

// decode decodes the entries before number n.
func (p *dictPrefix) decode(n int) error {
	if p.spans == nil {
		p.n, p.pos = n, 8*n
	}
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
	if n < p.all {
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
