package ega_test

import (
	"testing"

	"github.com/gagg-dev/gagg/ega"
)

// A word that nobody combines, or two would, is found before a kernel runs.
func TestLayoutValidate(t *testing.T) {
	low, mid, high := ega.AddLow, ega.AddMid, ega.AddHigh
	least, least2, least3 := ega.Least, ega.LeastMid, ega.LeastLast
	for _, c := range []struct {
		ops   []ega.Op
		mates []int
		valid bool
	}{
		{[]ega.Op{ega.Add, ega.Xor}, nil, true},
		{[]ega.Op{low, high}, []int{1}, true},
		{[]ega.Op{high, low}, []int{0, 0}, true},
		{[]ega.Op{low, mid, mid, high}, []int{1, 2, 3}, true},
		// the mate of an AddMid is behind it
		{[]ega.Op{ega.AddLowInt, high, mid}, []int{2, 0, 1}, false},
		{[]ega.Op{low, high}, nil, false},
		{[]ega.Op{low, high}, []int{2}, false},
		{[]ega.Op{low, ega.SumError}, []int{1}, false},
		{[]ega.Op{ega.Sum, high}, []int{1}, false},
		{[]ega.Op{ega.Sum, mid, high}, []int{1, 2}, false},
		{[]ega.Op{low, low, high}, []int{2, 2}, false},
		{[]ega.Op{low, mid, high}, []int{2, 2}, false},
		{[]ega.Op{low, mid}, []int{1, 1}, false},
		{[]ega.Op{mid, mid}, []int{1, 0}, false},
		{[]ega.Op{mid, high}, []int{1}, false}, // no lowest word
		{[]ega.Op{high}, nil, false},
		{[]ega.Op{ega.SumFine, ega.SumError}, []int{1}, true},
		{[]ega.Op{least, least2, least3, least3}, []int{1, 2, 3}, false},
		{[]ega.Op{least, least2, least2, least3}, []int{1, 2, 3}, true},
		{[]ega.Op{least, least3, least, least3}, []int{1, 0, 3}, true},
		{[]ega.Op{least3, least}, []int{0, 0}, true},
		// the mate of a LeastMid is behind it
		{[]ega.Op{least, least3, least2}, []int{2, 0, 1}, false},
		{[]ega.Op{least, least2}, []int{1, 1}, false},
		{[]ega.Op{least, high}, []int{1}, false},
		{[]ega.Op{least}, nil, false},
		{[]ega.Op{least3}, nil, false},
		{[]ega.Op{least3 + 1}, nil, false},
		{make([]ega.Op, ega.MaxStateWords+1), nil, false},
	} {
		l := ega.Layout{KeyWords: 1, Ops: c.ops, Mates: c.mates}
		if err := l.Validate(); (err == nil) != c.valid {
			t.Errorf("%v, mates %v: %v", c.ops, c.mates, err)
		}
	}
}
