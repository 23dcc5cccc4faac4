package cpu

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file finds groups of keys that may hold long strings, whose bytes lie
// in an arena and in the batch, not in the words (package key).

// findKeys is find for the batch of an encoder. The strings of new groups go
// to the table's arena, where e.LongBytes() were reserved.
func (t *table) findKeys(e *key.Encoder, groups []uint32) (firstNew uint32) {
	if !e.HasLong() {
		return t.find(e.Hash, e.Words, groups)
	}
	firstNew = t.n
	t.candidates(e.Hash, groups)
	t.slow = t.slow[:0]
	t.matchLong(e, groups)
	for _, i := range t.slow {
		groups[i] = t.probeLong(e, int(i))
	}
	return firstNew
}

// matchLong puts the rows on the slow list whose candidate is none or has
// another key. The words of all rows are compared before the strings, so that
// the cache misses of different rows overlap in either pass.
func (t *table) matchLong(e *key.Encoder, groups []uint32) {
	for i, g := range groups {
		if g != noGroup && !e.SameWords(i, t.keyOf(g)) {
			groups[i] = noGroup
		}
	}
	reg := t.rows.Arena.Registry()
	for i, g := range groups {
		if g == noGroup || !e.SameLong(i, t.keyOf(g), reg) {
			t.slow = append(t.slow, int32(i))
		}
	}
}

// keyOf is the key words of a group, and what follows them in its row.
func (t *table) keyOf(g uint32) []uint64 {
	return t.rows.Rows[int(g)*t.rows.Stride+1:]
}

// probeLong finds or makes the group of one row.
func (t *table) probeLong(e *key.Encoder, i int) uint32 {
	d, hash, reg := &t.dir, e.Hash[i], t.rows.Arena.Registry()
	s := d.home(hash)
	for ; d.slots[s] != 0; s = d.next(s) {
		if x := d.slots[s]; d.tagged(x, hash) && t.equalLong(d.group(x), e, i, reg) {
			return d.group(x)
		}
	}
	group := t.enter(s, hash, e.Words, i)
	e.Keep(i, t.keyOf(group), t.rows.Arena)
	return group
}

func (t *table) equalLong(g uint32, e *key.Encoder, i int, reg *arena.Arenas) bool {
	words := t.keyOf(g)
	return e.SameWords(i, words) && e.SameLong(i, words, reg)
}
