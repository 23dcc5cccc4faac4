package gpumem_test

import "math/bits"

// The programs of the models: get and put of paper 000, as printed and as they
// may be mended.

// lowest is the first page of a word that is not marked, as a bit.
func lowest(word uint8) uint8 { return ^word & (word + 1) & allPages }

// pageOf is the page of a bit in a word.
func pageOf(word, bit uint8) int { return int(word)*wordPages + bits.TrailingZeros8(bit) }

// pick draws a random word below words.
func pick(words uint8) step {
	return step{"word", words, func(_ *machine, s *modelState, me int, choice uint8) uint8 {
		s.th[me].word = choice
		return 1
	}}
}

// Algorithm 1: a flag a page. With test and set in one access, or in two.
func flagGet(atomic bool) program {
	set := func(m *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		old := s.bits[t.word] & t.got
		s.bits[t.word] |= t.got
		if atomic && old != 0 {
			return 0
		}
		s.hand(m, me, pageOf(t.word, t.got))
		return finish
	}
	test := func(_ *machine, s *modelState, me int, page uint8) uint8 {
		t := &s.th[me]
		t.word, t.got = page/wordPages, 1<<(page%wordPages)
		if s.bits[t.word]&t.got != 0 {
			return 0
		}
		return 1
	}
	return program{{"test", modelWords*wordPages - 1, test}, {"set", 0, set}}
}

// lockRules says how a get with the lock map differs from Algorithms 2, 3 and 5 as they are
// printed.
type lockRules struct {
	early   bool // the word is read before the lock is taken, as a missing fence allows
	store   bool // the word is written back by a plain store, not set by atomicOr
	nothing bool // the word is not written back: Algorithm 3 as printed
	check   bool // what atomicOr returns decides
	keep    bool // the lock is not released: Algorithms 2 and 5 as printed
}

func lockGet(r lockRules) program {
	lock := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		if s.lock[t.word] {
			return 0
		}
		s.lock[t.word] = true
		if r.early {
			return 3
		}
		return 2
	}
	read := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		t.read = s.bits[t.word]
		if r.early {
			return 2
		}
		return 3
	}
	set := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		t.got = lowest(t.read)
		old := s.bits[t.word]
		switch {
		case r.nothing:
		case r.store:
			s.bits[t.word] = t.read | t.got
		default:
			s.bits[t.word] |= t.got
		}
		if r.check {
			t.got &^= old
		}
		return 4
	}
	unlock := func(m *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		s.lock[t.word] = r.keep
		if t.got == 0 {
			return 0
		}
		s.hand(m, me, pageOf(t.word, t.got))
		return finish
	}
	code := program{pick(modelWords), {"lock", 0, lock}, {"read", 0, read}, {"set", 0, set}, {"unlock", 0, unlock}}
	if r.early {
		code[1], code[2] = code[2], code[1]
	}
	return code
}

// orGet is the get without locks: a read, and atomicOr, whose result decides.
// words is the range of the walk.
func orGet(words uint8) program {
	read := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		if t.got = lowest(s.bits[t.word]); t.got == 0 {
			return 0
		}
		return 2
	}
	set := func(m *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		old := s.bits[t.word]
		s.bits[t.word] |= t.got
		if old&t.got != 0 {
			return 0
		}
		s.hand(m, me, pageOf(t.word, t.got))
		return finish
	}
	return program{pick(words), {"read", 0, read}, {"or", 0, set}}
}

// takeAllGet marks a whole word at once, keeps one page and gives the others
// back: those that were free, or (greedy) all it asked for.
func takeAllGet(greedy bool) program {
	take := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		t.got = lowest(s.bits[t.word])
		if t.extra = ^s.bits[t.word] & allPages; greedy {
			t.extra = allPages
		}
		t.extra &^= t.got
		s.bits[t.word] = allPages
		return 2
	}
	back := func(m *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		s.bits[t.word] &^= t.extra
		t.extra = 0
		if t.got == 0 {
			return 0
		}
		s.hand(m, me, pageOf(t.word, t.got))
		return finish
	}
	return program{pick(modelWords), {"take", 0, take}, {"back", 0, back}}
}

// runGet takes two neighbors, in one word or across two: RW_malloc. What it got
// of a run that failed it gives back; greedy, what it asked for.
func runGet(greedy bool) program {
	ask := func(first uint8, word int) (mask uint8) {
		return uint8(0b11 << first >> (word * wordPages) & allPages)
	}
	or := func(word int, next uint8) func(*machine, *modelState, int, uint8) uint8 {
		return func(_ *machine, s *modelState, me int, choice uint8) uint8 {
			t := &s.th[me]
			if word == 0 {
				t.read, t.first, t.got = choice, 0, 0
			}
			mask := ask(t.read, word)
			got := mask &^ s.bits[word]
			s.bits[word] |= mask
			if word == 0 {
				t.first = got
			} else {
				t.got = got
			}
			return next
		}
	}
	whole := func(t *modelThread) bool {
		return t.first == ask(t.read, 0) && t.got == ask(t.read, 1)
	}
	back := func(word int, next uint8) func(*machine, *modelState, int, uint8) uint8 {
		return func(m *machine, s *modelState, me int, _ uint8) uint8 {
			t := &s.th[me]
			if whole(t) {
				s.hand(m, me, int(t.read))
				s.hand(m, me, int(t.read)+1)
				return finish
			}
			got := [modelWords]uint8{t.first, t.got}[word]
			if greedy {
				got = ask(t.read, word)
			}
			s.bits[word] &^= got
			return next
		}
	}
	return program{
		{"or first", modelWords*wordPages - 1, or(0, 1)},
		{"or second", 0, or(1, 2)},
		{"back second", 0, back(1, 3)},
		{"back first", 0, back(0, 0)},
	}
}

// oncePut clears the bit in one access: atomicAnd, or the store of a flag that
// the page has for itself.
func oncePut() program {
	return program{{"and", 0, func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		if page := int(s.th[me].held[0]); page != nobody {
			s.drop(me)
			s.bits[page/wordPages] &^= 1 << (page % wordPages)
		}
		return finish
	}}}
}

// plainPut reads the word and stores it without the bit; under the lock, or
// not.
func plainPut(locked bool) program {
	lock := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		word := s.th[me].held[0] / wordPages
		if locked && s.lock[word] {
			return 0
		}
		s.lock[word] = s.lock[word] || locked
		return 1
	}
	read := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		page := s.drop(me)
		t.word, t.got = uint8(page/wordPages), 1<<(page%wordPages)
		t.read = s.bits[t.word]
		return 2
	}
	store := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		t := &s.th[me]
		s.bits[t.word] = t.read &^ t.got
		if locked {
			return 3
		}
		return finish
	}
	unlock := func(_ *machine, s *modelState, me int, _ uint8) uint8 {
		s.lock[s.th[me].word] = false
		return finish
	}
	return program{{"lock", 0, lock}, {"read", 0, read}, {"store", 0, store}, {"unlock", 0, unlock}}
}
