package extsort

import (
	"bytes"
	"encoding/binary"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file tells which rows a sorter has no use for before anybody makes them.

// Drops reports whether not all rows are wanted.
func (s *Sorter) Drops() bool { return s.cfg.Keep >= 0 }

// Wanted appends to sel those of the rows, given by the columns that they are sorted by, that may be
// among the rows wanted: of the rows added so far at least as many as are wanted come before
// each of the others. Rows are given to Wanted and to Add in order of their places.
func (s *Sorter) Wanted(order []column.Vector, rows int, sel []int32) []int32 {
	if s.cfg.Keep == 0 {
		return sel
	}
	if s.bound == nil {
		for i := range rows {
			sel = append(sel, int32(i))
		}
		return sel
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

// wantedByFirst appends the rows whose first term does not lie beyond that of the bound. decided: those with the same
// term, if it is the only one, are left out, since their places are later.
func (s *Sorter) wantedByFirst(rows int, sel []int32) (_ []int32, decided bool) {
	t, v := s.in.terms[0], &s.in.order[0]
	_, value := t.marks()
	rep := v.Type.Rep()
	if s.bound[0] != value || v.Null != nil || v.Type.IsNested() || rep != column.RepInt64 && rep != column.RepFloat64 || isNull(v, 0) {
		for i := range rows {
			sel = append(sel, int32(i))
		}
		return sel, false
	}
	bound, flip := binary.BigEndian.Uint64(s.bound[1:]), uint64(0)
	if t.Desc {
		flip = ^uint64(0)
	}
	decided = len(s.in.terms) == 1
	if decided {
		bound-- // a bound of 0 is one that no row comes before
		if bound == ^uint64(0) {
			return sel, true
		}
	}
	switch {
	case rep == column.RepFloat64:
		for i, x := range v.Float[:rows] {
			if floatKey(x)^flip <= bound {
				sel = append(sel, int32(i))
			}
		}
	default:
		sign := signOf(v)
		for i, x := range v.Int[:rows] {
			if uint64(x)^sign^flip <= bound {
				sel = append(sel, int32(i))
			}
		}
	}
	return sel, decided
}

// wantedByAll keeps of sel, from from on, the rows whose keys, but for the place, come before the bound.
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
