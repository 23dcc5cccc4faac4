package parquetio

import (
	"hash/maphash"

	"github.com/gagg-dev/gagg/internal/column"
)

// repeatSample is how many entries of a dictionary are compared, about: a share of them is right to
// a few hundredths.
const repeatSample = 2 << 10

// DictRepeats estimates how much the dictionaries of column i of Columns, strings, have in
// common. share is the part of the entries of one row group's dictionary that are in that of
// another far from it, from 0 to 1; 1 if there is one dictionary. Both are decoded. ok is false
// if it cannot be told.
func (s *Scan) DictRepeats(i int) (share float64, ok bool) {
	last := len(s.groups) / 2
	if last == 0 {
		return 1, true
	}
	seed := maphash.MakeSeed()
	few := uint64(max(1, s.DictEntries(i)/repeatSample))
	seen := map[uint64]bool{}
	if !s.eachEntry(i, 0, func(b []byte) {
		if h := maphash.Bytes(seed, b); h%few == 0 {
			seen[h] = true
		}
	}) {
		return 0, false
	}
	all, again := 0, 0
	if !s.eachEntry(i, last, func(b []byte) {
		if h := maphash.Bytes(seed, b); h%few == 0 {
			all++
			if seen[h] {
				again++
			}
		}
	}) {
		return 0, false
	}
	return float64(again) / float64(max(all, 1)), all > 0
}

// eachEntry calls do with the entries of the dictionary of column i in a row group; false: there
// is none.
func (s *Scan) eachEntry(i, group int, do func([]byte)) bool {
	f := s.d.files[s.fileOf[group]]
	leaf := s.leaves[f.layout][i]
	if leaf < 0 || s.types[i].Rep() != column.RepBytes {
		return false
	}
	work := newWorkspace(s.d.opt.Budget, minLane)
	defer work.close()
	c, err := newColumnReader(f.file, leaf, s.types[i], work)
	if err != nil { // reading the unit will tell what is wrong
		return false
	}
	defer c.close()
	if c.open(s.groups[group].Group) != nil || c.dict == nil {
		return false
	}
	for e := range c.dict.Len() {
		do(c.dict.Values.Bytes(e))
	}
	return true
}
