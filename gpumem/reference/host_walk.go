package reference

// Get takes a free page; ok is false if there is none (PAGE-TRUE). Its content
// is whatever it was.
func (w *Walker) Get() (page uint32, ok bool) {
	steps := uint64(0)
	for word := w.last; steps <= uint64(w.pool.limit); word = w.random() {
		steps++
		if page, ok = w.pool.claimOne(word); ok {
			w.last = word
			w.count(steps, true)
			return page, true
		}
	}
	page, ok = w.sweep(w.pool.takeAny)
	w.count(steps, ok)
	return page, ok
}

// GetRun takes n consecutive free pages, n at least 1; ok is false if there are
// none. The walk looks for runs that begin in a word; they may end in another.
func (w *Walker) GetRun(n int) (first uint32, ok bool) {
	steps := uint64(0)
	for word := w.last; steps <= uint64(w.pool.limit); word = w.random() {
		steps++
		if first, ok = w.pool.takeRun(word, 1, n); ok {
			w.last = (int(first) + n - 1) / hostWordPages
			w.count(steps, true)
			return first, true
		}
	}
	first, ok = w.sweep(func(int) (uint32, bool) { return w.pool.takeRun(0, len(w.pool.words), n) })
	w.count(steps, ok)
	return first, ok
}

func (w *Walker) count(steps uint64, ok bool) {
	w.stats.Gets++
	w.stats.Steps += steps
	w.stats.Most = max(w.stats.Most, steps)
	if !ok {
		w.stats.Refused++
	}
}

// sweep lets take look at all words, again as long as pages were put meanwhile
// and it found none: what was put may lie behind it. Puts count up only while
// somebody sweeps, so that they share no counter otherwise. A new turn needs a
// put of another call, or pages that another call took from a run being tried.
func (w *Walker) sweep(take func(from int) (uint32, bool)) (page uint32, ok bool) {
	p := w.pool
	p.at()
	p.sweepers.Add(1)
	for {
		w.stats.Sweeps++
		p.at()
		puts := p.puts.Load()
		if page, ok = take(w.last); ok {
			w.last = int(page / hostWordPages)
			break
		}
		p.at()
		if p.puts.Load() == puts {
			break
		}
	}
	p.at()
	p.sweepers.Add(-1)
	return page, ok
}

// takeAny takes the first free page from a word on, and around.
func (p *HostPool) takeAny(from int) (page uint32, ok bool) {
	for i := range p.words {
		word := from + i
		if word >= len(p.words) {
			word -= len(p.words)
		}
		if page, ok = p.claimOne(word); ok {
			return page, true
		}
	}
	return 0, false
}
