package extsort

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/sortkey"
)

// This file tells which rows a sorter has no use for before anybody makes them.

// Drops reports whether not all rows are wanted.
func (s *Sorter) Drops() bool { return s.cfg.Keep >= 0 }

// Wanted appends to sel the rows that may be among those wanted, by the columns that they are
// sorted by. For each row that it leaves out at least as many as are wanted have been added that
// come before it. Rows are given to Wanted and to Add in order of their places.
func (s *Sorter) Wanted(order []column.Vector, rows int, sel []int32) []int32 {
	if s.cfg.Keep == 0 {
		return sel
	}
	if s.bound == nil {
		return appendAll(sel, rows)
	}
	in := &s.in
	in.order = in.order[:0]
	for i := range order {
		in.order = append(in.order, column.Flatten(&order[i], &in.bufs[i]))
	}
	from := len(sel)
	sel, decided := s.wantedByFirst(rows, sel)
	if !decided {
		sel = s.wantedByAll(sel, from)
	}
	return sel
}

// wantedByFirst appends the rows whose first term does not lie beyond that of the bound. decided:
// it is the only term, so rows with the same value are left out too, since their places are
// later.
func (s *Sorter) wantedByFirst(rows int, sel []int32) (_ []int32, decided bool) {
	t, v := s.in.terms[0], &s.in.order[0]
	_, value := t.marks()
	words, from := keyWords(v), len(sel)
	if words == 0 || s.bound[0] != value {
		return appendAll(sel, rows), false
	}
	only := len(s.in.terms) == 1
	bound, flip := [4]uint64{}, uint64(0)
	for k := range words {
		bound[k] = binary.BigEndian.Uint64(s.bound[1+8*k:])
	}
	if t.Desc {
		flip = ^uint64(0)
	}
	switch v.Type.Rep() {
	case column.RepFloat64:
		for i, x := range v.Float[:rows] {
			if key := sortkey.Float(x) ^ flip; key < bound[0] || key == bound[0] && !only {
				sel = append(sel, int32(i))
			}
		}
	case column.RepWide:
		for i := range rows {
			if c := compareWide(&v.Wide[i], flip, &bound); c < 0 || c == 0 && !only {
				sel = append(sel, int32(i))
			}
		}
	default:
		sign := sortkey.SignOf(v.Type) ^ flip
		for i, x := range v.Int[:rows] {
			if key := uint64(x) ^ sign; key < bound[0] || key == bound[0] && !only {
				sel = append(sel, int32(i))
			}
		}
	}
	if v.Null != nil {
		sel = withNulls(sel, from, v.Null[:rows], t.NullsFirst)
	}
	return sel, only
}

// withNulls drops the rows that are NULL from sel, from from on, or puts all of them in.
func withNulls(sel []int32, from int, null []bool, in bool) []int32 {
	if !in {
		left := slices.DeleteFunc(sel[from:], func(i int32) bool { return null[i] })
		return sel[:from+len(left)]
	}
	values := slices.Clone(sel[from:])
	sel = sel[:from]
	for i, is := range null {
		value := len(values) > 0 && values[0] == int32(i)
		if value {
			values = values[1:]
		}
		if is || value {
			sel = append(sel, int32(i))
		}
	}
	return sel
}

// Bound tells which rows, not yet made, Wanted may keep: with x as the first term, a decimal as
// an integer of 64 bits, those for which x^flip is less than word, or equal to it if equal is
// set. ok is true if the first term is an integer or a decimal, and there is a bound that is not
// NULL and fits 64 bits.
func (s *Sorter) Bound() (word, flip uint64, equal, ok bool) {
	t := s.in.terms[0]
	_, value := t.marks()
	wide := t.Type.Rep() == column.RepWide
	if t.Type.Rep() != column.RepInt64 && !wide || t.Type.Kind == column.Null || s.bound == nil || s.bound[0] != value {
		return 0, 0, false, false
	}
	if flip = sortkey.SignOf(t.Type); wide {
		flip = sortkey.SignBit
	}
	if t.Desc {
		flip = ^flip
	}
	equal = len(s.in.terms) > 1
	if !wide {
		return binary.BigEndian.Uint64(s.bound[1:]), flip, equal, true
	}
	// with the sign of the lowest word of 64 bits not yet flipped
	low := binary.BigEndian.Uint64(s.bound[1+3*8:])
	upper := uint64(int64(low) >> 63)
	for k := range 3 {
		want := upper
		if k == 0 {
			want ^= sortkey.SignBit
		}
		if binary.BigEndian.Uint64(s.bound[1+8*k:]) != want {
			return 0, 0, false, false
		}
	}
	return low ^ sortkey.SignBit, flip, equal, true
}

// keyWords is how many words of 64 bits the key of each value of v has; 0: keys are no words, or
// not all of one length.
func keyWords(v *column.Vector) int {
	if v.Type.IsNested() || v.Type.Kind == column.Null {
		return 0
	}
	switch v.Type.Rep() {
	case column.RepInt64, column.RepFloat64:
		return 1
	case column.RepWide:
		return 4
	}
	return 0
}

// appendAll appends all of so many rows.
func appendAll(sel []int32, rows int) []int32 {
	for i := range rows {
		sel = append(sel, int32(i))
	}
	return sel
}

// compareWide compares the key of x with a bound. All bits of the key are flipped if the order is
// descending.
func compareWide(x *decimal256.Num, flip uint64, bound *[4]uint64) int {
	w := x.Array()
	if c := cmp.Compare(w[3]^sortkey.SignBit^flip, bound[0]); c != 0 {
		return c
	}
	for k := 1; k < 4; k++ {
		if c := cmp.Compare(w[3-k]^flip, bound[k]); c != 0 {
			return c
		}
	}
	return 0
}

// wantedByAll keeps those rows of sel[from:] whose keys, without the place, come before the
// bound.
func (s *Sorter) wantedByAll(sel []int32, from int) []int32 {
	in := &s.in
	k := from
	for _, i := range sel[from:] {
		size := []int{0}
		for t := range in.terms {
			one := in.order[t].Slice(int(i), int(i)+1)
			in.terms[t].addSizes(&one, size)
		}
		s.key = append(s.key[:0], make([]byte, size[0])...)
		ends := []int{0}
		for t := range in.terms {
			in.terms[t].put(&in.order[t], int(i), []row{s.key}, ends)
		}
		if bytes.Compare(s.key, s.bound[:len(s.bound)-placeSize]) < 0 {
			sel[k] = i
			k++
		}
	}
	return sel[:k]
}
