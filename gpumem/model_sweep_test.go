package gpumem_test

// sweeps is when a look at every word, one after the other, may say "out of
// memory":
//
//   - as long as no thread puts pages at the same time; others may take pages;
//   - not beside puts: a page is put behind the sweep, another taken before it;
//   - beside puts that count up if a thread sweeps, if the sweep starts again
//     when the count has moved: the host twin's way. The count must come after
//     the bit is cleared: before it, the sweep can begin and end between both;
//   - not beside gets that mark more than they keep.
func sweeps() []machine {
	const all = modelWords * wordPages
	or := orGet(modelWords)
	return []machine{
		{name: "sweep, no puts", get: or, sweep: sweep(false), pages: 3, scripts: []string{"ss", "s", "ss"}},
		{name: "sweep beside puts", get: or, put: oncePut(), sweep: sweep(false), pages: all, taken: 0b0101, scripts: []string{"s", "gpg"}, broken: "TRUE"},
		{name: "counted sweep beside puts", get: or, put: countedPut(true), sweep: sweep(true), pages: all, taken: 0b0101, scripts: []string{"s", "gpg"}},
		{name: "counted sweep, two putters", get: or, put: countedPut(true), sweep: sweep(true), pages: 3, scripts: []string{"s", "gpg", "gp"}},
		{name: "counted sweeps only", put: countedPut(true), sweep: sweep(true), pages: 3, taken: 0b001, scripts: []string{"sp", "sps", "sp"}},
		{name: "counted before the bit is cleared", get: or, put: countedPut(false), sweep: sweep(true), pages: all, taken: 0b0101, scripts: []string{"s", "gpg"}, broken: "TRUE"},
		{name: "sweep beside whole words", get: takeAllGet(false), sweep: sweep(false), pages: all, scripts: []string{"s", "gg"}, broken: "TRUE"},
	}
}

// sweep looks at all words from the first on and takes the first page it finds.
// counted, it says that it sweeps, and starts again if a page was put.
func sweep(counted bool) program {
	const begin, count, read, or, recount, give = 0, 1, 2, 3, 4, 5
	leave := func(s *modelState) {
		if counted {
			s.busy--
		}
	}
	return program{
		begin: {"begin", 0, func(_ *machine, s *modelState, _ int, _ uint8) uint8 {
			if counted {
				s.busy++
			}
			return count
		}},
		count: {"count", 0, func(_ *machine, s *modelState, me int, _ uint8) uint8 {
			s.th[me].puts, s.th[me].word = s.puts, 0
			return read
		}},
		read: {"read", 0, func(_ *machine, s *modelState, me int, _ uint8) uint8 {
			t := &s.th[me]
			if t.got = lowest(s.bits[t.word]); t.got != 0 {
				return or
			}
			if t.word+1 < modelWords {
				t.word++
				return read
			}
			return recount
		}},
		or: {"or", 0, func(_ *machine, s *modelState, me int, _ uint8) uint8 {
			t := &s.th[me]
			old := s.bits[t.word]
			s.bits[t.word] |= t.got
			if old&t.got != 0 {
				return read
			}
			return give
		}},
		recount: {"recount", 0, func(_ *machine, s *modelState, me int, _ uint8) uint8 {
			t := &s.th[me]
			if t.puts != s.puts {
				return count
			}
			t.out = true
			return give
		}},
		give: {"give", 0, func(m *machine, s *modelState, me int, _ uint8) uint8 {
			if t := &s.th[me]; !t.out {
				s.hand(m, me, pageOf(t.word, t.got))
			}
			leave(s)
			return finish
		}},
	}
}

// countedPut clears the bit, then looks whether somebody sweeps and counts up;
// or the other way round.
func countedPut(after bool) program {
	and := func(next uint8) step {
		return step{"and", 0, func(_ *machine, s *modelState, me int, _ uint8) uint8 {
			t := &s.th[me]
			if t.held[0] == nobody {
				return finish
			}
			page := s.drop(me)
			t.word, t.got = uint8(page/wordPages), 1<<(page%wordPages)
			s.bits[t.word] &^= t.got
			t.pending = t.got
			return next
		}}
	}
	look := func(next, none uint8) step {
		return step{"look", 0, func(_ *machine, s *modelState, _ int, _ uint8) uint8 {
			if s.busy == 0 {
				return none
			}
			return next
		}}
	}
	count := func(next uint8) step {
		return step{"count", 0, func(_ *machine, s *modelState, _ int, _ uint8) uint8 {
			s.puts++
			return next
		}}
	}
	if after {
		return program{and(1), look(2, finish), count(finish)}
	}
	return program{look(1, 2), count(2), and(finish)}
}
