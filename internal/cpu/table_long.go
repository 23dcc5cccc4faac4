package cpu

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file finds groups of keys that may hold long strings, whose bytes lie
// in an arena and in the batch, not in the words (package key).

// matchLong puts the rows on the slow list whose candidate is none or has
// another key.
func (t *table) matchLong(e *key.Encoder, groups []uint32) {
	e.Match(groups, noGroup, t.rows.Rows, t.rows.Stride, t.base, t.rows.Arena.Registry())
	for i, g := range groups {
		if g == noGroup {
			t.slow = append(t.slow, int32(i))
		}
	}
}

// keyOf is the key words of a group, and what follows them in its row.
func (t *table) keyOf(g uint32) []uint64 {
	return t.rows.Rows[int(g)*t.rows.Stride+t.base:]
}

func (t *table) equalLong(g uint32, e *key.Encoder, i int, reg *arena.Arenas) bool {
	words := t.keyOf(g)
	return e.SameWords(i, words) && e.SameLong(i, words, reg)
}
