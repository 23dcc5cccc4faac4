package agg

import "github.com/gagg-dev/gagg/internal/arena"

// Chains that keep less than every value are compacted as they grow: sorted,
// with equal values made one, and written back into their own blobs, so that
// few distinct values over many rows take little memory. A chain is compacted
// when as many entries have come as the last compaction left, so that the
// cost of each is shared by half of the entries it sorts.

// limits are the sizes at which chains change their form.
type limits struct {
	compact int // entries that come between two compactions at least
	inline  int // bytes of a chain that is moved with its row
	piece   int // words that are sorted at once, where there are runs
	block   int // bytes of a block of a run
	fanIn   int // runs that are merged at once
}

// Guesses, but for block: 1 MiB is the most that Runs takes.
var usualLimits = limits{compact: 4096, inline: 64 << 10, piece: 1 << 20, block: 128 << 10, fanIn: 32}

// compactDue reports whether as many entries have come since the last
// compaction as shall come between two.
func (l *Layout) compactDue(k link) bool {
	least := uint64(l.limits.compact)
	if k.keep == keepLeast || k.keep == keepGreatest {
		least = min(least, uint64(max(k.n, 64)))
	}
	return k.values()-*k.base() > max(least, *k.kept())
}

// compact leaves of the entries in memory what the chain is to keep.
func (l *Layout) compact(k link, a *arena.Arena) {
	w := l.workspace()
	defer l.release(w)
	words := w.gather(k, a.Registry())
	words = w.reduce(k.chain, words)
	l.rewrite(k, a, words)
}

// rewrite makes words the entries of a chain with blobs, in place of those it
// has.
func (l *Layout) rewrite(k link, a *arena.Arena, words []uint64) {
	*k.base() = k.values()
	k.rewind(a.Registry())
	n := 0
	for ; len(words) > 0; n++ {
		size := k.entryWords(words)
		copy(l.place(k, a, size, k.blobSize(size)), words[:size])
		words = words[size:]
	}
	*k.kept() = uint64(n)
}

// rewind makes the first blob the tail, and empty. Blobs that are too large
// for room are left behind.
func (k link) rewind(reg *arena.Arenas) {
	if k.isInline() {
		k.clear()
	}
	for *k.head() != 0 {
		blob := wordsOf(reg.Get(*k.head()))
		size := len(blob) - trailerWords
		if size <= roomMask {
			*k.slot() = *k.head()
			k.setRoom(size)
			return
		}
		*k.head() = blob[size]
	}
	k.clear()
}

// reduce sorts entries that lie side by side, makes one of equal ones, and
// drops those that the chain need not keep. The result is valid until the
// next use of w.
func (w *workspace) reduce(c *chain, words []uint64) []uint64 {
	if c.keep == keepHashes {
		return w.reduceHashes(words)
	}
	w.sort(c, words)
	if c.words == 1 {
		switch c.keep {
		case keepAll:
			return words
		case keepLeast, keepGreatest:
			return words[:min(c.n, len(words))]
		}
		return compactWords(words)
	}
	out := w.out[:0]
	entries := 0
	last := 0 // where the last entry of out begins
	w.each(c, words, func(e []uint64) bool {
		switch {
		case entries > 0 && c.merge(out[last:], e):
			return true
		case c.n > 0 && entries == c.n:
			return false
		}
		last = len(out)
		out = append(out, e...)
		entries++
		return true
	})
	w.out = out
	return out
}

// compactWords drops repeated words.
func compactWords(words []uint64) []uint64 {
	n := 0
	for i, x := range words {
		if i == 0 || x != words[n-1] {
			words[n] = x
			n++
		}
	}
	return words[:n]
}

// merge makes e part of the entry last, which does not come after it, if the
// chain keeps only one of the two.
func (c *chain) merge(last, e []uint64) bool {
	switch c.keep {
	case keepSet, keepHashes, keepCounts, keepFirsts:
		if c.compare(last, e) != 0 {
			return false
		}
	case keepBuckets:
		if c.bucket(last) != c.bucket(e) {
			return false
		}
	default:
		return false
	}
	if c.count != none {
		last[c.count] += e[c.count]
	}
	if c.pos != none {
		last[c.pos] = min(last[c.pos], e[c.pos])
	}
	return true
}
