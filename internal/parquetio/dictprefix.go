package parquetio

import (
	"encoding/binary"
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/format"
)

// This file decodes large dictionaries, of texts and of integers of 64 bits, only as far as rows
// refer to them, in chunks of which a filter leaves few rows. Entries are about in the order in
// which they first appear, so the first rows of a row group need the first entries of its
// dictionary:
//
//	entries  |......|......|............|                         |
//	          first  again, twice as many      never decompressed
//
// Each step makes a new Dict, which shares the memory of those before. Callers cache results by
// Dict and compute them anew for each. So a reader whose rows have needed a whole dictionary
// decodes the next ones in one step.
//
// PUBLISHED: the entries of a Dict, and the padding bytes behind each, are not written again:
// other readers may be reading them.

const (
	// A dictionary of leastPrefix bytes or more is decoded in parts. The first part has
	// prefixEntries texts, or prefixInts integers.
	leastPrefix   = 512 << 10
	prefixEntries = 4 << 10
	prefixInts    = 32 << 10
)

// dictPrefix is a dictionary of which a part was decoded.
type dictPrefix struct {
	snappyPage
	typ     column.Type
	spans   []column.Span // nil: entries are integers, as they lie in data
	pos, n  int           // where the next entry begins, and its number
	entries int           // of the whole dictionary
}

// prefixes reports whether a dictionary page of size bytes is decoded in parts.
func (c *columnReader) prefixes(size int) bool {
	if !c.sparse || c.needsAll || size < leastPrefix || !c.places(size) || !keepsPage(c.leaf, c.want) {
		return false
	}
	return c.leaf.physical == format.ByteArray || c.leaf.physical == format.Int64
}

// startPrefix decodes a first part of a dictionary page of n entries and size bytes.
func (c *columnReader) startPrefix(header, n, size int) error {
	page, err := c.placePage(header, size)
	if err != nil {
		return err
	}
	p := &dictPrefix{snappyPage: page, typ: c.want, entries: n}
	if c.want.Rep() == column.RepBytes {
		values, err := c.dictMem.values.room(n*int(elementBytes(c.want)), "a dictionary")
		if err != nil {
			return err
		}
		p.spans = cast[column.Span](values)
	}
	c.prefix = p
	c.dict, err = p.extend(1)
	return err
}

// extendDictionary makes sure of the entries that codes name.
func (c *columnReader) extendDictionary(codes []int32) (err error) {
	most := uint32(0)
	for _, code := range codes {
		most = max(most, uint32(code))
	}
	p := c.prefix
	if p == nil || int64(most) >= int64(p.entries) {
		n := c.dict.Len()
		if p != nil {
			n = p.entries
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
	c.needsAll = c.dict.Len() == p.entries
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

// extend returns a Dict of at least that many entries.
func (p *dictPrefix) extend(need int) (*column.Dict, error) {
	n := max(need, 2*p.n, prefixEntries)
	if p.spans == nil {
		n = max(n, prefixInts)
	}
	if n > p.entries-p.entries/4 {
		n = p.entries
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
			if err := p.decompress(end + placeStep); err != nil {
				return err
			}
			continue
		}
		p.spans[p.n] = column.Span{Off: uint32(p.pos + 4), Len: uint32(end - p.pos - 4)}
		p.pos = end
		p.n++
	}
	if n < p.entries {
		return p.decompress(p.pos + padding) // PUBLISHED
	}
	return p.all()
}
