package cpu

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// recentCodes finds the groups of a table that is kept in the cache by the codes of a key that is
// alone. A row costs one load, and neither a hash nor a comparison. A code that was not met since
// the table was emptied is a new group: keys are made of these alone.
//
// RECENT-CODE: an entry counts if it lies between the first group of the dictionary and the last
// one of the table. Groups are numbered on when the table is emptied and when another dictionary
// comes, so that the entries are never cleared.
type recentCodes struct {
	dict   *column.Dict
	groups []uint32 // by code: the group's number
	// the number of the first group since dict came, or the table was emptied after that
	first uint32
	at    uint32  // that group's place in the table
	fresh []int32 // scratch: rows of new groups
}

const (
	// mostRecentCodes is how many entries a dictionary may have: their numbers, of 4 bytes, stay in
	// a second-level cache of 2 MiB, about.
	mostRecentCodes = 512 << 10
	// lastNumber is from which number on groups are numbered from 1 again.
	lastNumber = math.MaxInt32
)

// prepare reports whether groups can be found by the codes of these keys, and makes ready for their
// dictionary. The table has n groups.
func (c *recentCodes) prepare(keys []column.Vector, n uint32) bool {
	if len(keys) != 1 || keys[0].Dict == nil || keys[0].Null != nil || keys[0].Dict.Len() > mostRecentCodes {
		return false
	}
	if dict := keys[0].Dict; c.dict != dict {
		c.begin(n)
		c.dict = dict
		if len(c.groups) < dict.Len() {
			c.groups, c.first = make([]uint32, dict.Len()), 1 // zeros are before the first
		}
	}
	return true
}

// begin has no entry count any more. The table has n groups, or had them until it was emptied;
// those that come are from number at on.
func (c *recentCodes) begin(n uint32) {
	if c.first += n - c.at; c.first > lastNumber {
		clear(c.groups)
		c.first = 1
	}
	c.at = n
}

// emptied tells that the table is emptied, which had n groups.
func (c *recentCodes) emptied(n uint32) {
	c.begin(n)
	c.at = 0
}

// find sets groups to the groups of rows with these codes, in a table of n groups, and returns the
// rows of the groups that are to be made, in order: they are numbered from n on.
func (c *recentCodes) find(codes []int32, groups []uint32, n uint32) []int32 {
	c.fresh = sized(c.fresh, len(codes))
	codes = codes[:len(groups)]
	byCode, fresh, first, at := c.groups, c.fresh[:len(groups)], c.first, c.at
	made, k := int64(n-at), 0
	for i, code := range codes {
		g := byCode[code] - first
		groups[i] = at + g
		fresh[k] = int32(i)
		k += int(uint64(made-1-int64(g)) >> 63)
	}
	missing := fresh[:k]
	k = 0
	for _, row := range missing {
		entry, last := &byCode[codes[row]], uint32(made)+uint32(k)
		if g := *entry - first; g < last { // by a row before
			groups[row] = at + g
			continue
		}
		*entry, groups[row] = first+last, at+last
		fresh[k] = row
		k++
	}
	return fresh[:k]
}

// findRecentCode sets groups from the codes of the one key that tells them apart, and makes those
// that have not come since the table was emptied. If memory is refused no group was made.
func (w *Worker) findRecentCode(telling []column.Vector) (firstNew uint32, err error) {
	t, c := w.table, &w.recentCodes
	firstNew = t.n
	fresh := c.find(telling[0].Codes, w.groups, t.n)
	if len(fresh) == 0 {
		return firstNew, nil
	}
	for i := range w.keys {
		w.missKeys[i] = column.Gather(&w.keys[i], fresh, &w.keyBuf[i])
	}
	if err := w.encode(w.missKeys, len(fresh)); err != nil {
		c.begin(t.n + uint32(len(fresh)))
		c.at = t.n
		return 0, err
	}
	t.appendAll(w.encoder)
	return firstNew, nil
}
