package agg

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
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
	piece   int // words that are gathered and sorted at once
	block   int // bytes of a block of a run
	fanIn   int // runs that are merged at once
	look    int // work between two looks at whether the run was cancelled
}

// Not measured, but for block: 1 MiB is the most that Runs takes.
var usualLimits = limits{compact: 4096, inline: 64 << 10, piece: 1 << 20, block: 128 << 10, fanIn: 32, look: usualLook}

// wordScratch is the bytes that a word takes while it is sorted: with the
// sorted copy, the places of entries and what grew too far.
const wordScratch = 40

// leastInline is what pays for a write of its own.
const leastInline = 4 << 10

// limitsFor is the limits that keep sorting within scratch bytes, and the
// chains of a row that is moved within half of chains; 0: the usual ones.
func limitsFor(scratch, chains int) limits {
	l := usualLimits
	if scratch > 0 {
		l.piece = min(max(scratch/wordScratch, l.compact), l.piece)
		l.fanIn = min(max(scratch/4/l.block, 4), l.fanIn)
		l.inline = min(max(scratch/2/max(chains, 1), leastInline), l.inline)
	}
	return l
}

// compactDue reports whether as many entries have come since the last
// compaction as shall come between two.
func (l *Layout) compactDue(k link) bool {
	least := uint64(l.limits.compact)
	if k.keep == keepLeast || k.keep == keepGreatest {
		least = min(least, uint64(max(k.n, 64)))
	}
	return k.values()-*k.base() > max(least, *k.compacted())
}

// compact drops the entries in memory that the chain need not keep. A chain too
// long to be gathered stays as it is: it shrinks when it becomes runs.
func (l *Layout) compact(k link, a *arena.Arena) {
	if k.words == 0 {
		l.compactStrings(k, a)
		return
	}
	w := l.workspace()
	defer l.release(w)
	if k.entries(a.Registry(), &w.stop) > max(l.limits.piece, 3*k.n*k.words) {
		k.leave()
		return
	}
	words := w.gather(k, a.Registry())
	words = w.shrink(k.chain, words)
	if w.stop.err != nil {
		k.leave()
		return
	}
	l.rewrite(k, a, words)
}

// leave says that a chain was not compacted, though that was due.
func (k link) leave() {
	*k.compacted() += k.values() - *k.base()
	*k.base() = k.values()
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
	for len(words) > 0 {
		if k.room() < k.words {
			l.extend(k, a, k.words, k.blobSize(k.words))
		}
		part := min(k.room()/k.words*k.words, len(words))
		copy(l.place(k, a, part, 0), words[:part])
		n, words = n+part/k.words, words[part:]
	}
	*k.compacted() = uint64(n)
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

// shrink is reduce but for the order: entries stay in the order they had, but
// for hashes. So they fit the blobs that they came from, one after the other,
// since none comes to lie behind its old place.
func (w *workspace) shrink(c *chain, words []uint64) []uint64 {
	switch {
	case c.keep == keepHashes:
		return w.reduceHashes(c, words)
	case c.dedupes():
		return w.dedupe(c, words)
	}
	w.sort(c, words)
	if c.words == 1 {
		return words[:min(c.n, len(words))]
	}
	best := w.items[:min(c.n, len(w.items))]
	w.sortByPlace(best)
	w.out = grow(w.out, len(words))[:0]
	for _, it := range best {
		w.out = append(w.out, words[it.at:][:c.words]...)
	}
	return w.out
}

// reduce sorts entries that lie side by side, not strings, makes one of equal ones, and
// drops those that the chain need not keep. The result lies side by side and
// is valid until the next use of w.
func (w *workspace) reduce(c *chain, words []uint64) []uint64 {
	switch {
	case c.keep == keepHashes:
		words = w.reduceHashes(c, words)
	case c.dedupes():
		words = w.dedupe(c, words)
	case c.keep == keepOrder && c.inOrder(words, &w.stop):
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
		if w.stop.due(c.words) {
			break
		}
		e := words[it.at:][:c.words]
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
func (c *chain) inOrder(words []uint64, stop *stop) bool {
	last := int64(-1)
	for len(words) > 0 && !stop.due(1) {
		p := int64(words[c.pos])
		if p < last {
			return false
		}
		last = p
		words = words[c.words:]
	}
	return true
}

// dedupes reports whether entries may become one.
func (c *chain) dedupes() bool {
	switch c.keep {
	case keepCounts, keepFirsts, keepBuckets, keepHashes:
		return true
	}
	return false
}

// dedupe makes one of equal entries, not strings, in place, by a hash table.
func (w *workspace) dedupe(c *chain, words []uint64) []uint64 {
	n := c.words
	size := bits.Len(uint(2 * len(words) / n))
	w.table = grow(w.table, 1<<size)
	table := w.table // where entries begin, plus 1
	clear(table)
	inBuckets := c.keep == keepBuckets
	if inBuckets {
		w.bucketsOf(c, words)
	}
	filled := 0 // words
next:
	for at := 0; at < len(words) && !w.stop.due(longWork(8*n)); at += n {
		e := words[at : at+n]
		var hash uint64
		if inBuckets {
			hash = foldWord(uint64(w.buckets[at/n]))
		} else {
			hash = c.hash(e)
		}
		slot := hash >> (64 - size)
		for ; table[slot] != 0; slot = (slot + 1) & (1<<size - 1) {
			other := int(table[slot] - 1)
			if inBuckets && w.buckets[other/n] == w.buckets[at/n] || !inBuckets && c.same(words[other:], e) {
				c.join(words[other:], e)
				continue next
			}
		}
		table[slot] = uint32(filled) + 1
		copy(words[filled:], e)
		if inBuckets {
			w.buckets[filled/n] = w.buckets[at/n]
		}
		filled += n
	}
	return words[:filled]
}

// bucketsOf computes the bucket of each entry.
func (w *workspace) bucketsOf(c *chain, words []uint64) {
	w.buckets = grow(w.buckets, len(words)/c.words)
	for i := range w.buckets {
		w.buckets[i] = c.bucket(words[i*c.words:])
	}
}

// secret seeds the hash of dedupe, so that values cannot be made to crowd in
// its table. Nothing else may depend on it: it is another one in each process.
var secret = maphash.MakeSeed()

// secretWords are the same of values of one word.
var secretWords = [2]uint64{rand.Uint64(), rand.Uint64() | 1}

// foldWord is a hash of a word: a multiplication, folded, as the mixing step of wyhash.
func foldWord(x uint64) uint64 {
	hi, lo := bits.Mul64(x^secretWords[0], secretWords[1])
	return hi ^ lo
}

// hash is the same for equal values. Its upper bits count.
func (c *chain) hash(e []uint64) uint64 {
	if c.words == c.value+1 {
		return foldWord(e[c.value])
	}
	return maphash.Bytes(secret, bytesOf(e[c.value:c.words]))
}

// same reports whether two entries become one, but for strings.
func (c *chain) same(a, b []uint64) bool {
	switch {
	case c.keep == keepBuckets:
		return c.bucket(a) == c.bucket(b)
	case c.rep == column.RepWide:
		return c.compare(a, b) == 0
	}
	return a[c.value] == b[c.value]
}

// merge makes e part of the entry last, which does not come after it, if the
// chain keeps only one of the two.
func (c *chain) merge(last, e []uint64) bool {
	if !c.dedupes() || !c.same(last, e) {
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
