package cpu

import "github.com/gagg-dev/gagg/internal/column"

// codes finds groups by dictionary codes alone: where all keys are coded and
// their dictionaries small, the tuple of codes, one more code standing for
// NULL, is an index into an array of groups. A row costs one load then, and
// neither a hash nor a comparison. The array starts empty for each new set of
// dictionaries and is filled through the table, so that it never holds
// anything of its own: it may be dropped at any time.
type codes struct {
	dicts  []*column.Dict
	groups []uint32 // by tuple of codes; noGroup: not looked up yet
	tuple  []uint32 // scratch: tuple of each row
}

// maxTuples bounds the array: 256 KiB stay in the second-level cache.
const maxTuples = 64 << 10

// prepare reports whether the keys can be found by code, and makes ready for
// their dictionaries.
func (c *codes) prepare(keys []column.Vector) bool {
	tuples, same := 1, len(c.dicts) == len(keys)
	for i := range keys {
		d := keys[i].Dict
		if d == nil {
			return false
		}
		if tuples *= d.Len() + 1; tuples > maxTuples {
			return false
		}
		same = same && c.dicts[i] == d
	}
	if same {
		return true
	}
	c.dicts = c.dicts[:0]
	for i := range keys {
		c.dicts = append(c.dicts, keys[i].Dict)
	}
	if cap(c.groups) < tuples {
		c.groups = make([]uint32, tuples)
	}
	c.groups = c.groups[:tuples]
	for i := range c.groups {
		c.groups[i] = noGroup
	}
	return true
}

// forget makes the array empty: the groups were renumbered.
func (c *codes) forget() { c.dicts = c.dicts[:0] }

// find sets groups[i] to the group of row i where its tuple has been seen,
// and appends the other rows to missing.
func (c *codes) find(keys []column.Vector, groups []uint32, missing []int32) []int32 {
	if len(keys) == 1 && keys[0].Null == nil {
		return c.findOne(keys[0].Codes, groups, missing)
	}
	c.index(keys, len(groups))
	for i, t := range c.tuple {
		g := c.groups[t]
		groups[i] = g
		if g == noGroup {
			missing = append(missing, int32(i))
		}
	}
	return missing
}

func (c *codes) findOne(keys []int32, groups []uint32, missing []int32) []int32 {
	keys = keys[:len(groups)]
	for i, k := range keys {
		g := c.groups[k]
		groups[i] = g
		if g == noGroup {
			missing = append(missing, int32(i))
		}
	}
	return missing
}

// index computes the tuple of each of n rows.
func (c *codes) index(keys []column.Vector, n int) {
	if cap(c.tuple) < n {
		c.tuple = make([]uint32, n)
	}
	c.tuple = c.tuple[:n]
	if len(keys) == 2 && keys[0].Null == nil && keys[1].Null == nil {
		size := int32(keys[1].Dict.Len() + 1)
		a, b := keys[0].Codes[:n], keys[1].Codes[:n]
		for i := range c.tuple {
			c.tuple[i] = uint32(a[i]*size + b[i])
		}
		return
	}
	clear(c.tuple)
	for k := range keys {
		null := int32(keys[k].Dict.Len())
		size := uint32(null) + 1
		for i, code := range keys[k].Codes[:n] {
			if keys[k].IsNull(i) {
				code = null
			}
			c.tuple[i] = c.tuple[i]*size + uint32(code)
		}
	}
}

// learn records the groups of the rows that were missing.
func (c *codes) learn(keys []column.Vector, missing []int32, found, groups []uint32) {
	one := len(keys) == 1 && keys[0].Null == nil
	for j, i := range missing {
		groups[i] = found[j]
		if one {
			c.groups[keys[0].Codes[i]] = found[j]
		} else {
			c.groups[c.tuple[i]] = found[j]
		}
	}
}
