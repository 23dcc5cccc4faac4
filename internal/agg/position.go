package agg

import "math"

// first, last and any_value keep the place of their row, 2*position + 1 if the
// value there is NULL, and the value. Places are compared as signed numbers.
//
// A batch runs in two steps: one loop finds the rows that win against the
// state, which are few; then only the values of these are stored.

const (
	neverFirst = math.MaxInt64  // place of first before its first row
	neverLast  = math.MaxUint64 // place of last before its first row: -1
)

// place is the place of row i of v for a slot with argument x.
func place(v *view, null []bool, i int) uint64 {
	p := uint64(v.pos[i]) << 1
	if null != nil && null[i] {
		p |= 1
	}
	return p
}

// updatePlace serves opFirst, opAny and opLast. NULLs of opAny are not in v.
func updatePlace(t *Table, s *slot, v *view) {
	x := &v.args[s.x]
	null := x.Null
	if s.set != allRows {
		null = nil
	}
	words := t.Rows[s.hot:]
	wins := t.scratch.wins[:0]
	for i, g := range v.gids {
		w := &words[int(g)*t.Stride]
		if p := place(v, null, i); earlier(p, *w, s.op == opLast) {
			*w = p
			wins = append(wins, int32(i))
		}
	}
	t.scratch.wins = wins
	storeValues(t, words, s.cold-s.hot, v, x, null)
}

// earlier reports whether place p comes before place q, or after it if last.
func earlier(p, q uint64, last bool) bool {
	if last {
		return int64(p) > int64(q)
	}
	return int64(p) < int64(q)
}

// place writes the results of first, last and any_value.
func (f *finisher) place() error {
	s := f.slot(0)
	never := uint64(neverFirst)
	if s.op == opLast {
		never = neverLast
	}
	for i, row := range f.rows {
		if err := f.setValue(i, row[s.cold:]); err != nil {
			return err
		}
		if p := row[s.hot]; p == never || s.op != opAny && p&1 != 0 {
			f.setNull(i)
		}
	}
	return nil
}
