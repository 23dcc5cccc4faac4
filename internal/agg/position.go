package agg

import "math"

// first, which serves any_value too, and last keep the position of their row
// and the value. Positions are compared as signed numbers.
//
// A batch runs in two steps: one loop finds the rows that win against the
// state, which are few; then only the values of these are stored.

const (
	neverFirst = math.MaxInt64  // position of first before its first row
	neverLast  = math.MaxUint64 // position of last before its first row: -1
)

// updatePlace serves opFirst and opLast.
func updatePlace(t *Table, s *slot, v *view) {
	x := &v.args[s.x]
	words := t.Rows[s.hot:]
	wins := t.scratch.wins[:0]
	for i, g := range v.gids {
		w := &words[int(g)*t.Stride]
		if p := uint64(v.pos[i]); earlier(p, *w, s.op == opLast) {
			*w = p
			wins = append(wins, int32(i))
		}
	}
	t.scratch.wins = wins
	storeValues(t, words, s.cold-s.hot, v, x)
}

// earlier reports whether position p comes before position q, or after it if last.
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
	for i, row := range f.groups() {
		if err := f.setValue(i, row[s.cold:]); err != nil {
			return err
		}
		if row[s.hot] == never {
			f.setNull(i)
		}
	}
	return nil
}
