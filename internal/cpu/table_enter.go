package cpu

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/key"
)

// enterSlow finds or makes the groups of the rows on the slow list, and returns how many of them it
// has done: all, unless look-ups crowd. It is probe for many rows, in one loop: where most rows are
// new groups, as in a table that is flushed whenever it is full, that is most of what a row costs.
func (t *table) enterSlow(e *key.Encoder, hash []uint64, groups []uint32) (done int) {
	if int(t.n)+len(t.slow) > t.dir.capacity() {
		t.growDir()
	}
	d, stride, keys := &t.dir, t.rows.Stride, e.Words
	slots, shift, tagBits, last := d.slots, d.shift&63, d.groupBits&31, uint64(len(d.slots)-1)
	numbers, left, states := uint32(1)<<tagBits-1, d.left, t.template[t.base+len(keys):]
	rows, n, base, long := t.rows.Rows, t.n, t.base, e.HasLong()
	var reg *arena.Arenas
	if long {
		reg = t.rows.Arena.Registry()
	}
	for _, row := range t.slow {
		i := int(row)
		h := hash[i]
		home := h >> shift
		s, group := home, noGroup
		for x := slots[s]; x != 0; x = slots[s] {
			if (x^uint32(h)<<tagBits)&^numbers == 0 {
				words := rows[int(x&numbers-1)*stride+base:]
				if !long && same(words, keys, i) || long && e.SameWords(i, words) && e.SameLong(i, words, reg) {
					group = x&numbers - 1
					break
				}
			}
			s = (s + 1) & last
		}
		left -= int((s - home) & last)
		if group == noGroup {
			group = n
			slots[s] = uint32(h)<<tagBits | (n + 1)
			if len(rows)+stride > cap(rows) {
				t.rows.Rows = rows
				t.growRows()
				rows = t.rows.Rows
			}
			rows = appendRow(rows, stride, e.Hash[i], keys, i, states)
			if long {
				e.Keep(i, rows[int(n)*stride+base:], t.rows.Arena)
			}
			n++
		}
		groups[i] = group
		if done++; left < 0 && !d.seeded {
			break
		}
	}
	t.rows.Rows, t.n, d.left = rows, n, left
	return done
}

// appendAll makes a group of each key of the encoder's batch, for which room was secured, in a
// table that is kept in the cache.
func (t *table) appendAll(e *key.Encoder) {
	stride, keys, states, rows := t.rows.Stride, e.Words, t.template[t.base+len(e.Words):], t.rows.Rows
	for i, h := range e.Hash {
		rows = appendRow(rows, stride, h, keys, i, states)
		if e.HasLong() {
			e.Keep(i, rows[len(rows)-stride+t.base:], t.rows.Arena)
		}
	}
	t.rows.Rows, t.n = rows, t.n+uint32(len(e.Hash))
}

// appendRow appends a fresh row with the key of row i of words; there is room. A copy is a call.
func appendRow(rows []uint64, stride int, hash uint64, words [][]uint64, i int, states []uint64) []uint64 {
	at := len(rows)
	rows = rows[:at+stride]
	row := rows[at : at+stride : at+stride]
	base := stride - len(words) - len(states)
	row[0] = hash // or a key word
	for k := range words {
		row[base+k] = words[k][i]
	}
	for k, x := range states {
		row[base+len(words)+k] = x
	}
	return rows
}

// same reports whether a group has the key of row i of words.
func same(group []uint64, words [][]uint64, i int) bool {
	for k := range words {
		if group[k] != words[k][i] {
			return false
		}
	}
	return true
}
