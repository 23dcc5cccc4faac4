package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
)

// A run is entries of a chain, sorted, in blocks of Options.Runs; an entry may
// lie across blocks. A row knows its runs by a list:
//
//	list = run, run, ...
//	run  = words in all | number of blocks | ref of each block
//
// The list is kept as blobs (see chain.go) that are full.

type run []uint64

const runHeader = 2

// splitRuns takes a list apart.
func splitRuns(list []uint64) []run {
	var runs []run
	for len(list) > 0 {
		n := runHeader + int(list[1])
		runs = append(runs, run(list[:n:n]))
		list = list[n:]
	}
	return runs
}

// runWriter writes a run.
type runWriter struct {
	to    Runs
	stop  *stop
	block int      // bytes
	words []uint64 // not yet written
	run   run
}

func (l *Layout) newRun(stop *stop) *runWriter {
	return &runWriter{to: l.runs, stop: stop, block: l.limits.block, run: make(run, runHeader)}
}

// add appends words to the run.
func (w *runWriter) add(words []uint64) error {
	w.run[0] += uint64(len(words))
	for len(words) > 0 {
		n := min(len(words), w.block/8-len(w.words))
		w.words = append(w.words, words[:n]...)
		words = words[n:]
		if len(w.words) == w.block/8 {
			if err := w.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

// addSequence appends entries that are in memory.
func (w *runWriter) addSequence(c *chain, q sequence) error {
	var e entry
	reader := farReader{stop: w.stop}
	for _, it := range q.items {
		q.index.open(c, it, &e)
		if err := w.addEntry(&e, &reader); err != nil {
			return err
		}
	}
	return w.add(q.words)
}

// addEntry appends an entry to the run; r reads what of it is not in memory.
func (w *runWriter) addEntry(e *entry, r *farReader) error {
	if err := w.add(e.words); err != nil {
		return err
	}
	for at := 0; at < e.size; {
		piece, err := r.piece(e, at)
		if err != nil {
			return err
		}
		if err := w.add(wordsOf(piece)); err != nil { // all pieces but the last have whole words
			return err
		}
		if rest := piece[len(piece)&^7:]; len(rest) > 0 {
			var last [8]byte
			copy(last[:], rest)
			if err := w.add(wordsOf(last[:])); err != nil {
				return err
			}
		}
		at += len(piece)
	}
	return nil
}

func (w *runWriter) write() error {
	if err := w.stop.after(w.block / 8); err != nil {
		return err
	}
	ref, err := w.to.Write(bytesOf(w.words))
	if err != nil {
		return err
	}
	w.run = append(w.run, ref)
	w.run[1]++
	w.words = w.words[:0]
	return nil
}

// finish returns the run.
func (w *runWriter) finish() (run, error) {
	if len(w.words) > 0 {
		if err := w.write(); err != nil {
			return nil, err
		}
	}
	return w.run, nil
}

// writeEntries writes the entries of a chain that are in memory as runs, as
// many of them at once as may be sorted at once.
func (l *Layout) writeEntries(k link, reg *arena.Arenas, w *workspace, runs []run) ([]run, error) {
	flush := func() (err error) {
		runs, err = l.writeSorted(k.chain, w, runs)
		return err
	}
	if k.words == 0 {
		if err := w.index(k, reg, l.limits.strings(), flush); err != nil {
			return nil, err
		}
		return runs, flush()
	}
	w.words = w.words[:0]
	err := k.blobs(reg, &w.stop, func(words []uint64) error {
		if len(w.words) > 0 && len(w.words)+len(words) > l.limits.piece {
			if err := flush(); err != nil {
				return err
			}
			w.words = w.words[:0]
		}
		w.words = append(w.words, words...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return runs, flush()
}

// writeSorted writes the entries that have been gathered, or indexed, as a run, if there are any.
func (l *Layout) writeSorted(c *chain, w *workspace, runs []run) ([]run, error) {
	if len(w.words) == 0 && c.words > 0 || len(w.items) == 0 && c.words == 0 {
		return runs, nil
	}
	q, err := w.reduced(c)
	if err != nil {
		return nil, err
	}
	to := l.newRun(&w.stop)
	if err := to.addSequence(c, q); err != nil {
		return nil, err
	}
	r, err := to.finish()
	return append(runs, r), err
}

// mergeRuns merges the shortest runs until few enough are left to be merged at
// once.
func (l *Layout) mergeRuns(c *chain, runs []run, stop *stop) ([]run, error) {
	for len(runs) > l.limits.fanIn {
		slices.SortStableFunc(runs, func(a, b run) int { return compareInt(int64(a[0]), int64(b[0])) })
		var s stream
		s.reset(l, c, stop)
		for _, r := range runs[:l.limits.fanIn] {
			s.addRun(l, r)
		}
		to, reader := l.newRun(stop), l.farReader(nil, stop)
		for {
			e, err := s.next()
			if err != nil {
				return nil, err
			}
			if e == nil {
				break
			}
			if err := to.addEntry(e, &reader); err != nil {
				return nil, err
			}
		}
		merged, err := to.finish()
		if err != nil {
			return nil, err
		}
		runs = append(slices.Clone(runs[l.limits.fanIn:]), merged)
	}
	return runs, nil
}
