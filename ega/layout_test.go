package ega_test

import (
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
)

// A state word that no operation combines, or that two do, is found before a kernel runs.
func TestLayoutValidate(t *testing.T) {
	low, mid, high := combine.AddLow, combine.AddMid, combine.AddHigh
	least, least2, least3 := combine.Least, combine.LeastMid, combine.LeastLast
	for _, c := range []struct {
		ops   []combine.Op
		mates []int
		valid bool
	}{
		{[]combine.Op{combine.Add, combine.Xor}, nil, true},
		{[]combine.Op{low, high}, []int{1}, true},
		{[]combine.Op{high, low}, []int{0, 0}, true},
		{[]combine.Op{low, mid, mid, high}, []int{1, 2, 3}, true},
		// the mate of an AddMid is behind it
		{[]combine.Op{combine.AddLowInt, high, mid}, []int{2, 0, 1}, false},
		{[]combine.Op{low, high}, nil, false},
		{[]combine.Op{low, high}, []int{2}, false},
		{[]combine.Op{low, combine.SumError}, []int{1}, false},
		{[]combine.Op{combine.Sum, high}, []int{1}, false},
		{[]combine.Op{combine.Sum, mid, high}, []int{1, 2}, false},
		{[]combine.Op{low, low, high}, []int{2, 2}, false},
		{[]combine.Op{low, mid, high}, []int{2, 2}, false},
		{[]combine.Op{low, mid}, []int{1, 1}, false},
		{[]combine.Op{mid, mid}, []int{1, 0}, false},
		{[]combine.Op{mid, high}, []int{1}, false}, // no lowest word
		{[]combine.Op{high}, nil, false},
		{[]combine.Op{combine.SumFine, combine.SumError}, []int{1}, true},
		{[]combine.Op{least, least2, least3, least3}, []int{1, 2, 3}, false},
		{[]combine.Op{least, least2, least2, least3}, []int{1, 2, 3}, true},
		{[]combine.Op{least, least3, least, least3}, []int{1, 0, 3}, true},
		{[]combine.Op{least3, least}, []int{0, 0}, true},
		// the mate of a LeastMid is behind it
		{[]combine.Op{least, least3, least2}, []int{2, 0, 1}, false},
		{[]combine.Op{least, least2}, []int{1, 1}, false},
		{[]combine.Op{least, high}, []int{1}, false},
		{[]combine.Op{least}, nil, false},
		{[]combine.Op{least3}, nil, false},
		{[]combine.Op{least3 + 1}, nil, false},
		{make([]combine.Op, combine.MaxWords+1), nil, false},
	} {
		l := ega.Layout{KeyWords: 1, Ops: c.ops, Mates: c.mates}
		if err := l.Validate(); (err == nil) != c.valid {
			t.Errorf("%v, mates %v: %v", c.ops, c.mates, err)
		}
	}
}
