package agg

import (
	"bytes"
	"encoding/binary"

	"github.com/gagg-dev/gagg/internal/column"
)

// The least or greatest string of a group is two words: a prefix, which
// settles most comparisons without looking at the string, and the ref of the
// string in the arena. Ref 0: no string yet.

// prefix returns the first 8 bytes of value i of v as a number that sorts like
// them; what a shorter string lacks counts as zero bytes.
func prefix(v *column.Vector, i int) uint64 {
	s := v.Span[i]
	if s.Len >= 8 {
		return binary.BigEndian.Uint64(v.Data[s.Off:])
	}
	if int(s.Off)+8 <= len(v.Data) {
		// A shift by 64 gives 0, as an empty string needs it.
		keep := ^uint64(0) << (64 - 8*s.Len)
		return binary.BigEndian.Uint64(v.Data[s.Off:]) & keep
	}
	return prefixOf(v.Bytes(i))
}

func prefixOf(b []byte) uint64 {
	var p [8]byte
	copy(p[:], b)
	return binary.BigEndian.Uint64(p[:])
}

// extremeBytes keeps the least, or the greatest, string of each group.
func extremeBytes(t *Table, s *slot, gids []uint32, v *column.Vector, greatest bool) {
	words := t.Rows[s.hot:]
	flip := uint64(0) // turns the order of prefixes round
	if greatest {
		flip = ^flip
	}
	for i, g := range gids {
		w := words[int(g)*t.Stride:][:2]
		p := prefix(v, i)
		if w[1] != 0 && p^flip > w[0]^flip {
			continue
		}
		b := v.Bytes(i)
		if w[1] != 0 && p == w[0] && !better(b, t.Arena.Get(w[1]), greatest) {
			continue
		}
		w[0], w[1] = p, t.Arena.Replace(w[1], b)
	}
}

func better(b, than []byte, greatest bool) bool {
	c := bytes.Compare(b, than)
	return c < 0 && !greatest || c > 0 && greatest
}

// combineBytes keeps the better of two strings in w.
func combineBytes(w, from []uint64, take taker, greatest bool) {
	switch {
	case from[1] == 0:
		return
	case w[1] == 0:
	case w[0] != from[0]:
		if (from[0] < w[0]) == greatest {
			return
		}
	case !better(take.reg.Get(from[1]), take.reg.Get(w[1]), greatest):
		return
	}
	w[0], w[1] = from[0], take.ref(w[1], from[1])
}
