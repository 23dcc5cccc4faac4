package agg

import (
	"math/bits"

	"github.com/gagg-dev/gagg/internal/arena"
)

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
	words = w.shrink(k.chain, words)
	l.rewrite(k, a, words)
}

// rewrite makes words the entries of a chain with blobs, in place of those it
// has.
func (l *Layout) rewrite(k link, a *arena.Arena, words []uint64) {
	*k.base() = k.values()
	k.rewind(a.Registry())
	n, last := 0, int64(0)
	if k.words == 1 && len(words) > 0 {
		last = int64(words[len(words)-1])
	}
	for ; len(words) > 0; n++ {
		size := k.entryWords(words)
		copy(l.place(k, a, size, k.blobSize(size)), words[:size])
		words = words[size:]
	}
	*k.kept() = uint64(n)
	if k.bounded() && n == k.n {
		k.setBound(last)
	}
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

// shrink is reduce but for the order, which it does not care for.
func (w *workspace) shrink(c *chain, words []uint64) []uint64 {
	switch {
	case c.keep == keepHashes:
		return w.reduceHashes(c, words)
	case c.dedupes():
		return w.dedupe(c, words)
	}
	return w.reduce(c, words)
}

// reduce sorts entries that lie side by side, makes one of equal ones, and
// drops those that the chain need not keep. The result lies side by side and
// is valid until the next use of w.
func (w *workspace) reduce(c *chain, words []uint64) []uint64 {
	switch {
	case c.keep == keepHashes:
		words = w.reduceHashes(c, words)
	case c.dedupes():
		words = w.dedupe(c, words)
	case c.keep == keepOrder && c.inOrder(words):
		return words
	}
	w.sort(c, words)
	if c.words == 1 {
		if c.n > 0 {
			words = words[:min(c.n, len(words))]
		}
		return words
	}
	w.out = grow(w.out, len(words))[:0]
	entries, last := 0, 0 // number of entries, and where the last one begins
	for _, it := range w.items {
		e := words[it.at:]
		e = e[:c.entryWords(e)]
		if entries > 0 && c.merge(w.out[last:], e) {
			continue
		}
		if c.n > 0 && entries == c.n {
			break
		}
		last = len(w.out)
		w.out = append(w.out, e...)
		entries++
	}
	return w.out
}

// inOrder reports whether the entries are sorted by position: what one worker
// took, usually.
func (c *chain) inOrder(words []uint64) bool {
	last := int64(-1)
	for len(words) > 0 {
		if p := int64(words[c.pos]); p < last {
			return false
		} else {
			last = p
		}
		words = words[c.entryWords(words):]
	}
	return true
}

// dedupes reports whether entries that become one are found by a hash table:
// where the value is one word.
func (c *chain) dedupes() bool {
	switch c.keep {
	case keepSet, keepCounts, keepFirsts, keepBuckets:
		return c.words == c.value+1
	}
	return false
}

// identity is the same for two entries that become one, where dedupes.
func (c *chain) identity(e []uint64) uint64 {
	if c.keep == keepBuckets {
		return uint64(c.bucket(e))
	}
	return e[c.value]
}

// dedupe makes one of equal entries, in place. The result is in the order in
// which they came.
func (w *workspace) dedupe(c *chain, words []uint64) []uint64 {
	size := bits.Len(uint(2 * len(words) / c.words))
	w.table = grow(w.table, 1<<size)
	table := w.table // numbers of entries, from 1
	clear(table)
	n := c.words
	kept := 0 // words
next:
	for at := 0; at < len(words); at += n {
		e := words[at : at+n]
		v := c.identity(e)
		slot := (v ^ v>>32) * 0x9e3779b97f4a7c15 >> (64 - size)
		for ; table[slot] != 0; slot = (slot + 1) & (1<<size - 1) {
			if other := words[int(table[slot]-1)*n:][:n]; c.identity(other) == v {
				c.join(other, e)
				continue next
			}
		}
		copy(words[kept:], e)
		kept += n
		table[slot] = uint32(kept / n)
	}
	return words[:kept]
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
	c.join(last, e)
	return true
}

// join adds what e counts to an entry with the same value.
func (c *chain) join(to, e []uint64) {
	if c.count != none {
		to[c.count] += e[c.count]
	}
	if c.pos != none {
		to[c.pos] = min(to[c.pos], e[c.pos])
	}
	if c.keep == keepBuckets && c.compare(e, to) < 0 {
		copy(to[c.value:], e[c.value:c.words])
	}
}
