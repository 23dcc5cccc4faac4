package agg

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
)

// Strings are sorted where they lie, by an index of items with their refs, so that the memory for
// sorting depends on their number alone: the texts of a group may be most of the memory, and a copy
// of them would not be counted. The strings are not written to either, so that a group may be
// finished again: the count of equal strings is in a tally, not in their entry.

// tally is strings that are the same.
type tally struct {
	ref   uint64 // of the first of their entries
	count uint64
	pos   uint64
}

// stringScratch is the bytes that an indexed string takes while it is sorted: its item twice, a
// tally, and its part of the table of dedupe.
const stringScratch = 80

// strings is how many strings are indexed at once.
func (l *limits) strings() int { return max(l.piece*wordScratch/stringScratch, 1) }

// indexed is the index of strings that are in memory.
type indexed struct {
	items   []item
	tallies []tally
	chunks  [][]byte
}

// index lists the strings of a chain that are in memory, in the order they have there. Whenever it
// has `most` of them it calls full and begins anew; 0: it lists all.
func (w *workspace) index(k link, reg *arena.Arenas, most int, full func() error) error {
	w.chunks = reg.Chunks()
	all := k.mostEntries()
	if most > 0 {
		all = min(all, most)
	}
	w.items = grow(w.items, all)[:0]
	return k.refs(reg, &w.stop, func(ref uint64, words []uint64) error {
		for at := 0; at < len(words); {
			if most > 0 && len(w.items) == most {
				if err := full(); err != nil {
					return err
				}
				w.items = w.items[:0]
			}
			e := words[at:]
			w.items = append(w.items, item{k.key(e), ref + uint64(at)})
			at += k.entryWords(e)
		}
		return nil
	})
}

// entryAt is the entry of a ref, and what lies behind it.
func (x *indexed) entryAt(ref uint64) []uint64 {
	return wordsOf(x.chunks[ref>>32][8*uint64(uint32(ref)):])
}

// refOf is the ref of an item's entry.
func (x *indexed) refOf(c *chain, it item) uint64 {
	if c.dedupes() {
		return x.tallies[it.at].ref
	}
	return it.at
}

// textOf is the string of an item.
func (x *indexed) textOf(c *chain, it item) []byte { return c.text(x.entryAt(x.refOf(c, it))) }

// open makes e what an item stands for.
func (x *indexed) open(c *chain, it item, e *entry) {
	words := x.entryAt(x.refOf(c, it))
	e.words = append(e.words[:0], words[:c.value+1]...)
	e.text, e.far = c.text(words), farPlace{}
	e.size = len(e.text)
	if !c.dedupes() {
		return
	}
	t := &x.tallies[it.at]
	if e.words[c.count] = t.count; c.pos != none {
		e.words[c.pos] = t.pos
	}
}

// reduceStrings is reduce for the strings of the index.
func (w *workspace) reduceStrings(c *chain) {
	switch {
	case c.dedupes():
		w.dedupeStrings(c)
	case c.keep == keepOrder && slices.IsSortedFunc(w.items, compareItems):
		return
	}
	w.sortStrings(c)
	if c.n > 0 {
		w.items = w.items[:min(c.n, len(w.items))]
	}
}

// reduced is reduce for what has been gathered or, of strings, indexed.
func (w *workspace) reduced(c *chain) (q sequence, err error) {
	if c.words > 0 {
		q.words = w.reduce(c, w.words)
	} else {
		w.reduceStrings(c)
		q = sequence{items: w.items, index: &w.indexed}
	}
	return q, w.stop.err
}

// dedupeStrings makes one item of those of equal strings, by a hash table.
func (w *workspace) dedupeStrings(c *chain) {
	size := bits.Len(uint(2 * len(w.items)))
	w.table = grow(w.table, 1<<size)
	table := w.table // numbers of tallies, plus 1
	clear(table)
	w.tallies = w.tallies[:0]
next:
	for _, it := range w.items {
		e := w.entryAt(it.at)
		text := c.text(e)
		if w.stop.due(longWork(2 * len(text))) {
			return
		}
		slot := maphash.Bytes(secret, text) >> (64 - size)
		for ; table[slot] != 0; slot = (slot + 1) & (1<<size - 1) {
			if t := &w.tallies[table[slot]-1]; bytes.Equal(c.text(w.entryAt(t.ref)), text) {
				if t.count += e[c.count]; c.pos != none {
					t.pos = min(t.pos, e[c.pos])
				}
				continue next
			}
		}
		t := tally{ref: it.at, count: e[c.count]}
		if c.pos != none {
			t.pos = e[c.pos]
		}
		w.items[len(w.tallies)] = item{it.key, uint64(len(w.tallies))}
		w.tallies = append(w.tallies, t)
		table[slot] = uint32(len(w.tallies))
	}
	w.items = w.items[:len(w.tallies)]
}

// sortStrings sorts the index.
func (w *workspace) sortStrings(c *chain) {
	w.other = sortItems(w.items, w.other, &w.stop)
	if c.keep == keepOrder {
		return
	}
	w.eachEqual(w.items, func(same []item) {
		if w.sortTexts(c, same, prefixBytes); c.keep == keepGreatest {
			slices.Reverse(same)
		}
	})
}

const (
	// fewTexts is up to how many texts with a prefix in common are compared whole. Comparing more
	// of them takes two cache misses a time, and a key of their next bytes one for each text.
	fewTexts = 16
	// mostPrefix is up to how many bytes of texts are looked at that way.
	mostPrefix = 8 * prefixBytes
	// prefixBytes is how many bytes of a text are a key (prefixOf).
	prefixBytes = 8
)

// sortTexts sorts texts that have the first `at` bytes in common, 0 being what is behind their
// ends. Their keys are others afterwards.
func (w *workspace) sortTexts(c *chain, same []item, at int) {
	if len(same) <= fewTexts || at == mostPrefix {
		slices.SortFunc(same, func(a, b item) int { return w.compareTexts(c, a, b) })
		return
	}
	ended := 0 // texts without further bytes: they come first, the shortest before the others
	for i, it := range same {
		text := w.textOf(c, it)
		if w.stop.due(longWork(0)) {
			return
		}
		if len(text) > at {
			same[i].key = int64(prefixOf(text[at:]) ^ 1<<63)
			continue
		}
		same[i] = same[ended]
		same[ended] = item{int64(len(text)), it.at}
		ended++
	}
	w.other = sortItems(same[:ended], w.other, &w.stop)
	w.other = sortItems(same[ended:], w.other, &w.stop)
	w.eachEqual(same[ended:], func(same []item) { w.sortTexts(c, same, at+prefixBytes) })
}

// compareTexts tells the order of two texts.
func (w *workspace) compareTexts(c *chain, a, b item) int {
	x, y := w.textOf(c, a), w.textOf(c, b)
	if w.stop.due(longWork(min(len(x), len(y)))) {
		return 0
	}
	return bytes.Compare(x, y)
}
