package query

import (
	"fmt"
	"math"
)

// Sample is a part of the rows of the input, chosen at random by a seed.
type Sample struct {
	Percent float64 // of the rows; 0: all of them
	Groups  bool    // whole row groups are chosen, and the others not read
	Seed    uint64
}

// OfRows reports whether rows are chosen one by one.
func (s Sample) OfRows() bool { return s.Percent > 0 && s.Percent < 100 && !s.Groups }

// OfGroups reports whether row groups are chosen.
func (s Sample) OfGroups() bool { return s.Percent > 0 && s.Percent < 100 && s.Groups }

// Takes reports whether the row of a number in the input, or the row group that begins with it, is
// in the sample.
func (s Sample) Takes(row int64) bool { return s.hash(row) < s.below() }

// Rows appends those of n rows from number first on that are in the sample, counted from there.
func (s Sample) Rows(first int64, n int, rows []int32) []int32 {
	below := s.below()
	for i := range n {
		if s.hash(first+int64(i)) < below {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// below is the hash from which on a row is not in the sample.
func (s Sample) below() uint64 { return uint64(math.Ldexp(s.Percent/100, 64)) }

// hash is splitmix64 of the number of a row, from where the seed leads: what it gives of numbers
// that follow one another passes the tests for random numbers.
func (s Sample) hash(row int64) uint64 {
	return mix(mix(s.Seed+golden) + uint64(row)*golden)
}

const golden = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// validate reports a share that there is not.
func (s Sample) validate() error {
	if !(s.Percent >= 0 && s.Percent <= 100) {
		return usagef("sample: %v %%: want more than 0 and up to 100", s.Percent)
	}
	return nil
}

// String says what is chosen; "": everything.
func (s Sample) String() string {
	switch {
	case s.OfRows():
		return fmt.Sprintf("%v %% of the rows, seed %d", s.Percent, s.Seed)
	case s.OfGroups():
		return fmt.Sprintf("%v %% of the row groups, seed %d", s.Percent, s.Seed)
	}
	return ""
}
