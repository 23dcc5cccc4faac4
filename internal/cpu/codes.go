package cpu

import (
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// codes finds groups by small numbers alone: where every key is either coded
// by a small dictionary or an integer from a small range, the tuple of the
// keys' numbers is an index into an array of groups. A row costs one load
// then, and neither a hash nor a comparison.
//
// The number of a value is
//
//	in a key coded by a dictionary, alone:        its code; one more is NULL
//	in a key coded by a dictionary, among others: in order of appearance,
//	                                              from 1 on; 0 is NULL
//	in a key of integers:                         its distance from the least
//
// Codes hold for one dictionary, that is one row group, after which the array
// starts empty again; that costs as many look-ups as there are groups, which
// are few for one key. With several keys they are many more than entries, so
// there the entries are numbered for good. Ranges are learnt from the rows
// themselves, not from statistics.
//
// The array is filled through the table and never holds anything of its own:
// it may be dropped at any time. Keys that turn out to have too many values
// are given up for good. A large array is made when as many rows have come as make up
// for clearing it: behind a filter they may be few.
type codes struct {
	keys   []codedKey
	groups []uint32 // by tuple; noGroup: not looked up yet
	tuple  []uint32 // scratch: tuple of each row
	wide   bool     // given up
	rows   int      // that came
	// groups does not fit the keys: too few rows have come for an array of their tuples
	stale bool
}

// codedKey is how one key is numbered.
type codedKey struct {
	size int    // numbers in use, that of NULL included
	step uint32 // what one more makes in the tuple

	dict    *column.Dict            // nil: a range
	numbers map[column.Value]uint32 // nil: codes are the numbers
	number  []uint32                // by code
	part    []uint32                // by code: number times step

	lo int64 // of a range
}

const (
	// maxCodes bounds the entries of a dictionary: 256 KiB of array are
	// filled anew for each row group in 10 µs.
	maxCodes = 64 << 10
	// maxNumbered bounds the entries of a dictionary that are numbered for
	// good, since each is looked up in a map for each row group.
	maxNumbered = 4 << 10
	// maxTuples bounds the array: 4 MiB are still fewer than the table's
	// directory for as many groups.
	maxTuples = 1 << 20
	// leastTuples is how many an array may have before any row has come, and tuplesEach how many
	// more for each row: a page of them takes as long to clear as some hundred look-ups by hash
	// save, and has 256 rows at least.
	leastTuples = maxCodes
	tuplesEach  = 4
)

// prepare reports whether the keys can be found by code, and makes ready for
// their dictionaries and ranges.
func (c *codes) prepare(keys []column.Vector) bool {
	if c.wide {
		return false
	}
	for i := range keys {
		if !codable(&keys[i], len(keys) == 1) {
			return false
		}
	}
	c.rows += keys[0].Len
	if len(c.keys) != len(keys) {
		c.keys, c.stale = make([]codedKey, len(keys)), true
	}
	if c.stale && !c.worth(entries(keys)) { // before they are numbered
		return false
	}
	anew := c.stale // the tuples change their meaning
	moved := false  // a dictionary is another one
	for i := range keys {
		a, m := c.keys[i].adapt(&keys[i], len(keys) == 1)
		anew, moved = anew || a, moved || m
	}
	if anew && !c.clear() {
		return false
	}
	if anew || moved {
		for i := range c.keys {
			c.keys[i].scale()
		}
	}
	return true
}

// codable reports whether the numbers of v can be few.
func codable(v *column.Vector, alone bool) bool {
	switch {
	case v.Dict != nil && alone:
		return v.Dict.Len() < maxCodes
	case v.Dict != nil:
		return v.Dict.Len() <= maxNumbered
	}
	return v.Null == nil && v.Type.Rep() == column.RepInt64 && v.Type.Kind != column.Null
}

// adapt makes k number the values of v. It reports whether numbers change
// their meaning (or their count), and whether the dictionary is another one.
func (k *codedKey) adapt(v *column.Vector, alone bool) (anew, moved bool) {
	switch {
	case v.Dict == nil:
		return k.widen(v.Int[:v.Len]), false
	case v.Dict == k.dict:
		return false, false
	case alone:
		*k = codedKey{dict: v.Dict, size: v.Dict.Len() + 1}
		return true, false
	}
	if k.numbers == nil {
		*k = codedKey{numbers: map[column.Value]uint32{}}
	}
	k.dict = v.Dict
	k.number = sized(k.number, v.Dict.Len())
	for code := range k.number {
		value := v.Dict.Values.At(code)
		n, ok := k.numbers[value]
		if !ok {
			n = uint32(len(k.numbers)) + 1
			k.numbers[value] = n
		}
		k.number[code] = n
	}
	if used := len(k.numbers) + 1; used > k.size {
		k.size = used + used/4 // so that few row groups make it grow
		return true, true
	}
	return false, true
}

// widen makes the range hold the values, which are at least one.
func (k *codedKey) widen(vals []int64) (anew bool) {
	lo, hi := vals[0], vals[0]
	for _, x := range vals {
		lo, hi = min(lo, x), max(hi, x)
	}
	if k.size > 0 && k.dict == nil {
		if lo >= k.lo && uint64(hi)-uint64(k.lo) < uint64(k.size) {
			return false
		}
		lo, hi = min(lo, k.lo), max(hi, k.lo+int64(k.size)-1)
	}
	span := uint64(hi) - uint64(lo)
	if span >= maxTuples {
		*k = codedKey{size: maxTuples + 1}
		return true
	}
	// The next power of two, so that few batches widen it, with room at both ends.
	size := 1 << bits.Len64(span)
	if room := int64(size-int(span)-1) / 2; lo >= math.MinInt64+room {
		lo -= room
	}
	*k = codedKey{lo: lo, size: size}
	return true
}

// clear makes an empty array for the keys; false: there are too many tuples, for good or so far.
func (c *codes) clear() bool {
	tuples := 1
	for i := len(c.keys) - 1; i >= 0; i-- {
		c.keys[i].step = uint32(tuples)
		if c.wide = c.keys[i].size > maxTuples; c.wide {
			return false
		}
		tuples *= c.keys[i].size
		if c.wide = tuples > maxTuples; c.wide {
			return false
		}
	}
	if c.stale = !c.worth(tuples); c.stale {
		return false
	}
	c.groups = sized(c.groups, tuples)
	for i := range c.groups {
		c.groups[i] = noGroup
	}
	return true
}

// worth reports whether enough rows have come for an array of that many tuples to pay.
func (c *codes) worth(tuples int) bool { return tuples <= max(leastTuples, tuplesEach*c.rows) }

// entries is how many tuples the dictionaries of keys make, of those that have one.
func entries(keys []column.Vector) int {
	n := 1
	for i := range keys {
		if d := keys[i].Dict; d != nil && n <= maxTuples {
			n *= max(d.Len(), 1)
		}
	}
	return n
}

// scale computes what the codes make in the tuple.
func (k *codedKey) scale() {
	k.part = sized(k.part, len(k.number))
	for i, n := range k.number {
		k.part[i] = n * k.step
	}
}

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
		first, second := c.keys[0].part, c.keys[1].part
		a, b := keys[0].Codes[:n], keys[1].Codes[:n]
		for i := range c.tuple {
			c.tuple[i] = first[a[i]] + second[b[i]]
		}
		return
	}
	clear(c.tuple)
	for k := range keys {
		c.keys[k].add(&keys[k], c.tuple)
	}
}

// add adds the number of each row of v to its tuple.
func (k *codedKey) add(v *column.Vector, tuple []uint32) {
	switch {
	case v.Dict == nil:
		for i, x := range v.Int[:len(tuple)] {
			tuple[i] += uint32(x-k.lo) * k.step
		}
	case k.numbers == nil: // a key alone, with NULLs
		for i, x := range v.Codes[:len(tuple)] {
			if v.IsNull(i) {
				x = int32(k.size - 1)
			}
			tuple[i] = uint32(x)
		}
	default:
		for i, x := range v.Codes[:len(tuple)] {
			if !v.IsNull(i) {
				tuple[i] += k.part[x]
			}
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
