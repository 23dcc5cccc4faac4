package reference

import (
	"iter"
	"math/bits"
)

// claimOne claims a free page of a word. It fails only when it has seen the word
// full. Another may be quicker to take the page it saw; then it looks again.
func (p *HostPool) claimOne(word int) (page uint32, ok bool) {
	for {
		p.at()
		free := ^p.words[word].Load()
		if free == 0 {
			return 0, false
		}
		bit := free & -free
		p.at()
		if p.words[word].Or(bit)&bit == 0 {
			return uint32(word*hostWordPages + bits.TrailingZeros64(bit)), true
		}
	}
}

// takeRun takes n consecutive free pages that begin in one of words from word
// on. It fails only when it has seen none.
func (p *HostPool) takeRun(word, words, n int) (first uint32, ok bool) {
	for {
		first, ok = p.findRun(word, words, n)
		if !ok || p.claim(first, n) {
			return first, ok
		}
	}
}

// claim marks n pages, or none if one is not free. A word is marked as a whole
// or not at all, in ascending order: of claims that get in each other's way the
// one that is furthest succeeds, so claims cannot undo each other for ever.
func (p *HostPool) claim(first uint32, n int) bool {
	for word, mask := range masks(first, n) {
		if p.mark(word, mask) {
			continue
		}
		if begun := word*hostWordPages - int(first); begun > 0 {
			for word, mask := range masks(first, begun) {
				p.clear(word, mask)
			}
		}
		return false
	}
	return true
}

// mark marks the pages of mask, all or none.
func (p *HostPool) mark(word int, mask uint64) bool {
	for {
		p.at()
		old := p.words[word].Load()
		if old&mask != 0 {
			return false
		}
		p.at()
		if p.words[word].CompareAndSwap(old, old|mask) {
			return true
		}
	}
}

// findRun finds n consecutive free pages that begin in one of words from word
// on.
func (p *HostPool) findRun(word, words, n int) (first uint32, ok bool) {
	run := 0 // free pages before the word, in a row
	for i := word; i < len(p.words) && (i < word+words || run > 0); i++ {
		p.at()
		used := p.words[i].Load()
		at := i * hostWordPages
		if run += bits.TrailingZeros64(used); run >= n {
			return uint32(at + bits.TrailingZeros64(used) - run), true
		}
		if used == 0 {
			continue
		}
		if i >= word+words {
			break
		}
		if start := runs(^used, n); start != 0 {
			return uint32(at + bits.TrailingZeros64(start)), true
		}
		run = bits.LeadingZeros64(used)
	}
	return 0, false
}

// runs is the set of bits at which n set bits in a row begin: each turn doubles
// the length that is known to be set.
func runs(set uint64, n int) uint64 {
	if n > hostWordPages {
		return 0
	}
	for have := 1; have < n; {
		more := min(have, n-have)
		set &= set >> more
		have += more
	}
	return set
}

// masks yields the words of n pages from first on, with the bits of the pages.
func masks(first uint32, n int) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for page, end := int(first), int(first)+n; page < end; {
			bit := page % hostWordPages
			k := min(hostWordPages-bit, end-page)
			if !yield(page/hostWordPages, ^uint64(0)>>(hostWordPages-k)<<bit) {
				return
			}
			page += k
		}
	}
}
