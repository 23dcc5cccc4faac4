package agg

import "math"

// place gives every field and slot its words: first the hot ones, which a
// loop touches for every row, then the cold ones.
//
// Counts take half a word each where the number of rows allows it. A set
// whose NULLs are not counted gets a flag bit, or the half word beside the
// count of rows if it is the only one and that half is free: then there is
// no word for flags at all.
func (b *builder) place() {
	halves := 0 <= b.maxRows && b.maxRows <= math.MaxUint32
	free := field{off: none} // half a word of counts that is not in use yet
	count := func() field {
		if f := free; f.in() {
			free = field{off: none}
			return f
		}
		off := b.words(0)
		b.counts = append(b.counts, off)
		if !halves {
			return word(off)
		}
		free = half(off, 32)
		return half(off, 0)
	}

	if b.packed = b.packCount(); b.packed == none {
		b.placeCounts(count, halves)
	}
	for i := range b.slots {
		s := &b.slots[i]
		if i == b.packed {
			b.placePacked(s)
			continue
		}
		hot, _ := s.words()
		s.hot = b.words(hot...)
	}
	for i := range b.sets {
		if b.sets[i].wantNulls {
			b.sets[i].nulls = count()
		}
	}
	b.placeFlags()
	b.placeSpecial()
	for i := range b.slots {
		s := &b.slots[i]
		if _, cold := s.words(); cold != nil {
			s.cold = b.words(cold...)
		}
	}
	b.markAligned()
	for i := range b.slots {
		b.slots[i].fused = b.fusesCorr(i)
		b.refs = append(b.refs, b.slots[i].refs()...)
		if b.slots[i].op == opChain {
			b.chains = append(b.chains, i)
			if b.sets[b.slots[i].set].part == 0 {
				b.lists = append(b.lists, i)
			}
		}
	}
	b.empty = append([]uint64(nil), b.template...)
	for _, s := range b.sets {
		if s.unseen.in() {
			b.empty[s.unseen.off-b.base] |= s.unseen.one()
		}
	}
}

// placeCounts gives the counts of rows their places.
func (b *builder) placeCounts(count func() field, halves bool) {
	for _, want := range b.wantRows {
		f := field{off: none}
		if want {
			f = count()
		}
		b.counted = append(b.counted, f)
	}
	if b.rows = b.counted[0]; b.rows.in() && len(b.counted) == 1 {
		b.shareCounts(halves)
	}
}

// shareCounts has the NULLs of a set counted in place of a flag where that
// saves the word of flags and takes none.
func (b *builder) shareCounts(halves bool) {
	counted, flagged := 0, none
	for i, s := range b.sets {
		switch {
		case s.wantNulls:
			counted++
		case s.wantSeen && flagged != none:
			return // two flags need their word anyway
		case s.wantSeen:
			flagged = i
		}
	}
	if halves && counted%2 == 0 && flagged != none {
		b.sets[flagged].wantNulls = true
	}
}

func (b *builder) placeFlags() {
	flags, used := none, 64
	for i := range b.sets {
		s := &b.sets[i]
		if !s.wantSeen || s.wantNulls && b.wantRows[s.part] {
			continue
		}
		if used == 64 {
			flags, used = b.words(0), 0
			b.flags = append(b.flags, flags)
		}
		s.unseen = bit(flags, used)
		used++
	}
}

// words appends words that begin with the values of init and returns the
// index of the first in the row.
func (b *builder) words(init ...uint64) int {
	b.template = append(b.template, init...)
	return b.base + len(b.template) - len(init)
}
