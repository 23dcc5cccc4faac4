package agg

import "github.com/gagg-dev/gagg/internal/arena"

// combineChain appends the entries of the chain of src to that of dst.
func (l *Layout) combineChain(s *slot, dst, src []uint64, take taker) {
	k, from := linkOf(s, dst), linkOf(s, src)
	n := from.values()
	if n == 0 {
		return
	}
	a := take.to
	switch {
	case from.isInline():
		l.append(k, a, src[s.hot:s.hot+s.chain.words])
	case !from.hasBlobs():
	case take.copies:
		var never stop // it must not stop: a chain copied in part looks like a whole one
		_ = from.blobs(take.reg, &never, func(words []uint64) error {
			l.append(k, a, words)
			return nil
		})
	default:
		l.takeBlobs(k, from, a)
	}
	*k.tail() += n << countShift
	if k.runs {
		l.takeRuns(k, from, take)
	}
	if k.bounded() {
		k.setBound(min(k.bound(), from.bound()))
	}
	if k.compacts() {
		*k.base() += *from.base()
		*k.compacted() += *from.compacted()
		if k.hasBlobs() && l.compactDue(k) {
			l.compact(k, a)
		}
	}
}

// append appends entries that lie side by side without counting them.
func (l *Layout) append(k link, a *arena.Arena, words []uint64) {
	for len(words) > 0 {
		n := len(words)
		if room := k.room(); room > 0 && room < n && k.words > 0 {
			n = room / k.words * k.words
		}
		if n == 0 {
			n = len(words)
		}
		size := max(n, min(2*n, blobWords))
		if k.words > 0 && !k.hasBlobs() {
			size = max(n, firstEntries*k.words)
		}
		copy(l.place(k, a, n, size), words[:n])
		words = words[n:]
	}
}

// takeBlobs links the blobs of from behind those of k.
func (l *Layout) takeBlobs(k, from link, a *arena.Arena) {
	if !k.hasBlobs() {
		e, n := [2]uint64{*k.head(), *k.slot()}, 0
		if k.isInline() {
			n = k.words
		}
		*k.head(), *k.slot() = *from.head(), *from.slot()
		k.setRoom(from.room())
		l.append(k, a, e[:n])
		return
	}
	// Empty blobs behind the tail of k go behind those of from.
	chunks := a.Registry().Chunks()
	end := *k.slot() + uint64(k.room())
	*wordAt(chunks, end+1) = uint64(k.room())
	empty := *wordAt(chunks, end)
	*wordAt(chunks, end) = *from.head()
	*k.slot() = *from.slot()
	k.setRoom(from.room())
	if empty == 0 {
		return
	}
	last := wordAt(chunks, *k.slot()+uint64(k.room()))
	for *last != 0 {
		blob := wordsOf(a.Get(*last))
		last = &blob[len(blob)-trailerWords]
	}
	*last = empty
}

// takeRuns puts the runs of from in front of those of k.
func (l *Layout) takeRuns(k, from link, take taker) {
	for ref := *from.runList(); ref != 0; {
		blob := take.reg.Get(ref)
		words := wordsOf(blob)
		link := &words[len(words)-trailerWords]
		next := *link
		if take.copies {
			copied := take.to.Put(blob)
			words = wordsOf(take.to.Get(copied))
			words[len(words)-trailerWords] = *k.runList()
			*k.runList() = copied
		} else {
			*link = *k.runList()
			*k.runList() = ref
		}
		ref = next
	}
}

// spareArena returns an empty arena for the few words that compacting a chain
// may need while it is moved. It goes back by
// putSpare.
func (l *Layout) spareArena(reg *arena.Arenas) *arena.Arena {
	if a, ok := l.pools.arenas.Get().(*arena.Arena); ok && a.Registry() == reg {
		return a
	}
	return reg.New()
}

func (l *Layout) putSpare(a *arena.Arena) {
	a.Reset()
	l.pools.arenas.Put(a)
}

