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
	block int      // bytes
	words []uint64 // not yet written
	run   run
}

func (l *Layout) newRun() *runWriter {
	return &runWriter{to: l.runs, block: l.limits.block, run: make(run, runHeader)}
}

// add appends words to the run.
func (w *runWriter) add(words []uint64) error {
	w.run[0] += uint64(len(words))
	w.words = append(w.words, words...)
	for len(w.words) >= w.block/8 {
		if err := w.write(w.block / 8); err != nil {
			return err
		}
	}
	return nil
}

func (w *runWriter) write(n int) error {
	ref, err := w.to.Write(bytesOf(w.words[:n]))
	if err != nil {
		return err
	}
	w.run = append(w.run, ref)
	w.run[1]++
	w.words = append(w.words[:0], w.words[n:]...)
	return nil
}

// finish returns the run.
func (w *runWriter) finish() (run, error) {
	if len(w.words) > 0 {
		if err := w.write(len(w.words)); err != nil {
			return nil, err
		}
	}
	return w.run, nil
}

// writeEntries writes the entries of a chain that are in memory as runs, as
// many of them at once as may be sorted at once.
func (l *Layout) writeEntries(k link, reg *arena.Arenas, w *workspace, runs []run) ([]run, error) {
	flush := func() error {
		if len(w.words) == 0 {
			return nil
		}
		to := l.newRun()
		if err := to.add(w.reduce(k.chain, w.words)); err != nil {
			return err
		}
		r, err := to.finish()
		runs, w.words = append(runs, r), w.words[:0]
		return err
	}
	w.words = w.words[:0]
	err := k.blobs(reg, func(words []uint64) error {
		if len(w.words) > 0 && len(w.words)+len(words) > l.limits.piece {
			if err := flush(); err != nil {
				return err
			}
		}
		w.words = append(w.words, words...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return runs, flush()
}

// mergeRuns merges the shortest runs until few enough are left to be merged at
// once.
func (l *Layout) mergeRuns(c *chain, runs []run) ([]run, error) {
	for len(runs) > l.limits.fanIn {
		slices.SortStableFunc(runs, func(a, b run) int { return compareInt(int64(a[0]), int64(b[0])) })
		s := stream{chain: c}
		for _, r := range runs[:l.limits.fanIn] {
			s.addRun(r, l.runs)
		}
		to := l.newRun()
		for {
			e, err := s.next()
			if err != nil {
				return nil, err
			}
			if e == nil {
				break
			}
			if err := to.add(e); err != nil {
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
