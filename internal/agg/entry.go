package agg

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// fillOne is fill for entries of any number of words.
func (c *chain) fillOne(t *Table, v *view, x *column.Vector) []uint64 {
	if c.words == 1 {
		return asWords(c.values(&t.scratch, x)[:v.rows])
	}
	return c.fill(t, v, x)
}

// fill makes the entries of a batch, side by side.
func (c *chain) fill(t *Table, v *view, x *column.Vector) []uint64 {
	out := grow(t.scratch.entries, v.rows*c.words)
	t.scratch.entries = out
	if c.count != none {
		for i := range v.rows {
			out[i*c.words+c.count] = v.countOf(i)
		}
	}
	if c.pos != none {
		for i, p := range v.pos[:v.rows] {
			out[i*c.words+c.pos] = uint64(p)
		}
	}
	if c.rep == column.RepWide {
		for i := range v.rows {
			storeWide(out[i*c.words+c.value:], x.Wide[i])
			if c.keep == keepGreatest {
				invert(out[i*c.words+c.value:][:4])
			}
		}
		return out
	}
	for i, w := range c.values(&t.scratch, x) {
		out[i*c.words+c.value] = uint64(w)
	}
	return out
}

// values returns the value words of x, which are not 4 words or strings: what
// sorts as the chain does, or the bits as they are where that is by position.
func (c *chain) values(b *scratch, x *column.Vector) []int64 {
	switch {
	case c.keep == keepHashes:
		return b.hashesOf(x)
	case c.keep == keepGreatest:
		keys := b.keysOf(x)
		b.keys = grow(b.keys, len(keys))
		for i, key := range keys {
			b.keys[i] = ^key
		}
		return b.keys
	case c.keep != keepOrder:
		return b.keysOf(x)
	case c.rep == column.RepFloat64:
		b.keys = grow(b.keys, x.Len)
		for i, f := range x.Float[:x.Len] {
			b.keys[i] = int64(math.Float64bits(f))
		}
		return b.keys
	}
	return x.Int[:x.Len]
}

// invert turns the order of wide numbers round.
func invert(w []uint64) {
	for i := range w {
		w[i] = ^w[i]
	}
}
