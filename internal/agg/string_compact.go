package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
)

// compactStrings is compact for strings. Those that remain stay where they are, or move to places
// in front of theirs: no memory is drawn for them.
func (l *Layout) compactStrings(k link, a *arena.Arena) {
	reg := a.Registry()
	w := l.workspace()
	defer l.release(w)
	if k.mostEntries() > max(l.limits.strings(), 3*k.n) || k.packed(reg, &w.stop) {
		k.leave()
		return
	}
	_ = w.index(k, reg, 0, nil)
	if k.dedupes() {
		w.dedupeStrings(k.chain)
	} else {
		w.reduceStrings(k.chain)
		w.keepIndexed(k, reg)
	}
	if w.stop.err != nil {
		k.leave()
		return
	}
	if k.dedupes() {
		w.keepTallies(k.chain)
	}
	*k.compacted(), *k.base() = uint64(len(w.refs)), k.values()
	k.restrict(w, reg)
	for _, ref := range w.refs {
		e := w.entryAt(ref)
		if n := k.entryWords(e); n <= roomMask {
			copy(l.place(k, a, n, k.blobSize(n)), e[:n])
		}
	}
}

// packed reports whether a blob that is too large for room holds several entries, which Move
// packed.
func (k link) packed(reg *arena.Arenas, stop *stop) (some bool) {
	_ = k.refs(reg, stop, func(_ uint64, words []uint64) error {
		some = some || len(words) > roomMask && k.entryWords(words) < len(words)
		return nil
	})
	return some
}

// keepTallies lists the entries of the tallies, which become what these tell.
func (w *workspace) keepTallies(c *chain) {
	w.refs = w.refs[:0]
	for _, t := range w.tallies {
		e := w.entryAt(t.ref)
		if e[c.count] = t.count; c.pos != none {
			e[c.pos] = t.pos
		}
		w.refs = append(w.refs, t.ref)
	}
}

// keepIndexed lists the refs of the index in the order that their entries have in the chain.
func (w *workspace) keepIndexed(k link, reg *arena.Arenas) {
	best := w.items
	w.sortByPlace(best)
	w.refs = w.refs[:0]
	_ = k.refs(reg, &w.stop, func(ref uint64, words []uint64) error {
		for at := 0; at < len(words) && !w.stop.due(longWork(0)); at += k.entryWords(words[at:]) {
			e := item{key: int64(ref) + int64(at)}
			if _, found := slices.BinarySearchFunc(best, e, compareItems); found {
				w.refs = append(w.refs, uint64(e.key))
			}
		}
		return nil
	})
}

// restrict leaves of a chain the entries w.refs, which are in its order. Each that is too long for
// room has a blob of its own, which stays, in front of the others. These blobs are empty then, and
// their entries are to be placed again, one after the other: none comes to lie behind its old
// place, by which time that is not needed any more.
func (k link) restrict(w *workspace, reg *arena.Arenas) {
	var first uint64 // of the other blobs
	last := &first
	for ref := *k.head(); ref != 0; {
		blob := wordsOf(reg.Get(ref))
		link := &blob[len(blob)-trailerWords]
		next := *link
		if len(blob)-trailerWords <= roomMask {
			*last, last = ref, link
		}
		ref = next
	}
	*last = 0
	k.clear()
	last = k.head()
	for _, ref := range w.refs {
		if n := k.entryWords(w.entryAt(ref)); n > roomMask {
			blob := wordsOf(reg.Get(ref))
			*k.slot() = ref + uint64(n) // all of it is in use
			blob[n+1] = 0
			*last, last = ref, &blob[n]
		}
	}
	if *last = first; first != 0 {
		*k.slot() = first
		k.setRoom(len(reg.Get(first))/8 - trailerWords)
	}
}
