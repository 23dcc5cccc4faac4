package agg

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// A value that a state keeps as it is: 64 bits, 4 words of a wide decimal, or
// the ref of a string.

func valueWords(r column.Rep) int {
	if r == column.RepWide {
		return 4
	}
	return 1
}

// storeValues keeps the values of x of the rows that won (scratch.wins). The rows whose
// position is no longer in the state have lost again in the same batch.
//
// at is the distance from the position to the value, both in words, and
// words begins with the positions.
func storeValues(t *Table, words []uint64, at int, v *view, x *column.Vector) {
	for _, i := range t.scratch.wins {
		w := words[int(v.gids[i])*t.Stride:]
		if w[0] != uint64(v.pos[i]) {
			continue
		}
		switch x.Type.Rep() {
		case column.RepInt64:
			w[at] = uint64(x.Int[i])
		case column.RepFloat64:
			w[at] = math.Float64bits(x.Float[i])
		case column.RepWide:
			storeWide(w[at:], x.Wide[i])
		case column.RepBytes:
			w[at] = t.Arena.Replace(w[at], x.Bytes(int(i)))
		}
	}
}

// combineStored takes over key, position and value from another row if they win.
func (s *slot) combineStored(w, from []uint64, take taker) {
	hot := 1
	if s.op == opArgMin || s.op == opArgMax {
		hot += s.keyWords()
		if !s.betterArg(w, from, take.reg) {
			return
		}
	} else if !earlier(from[0], w[0], s.op == opLast) {
		return
	}
	cold, n := s.cold-s.hot, valueWords(s.xRep)
	key, value := w[1], w[cold] // where they are refs
	copy(w[:hot], from[:hot])
	copy(w[cold:cold+n], from[cold:cold+n])
	if hot > 1 && s.yRep == column.RepBytes {
		w[1] = take.ref(key, from[1])
	}
	if s.xRep == column.RepBytes {
		w[cold] = take.ref(value, from[cold])
	}
}

// setValue makes the value in w result i.
func (f *finisher) setValue(i int, w []uint64) error {
	switch f.out.Type.Rep() {
	case column.RepInt64:
		f.out.Int[i] = int64(w[0])
	case column.RepFloat64:
		f.out.Float[i] = math.Float64frombits(w[0])
	case column.RepWide:
		f.out.Wide[i] = loadWide(w)
	case column.RepBytes:
		return f.setBytes(i, w[0])
	}
	return nil
}
