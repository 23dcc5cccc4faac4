package cpu

import (
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// codes finds groups by small numbers alone: where every key is either coded
// by a small dictionary or an integer from a small range, the tuple of codes
// (one more code standing for NULL) and of places in the ranges is an index
// into an array of groups. A row costs one load then, and neither a hash nor
// a comparison.
//
// The array starts empty for each new set of dictionaries and ranges and is
// filled through the table, so that it never holds anything of its own: it
// may be dropped at any time. Ranges are learnt from the rows themselves, not
// from statistics, and are given up for good once they are too wide.
type codes struct {
	keys   []codedKey
	groups []uint32 // by tuple; noGroup: not looked up yet
	tuple  []uint32 // scratch: tuple of each row
	wide   bool     // a range was too wide
}

// codedKey is how one key is numbered: by dict, or from lo on.
type codedKey struct {
	dict *column.Dict
	lo   int64
	size int // numbers in use, that of NULL included
}

const (
	// maxTuples bounds the array if dictionaries are in it, which change with
	// every row group: 256 KiB are filled anew in 10 µs.
	maxTuples = 64 << 10
	// maxRange bounds the array of ranges alone, which stays: 4 MiB are still
	// fewer than the table's directory for as many groups.
	maxRange = 1 << 20
)

// prepare reports whether the keys can be found by code, and makes ready for
// their dictionaries and ranges.
func (c *codes) prepare(keys []column.Vector) bool {
	limit := maxRange
	for i := range keys {
		switch v := &keys[i]; {
		case v.Dict != nil:
			limit = maxTuples
		case c.wide || v.Null != nil || v.Type.Rep() != column.RepInt64 || v.Type.Kind == column.Null:
			return false
		}
	}
	changed := len(c.keys) != len(keys)
	if changed {
		c.keys = make([]codedKey, len(keys))
	}
	tuples := 1
	for i := range keys {
		if c.keys[i].adapt(&keys[i]) {
			changed = true
		}
		if size := c.keys[i].size; size <= limit {
			tuples *= size
		} else {
			tuples = limit + 1
		}
		if tuples > limit {
			c.wide = c.wide || keys[i].Dict == nil
			c.forget()
			return false
		}
	}
	if changed {
		c.clear(tuples)
	}
	return true
}

// adapt makes k number the values of v; it reports whether it changed.
func (k *codedKey) adapt(v *column.Vector) bool {
	if v.Dict != nil {
		if k.dict == v.Dict {
			return false
		}
		*k = codedKey{dict: v.Dict, size: v.Dict.Len() + 1}
		return true
	}
	lo, hi := v.Int[0], v.Int[0]
	for _, x := range v.Int[:v.Len] {
		lo, hi = min(lo, x), max(hi, x)
	}
	if k.size > 0 {
		if lo >= k.lo && uint64(hi)-uint64(k.lo) < uint64(k.size) {
			return false
		}
		lo, hi = min(lo, k.lo), max(hi, k.lo+int64(k.size)-1)
	}
	span := uint64(hi) - uint64(lo)
	if span >= maxRange {
		k.size = maxRange + 1
		return true
	}
	// The next power of two, so that few batches widen it, with room at both ends.
	size := 1 << bits.Len64(span)
	*k = codedKey{lo: max(lo-int64(size-int(span)-1)/2, -1<<62), size: size}
	return true
}

func (c *codes) clear(tuples int) {
	if cap(c.groups) < tuples {
		c.groups = make([]uint32, tuples)
	}
	c.groups = c.groups[:tuples]
	for i := range c.groups {
		c.groups[i] = noGroup
	}
}

// forget makes the array empty.
func (c *codes) forget() { c.keys = c.keys[:0] }

// find sets groups[i] to the group of row i where its tuple has been seen,
// and appends the other rows to missing.
func (c *codes) find(keys []column.Vector, groups []uint32, missing []int32) []int32 {
	all := uint32(0) // or of all groups: of them only noGroup has the top bit
	if c.single(keys) {
		codes, byCode := keys[0].Codes[:len(groups)], c.groups
		for i, k := range codes {
			g := byCode[k]
			groups[i] = g
			all |= g
		}
	} else {
		c.index(keys, len(groups))
		byTuple := c.groups
		for i, t := range c.tuple[:len(groups)] {
			g := byTuple[t]
			groups[i] = g
			all |= g
		}
	}
	if all>>31 == 0 {
		return missing
	}
	for i, g := range groups {
		if g == noGroup {
			missing = append(missing, int32(i))
		}
	}
	return missing
}

// single reports that the codes of one key are the tuples.
func (c *codes) single(keys []column.Vector) bool {
	return len(keys) == 1 && keys[0].Dict != nil && keys[0].Null == nil
}

// index computes the tuple of each of n rows.
func (c *codes) index(keys []column.Vector, n int) {
	c.tuple = sized(c.tuple, n)
	if len(keys) == 2 && keys[0].Dict != nil && keys[1].Dict != nil && keys[0].Null == nil && keys[1].Null == nil {
		size := int32(c.keys[1].size)
		a, b := keys[0].Codes[:n], keys[1].Codes[:n]
		for i := range c.tuple {
			c.tuple[i] = uint32(a[i]*size + b[i])
		}
		return
	}
	clear(c.tuple)
	for k := range keys {
		c.keys[k].add(&keys[k], c.tuple)
	}
}

// add makes the number of each row of v the last of its tuple.
func (k *codedKey) add(v *column.Vector, tuple []uint32) {
	size := uint32(k.size)
	switch {
	case v.Dict == nil:
		vals := v.Int[:len(tuple)]
		for i, x := range vals {
			tuple[i] = tuple[i]*size + uint32(x-k.lo)
		}
	case v.Null == nil:
		vals := v.Codes[:len(tuple)]
		for i, x := range vals {
			tuple[i] = tuple[i]*size + uint32(x)
		}
	default:
		for i, x := range v.Codes[:len(tuple)] {
			if v.Null[i] {
				x = int32(k.size - 1)
			}
			tuple[i] = tuple[i]*size + uint32(x)
		}
	}
}

// learn records the groups of the rows that were missing.
func (c *codes) learn(keys []column.Vector, missing []int32, found, groups []uint32) {
	single := c.single(keys)
	for j, i := range missing {
		groups[i] = found[j]
		if single {
			c.groups[keys[0].Codes[i]] = found[j]
		} else {
			c.groups[c.tuple[i]] = found[j]
		}
	}
}
