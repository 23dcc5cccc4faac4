package cpu

import (
	"math/bits"
	"slices"
)

// This file is how keys find their slots: from the home slot of their hash on, those of its cache
// line first, if slots have one word or two, then those of the next. The home slots of all keys
// that come together are looked at first, so that their cache misses overlap.

// enterSlots enters keys for which there is room: at most memberWords words.
func (s *sharedSet) enterSlots(p *setPart, keys []uint64) {
	switch s.words {
	case 1:
		s.put1(p, keys)
	case 2:
		s.put2(p, keys)
	default:
		s.putN(p, keys)
	}
}

// home is the number of the line, of lines, that a key of a hash belongs to.
func home(hash uint64, lines int) uint64 {
	hi, _ := bits.Mul64(hash<<setBits, uint64(lines))
	return hi
}

// put1 enters keys of one word.
func (s *sharedSet) put1(p *setPart, keys []uint64) {
	var homes [memberWords]uint64
	slots, lines, seed := p.slots, len(p.slots)/lineSlots, s.seed
	for i, k := range keys {
		h := seed.hash1(k)
		homes[i] = home(h, lines)*lineSlots + h&(lineSlots-1)
	}
	for _, at := range homes[:len(keys)] {
		p.touched ^= slots[at]
	}
	n := 0
	for i, k := range keys {
		at := homes[i]
		for end := at; ; {
			x := slots[at]
			if x == k {
				break
			}
			if x == 0 {
				slots[at] = k
				n++
				break
			}
			if at = at&^7 | (at+1)&7; at == end { // the line is full
				if at = at&^7 + 8; at == uint64(len(slots)) {
					at = 0
				}
				end = at
			}
		}
	}
	p.n += n
}

// put2 is put1 for keys of two words.
func (s *sharedSet) put2(p *setPart, keys []uint64) {
	var homes [memberWords / 2]uint64
	slots, lines, seed := p.slots, len(p.slots)/lineSlots, s.seed
	keys = keys[:len(keys)&^1]
	for i := 0; i+1 < len(keys); i += 2 {
		h := seed.hash2(keys[i], keys[i+1])
		homes[i/2] = home(h, lines)*lineSlots + h&(lineSlots-2)
	}
	for _, at := range homes[:len(keys)/2] {
		p.touched ^= slots[at]
	}
	n := 0
	for i := 0; i+1 < len(keys); i += 2 {
		a, b := keys[i], keys[i+1]
		at := homes[i/2]
		for end := at; ; {
			x, y := slots[at], slots[at|1]
			if x == a && y == b {
				break
			}
			if x|y == 0 {
				slots[at], slots[at|1] = a, b
				n++
				break
			}
			if at = at&^7 | (at+2)&7; at == end { // the line is full
				if at = at&^7 + 8; at == uint64(len(slots)) {
					at = 0
				}
				end = at
			}
		}
	}
	p.n += n
}

// putN is put1 for keys of several words.
func (s *sharedSet) putN(p *setPart, keys []uint64) {
	var homes [memberWords]uint64
	words, slots := s.words, p.slots
	for i := 0; i*words < len(keys); i++ {
		homes[i] = home(s.seed.hash(keys[i*words:(i+1)*words]), len(slots)/words) * uint64(words)
	}
	for _, at := range homes[:len(keys)/words] {
		p.touched ^= slots[at]
	}
	for i := 0; i*words < len(keys); i++ {
		key := keys[i*words : (i+1)*words]
		at := int(homes[i])
		for !slices.Equal(slots[at:at+words], key) {
			if free(slots[at : at+words]) {
				copyRow(slots[at:at+words], key)
				p.n++
				break
			}
			if at += words; at == len(slots) {
				at = 0
			}
		}
	}
}
