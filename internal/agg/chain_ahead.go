package agg

// The ref of a chain's next blob stands at the end of the blob before, which
// its length tells, at its beginning: a chain that is followed alone waits for
// memory twice for each blob. So the chains of some groups are followed
// together, a blob of each at a time: all lengths are read, then all links,
// then all entries, and each step waits but once.

// Measured (BenchmarkHolistic).
const (
	aheadChains = 16      // that are followed together
	aheadWords  = 1 << 16 // of several such chains: half of a second-level cache
)

// followed is a chain of one-word values on the way.
type followed struct {
	link
	ref  uint64   // of a blob; 0: no more
	blob []uint64 // its words
	used int      // how many of them are entries
	at   int      // where in workspace.words these go
}

// valuesOf returns the values of the chain of row i, which are in memory and
// not too many to be gathered. They are the caller's to change until the
// workspace is used for other rows.
func (f *finisher) valuesOf(i int) []uint64 {
	if i >= f.ahead {
		f.first, f.ahead = i, i+f.gatherFrom(i)
	}
	ends, from := f.work.ends, 0
	if i > f.first {
		from = ends[i-f.first-1]
	}
	return f.work.words[from:ends[i-f.first]]
}

// gatherFrom gathers the values of row i and of some behind it, and returns
// how many rows these are.
func (f *finisher) gatherFrom(i int) (rows int) {
	w := f.work
	w.ends, w.open = w.ends[:0], w.open[:0]
	total := 0
	for at := i * f.stride; at < len(f.rows) && rows < aheadChains; at += f.stride {
		k := linkOf(f.slot(0), f.rows[at:][:f.stride])
		n := int(k.values())
		if rows > 0 && (!f.inMemory(k) || total+n > min(aheadWords, f.limits.piece)) {
			break
		}
		w.open = append(w.open, followed{link: k, ref: *k.head(), at: total})
		total += n
		w.ends = append(w.ends, total)
		rows++
	}
	w.words = grow(w.words, total)
	f.follow(w.open)
	w.stop.due(total)
	return rows
}

// follow copies the values of chains to where they go.
func (f *finisher) follow(open []followed) {
	words := f.work.words
	for i := range open {
		if o := &open[i]; o.isInline() {
			words[o.at], o.ref = o.ref, 0
		}
	}
	for open = stillOpen(open); len(open) > 0; open = stillOpen(open) {
		for i := range open {
			o := &open[i]
			o.blob = wordsOf(f.reg.Get(o.ref))
		}
		for i := range open {
			o := &open[i]
			o.used, o.ref = o.usedOf(o.ref, o.blob)
		}
		for i := range open {
			o := &open[i]
			o.at += copy(words[o.at:], o.blob[:o.used])
		}
	}
}

// stillOpen leaves of chains those that have more blobs.
func stillOpen(open []followed) []followed {
	left := open[:0]
	for i := range open {
		if open[i].ref != 0 {
			left = append(left, open[i])
		}
	}
	return left
}
