package agg

import (
	"bytes"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// arg_min(a, b) and arg_max(a, b) keep the best key b so far, the position of its
// row and the value of a there. Of equal keys the first row in file order
// wins. Rows with a NULL in a or b never get here.
//
//	key words | position || value of a
//
// A key is an int64 (its complement for arg_max, so that less is better in
// both), the 4 words of a wide decimal, or prefix and ref of a string.

// keyWords is the number of key words of s.
func (s *slot) keyWords() int {
	switch s.yRep {
	case column.RepWide:
		return 4
	case column.RepBytes:
		return 2
	}
	return 1
}

func updateArg(t *Table, s *slot, v *view) {
	words := t.Rows[s.hot:]
	y := &v.args[s.y]
	t.scratch.wins = t.scratch.wins[:0]
	switch s.yRep {
	case column.RepWide:
		bestWide(t, words, v, y.Wide, s.op == opArgMax)
	case column.RepBytes:
		bestBytes(t, words, v, y, s.op == opArgMax)
	default:
		bestInt(t, words, v, t.scratch.keysOf(y), s.op == opArgMax)
	}
	k := s.keyWords()
	storeValues(t, words[k:], s.cold-s.hot-k, v, &v.args[s.x])
}

func bestInt(t *Table, words []uint64, v *view, keys []int64, greatest bool) {
	flip := int64(0)
	if greatest {
		flip = -1
	}
	for i, g := range v.gids {
		w := words[int(g)*t.Stride:][:2]
		k, p := keys[i]^flip, uint64(v.pos[i])
		if best := int64(w[0]); k < best || k == best && p < w[1] {
			w[0], w[1] = uint64(k), p
			t.scratch.wins = append(t.scratch.wins, int32(i))
		}
	}
}

func bestWide(t *Table, words []uint64, v *view, keys []decimal256.Num, greatest bool) {
	for i, g := range v.gids {
		w := words[int(g)*t.Stride:][:5]
		c, p := keys[i].Cmp(loadWide(w)), uint64(v.pos[i])
		if c < 0 && !greatest || c > 0 && greatest || c == 0 && p < w[4] {
			storeWide(w, keys[i])
			w[4] = p
			t.scratch.wins = append(t.scratch.wins, int32(i))
		}
	}
}

func bestBytes(t *Table, words []uint64, v *view, keys *column.Vector, greatest bool) {
	for i, g := range v.gids {
		w := words[int(g)*t.Stride:][:3]
		k, p := prefix(keys, i), uint64(v.pos[i])
		switch {
		case w[1] == 0:
		case k != w[0]:
			if (k > w[0]) != greatest {
				continue
			}
		default:
			c := bytes.Compare(keys.Bytes(i), t.Arena.Get(w[1]))
			if c == 0 && p >= w[2] || c != 0 && (c > 0) != greatest {
				continue
			}
		}
		w[0], w[1], w[2] = k, t.Arena.Replace(w[1], keys.Bytes(i)), p
		t.scratch.wins = append(t.scratch.wins, int32(i))
	}
}

// betterArg reports whether the key and position at from win against those at w.
func (s *slot) betterArg(w, from []uint64, reg *arena.Arenas) bool {
	greatest := s.op == opArgMax
	k := s.keyWords()
	var c int
	switch s.yRep {
	case column.RepWide:
		c = loadWide(from).Cmp(loadWide(w))
	case column.RepBytes:
		if from[1] == 0 || w[1] == 0 {
			return from[1] != 0
		}
		c = bytes.Compare(reg.Get(from[1]), reg.Get(w[1]))
	default:
		if from[0] != w[0] {
			return int64(from[0]) < int64(w[0])
		}
	}
	if c != 0 {
		return (c > 0) == greatest
	}
	return from[k] < w[k]
}

// arg writes the results of arg_min and arg_max.
func (f *finisher) arg() error {
	s := f.slot(0)
	k := s.keyWords()
	for i, row := range f.groups() {
		if err := f.setValue(i, row[s.cold:]); err != nil {
			return err
		}
		if row[s.hot+k] == neverFirst {
			f.setNull(i)
		}
	}
	return nil
}