// moveChain copies a chain to to: as one blob, or as runs if it is long.
func (l *Layout) moveChain(s *slot, row []uint64, from *arena.Arenas, to arena.Putter) error {
	k := linkOf(s, row)
	if k.hasBlobs() {
		stop := l.stop()
		n := k.entries(from, &stop)
		if k.compacts() && 8*n > l.limits.inline && n <= l.limits.piece {
			a := l.spareArena(from)
			defer l.putSpare(a) // nothing refers to it once the chain has moved
			l.compact(k, a)
			n = k.entries(from, &stop)
		}
		if stop.err != nil {
			return stop.err
		}
		if k.runs && 8*n > l.limits.inline {
			return l.moveToRuns(k, from, to)
		}
		if err := l.flatten(k, from, to, n); err != nil {
			return err
		}
	}
	if k.runs && *k.runList() != 0 {
		return l.putRuns(k, l.runsOf(k, from), to)
	}
	return nil
}

// flatten copies a chain of n words to to as one blob, or as no blob if it has
// one short entry.
func (l *Layout) flatten(k link, from *arena.Arenas, to arena.Putter, n int) error {
	if 8*(n+trailerWords) > maxBlobBytes {
		return &ChainError{Bytes: 8 * n}
	}
	w := l.workspace()
	defer l.release(w)
	words := w.gather(k, from)
	switch {
	case w.stop.err != nil:
		return w.stop.err
	case n == 0:
		k.clear()
	case k.words == n && n <= 2:
		*k.head(), *k.slot() = words[0], 0
		if n == 2 {
			*k.slot() = words[1]
		}
		k.setRoom(0)
		*k.tail() |= chainInline
	default:
		w.words = append(words, 0, 0)
		ref := to.Put(bytesOf(w.words))
		*k.head(), *k.slot() = ref, ref+uint64(n)
		k.setRoom(0)
	}
	return nil
}

// maxBlobBytes keeps blobs below what the arena takes as one value.
const maxBlobBytes = 1<<32 - 1<<10

// moveToRuns writes the entries in memory as runs, beside those that the
// chain has.
func (l *Layout) moveToRuns(k link, from *arena.Arenas, to arena.Putter) error {
	w := l.workspace()
	defer l.release(w)
	runs, err := l.writeEntries(k, from, w, l.runsOf(k, from))
	if err != nil {
		return err
	}
	if runs, err = l.mergeRuns(k.chain, runs, &w.stop); err != nil {
		return err
	}
	k.clear()
	if k.compacts() {
		*k.compacted(), *k.base() = 0, k.values()
	}
	return l.putRuns(k, runs, to)
}

// runsOf lists the runs of a chain.
func (l *Layout) runsOf(k link, reg *arena.Arenas) []run {
	if !k.runs {
		return nil
	}
	var runs []run
	for ref := *k.runList(); ref != 0; {
		words := wordsOf(reg.Get(ref))
		end := len(words) - trailerWords
		runs = append(runs, splitRuns(words[:end])...)
		ref = words[end]
	}
	return runs
}

// putRuns writes the list of the runs of a chain to to.
func (l *Layout) putRuns(k link, runs []run, to arena.Putter) error {
	stop := l.stop()
	runs, err := l.mergeRuns(k.chain, runs, &stop)
	if err != nil {
		return err
	}
	var list []uint64
	for _, r := range runs {
		list = append(list, r...)
	}
	*k.runList() = to.Put(bytesOf(append(list, 0, 0)))
	return nil
}

// rebaseChain adds add to the refs of a chain that was moved.
func rebaseChain(s *slot, row []uint64, add uint64) {
	k := linkOf(s, row)
	if k.hasBlobs() {
		*k.head() += add
		*k.slot() += add
	}
	if k.runs && *k.runList() != 0 {
		*k.runList() += add
	}
}
