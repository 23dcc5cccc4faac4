package cpu

import (
	"math"
	"slices"

	"github.com/gagg-dev/gagg/feedback"
)

// This file is how a worker decides what table it keeps: one that grows with its groups, one in the
// cache, or none.

const (
	// reserveFactor is how much more room a table gets than it is expected
	// to need: estimates are a few per cent off.
	reserveFactor = 1.1
	// reserveMost is how many times its present groups a table gets room for
	// at most: while most rows are new groups, the estimate means little.
	reserveMost = 4
	// leastReduction is the least rows for each group for which a table of long rows grows:
	// experiment 2.
	leastReduction = 2.5
	// narrowStride is up to how many words a row is as short as those that TableConfig was measured
	// with.
	narrowStride = 4
	// topReduction is leastReduction where groups of the greatest rank alone are wanted: from
	// tables the others need not be merged.
	topReduction = 1.3
	// longReduction is leastReduction of rows whose values are longer than they are, and longRows
	// how many times as many of these are seen before a table is judged, and between two judgements
	// without one (docs/experiments/0015).
	longReduction = 1.2
	longRows      = 8
)

// thresholds are what decides about the worker's table. A row that the table does not save is
// written and read once more: the longer it is the sooner the table pays. Values that are longer
// than their row, as long strings are, must be stored by either way, and without a table again for
// each row: so it is not given up before many rows have been seen.
func (w *Worker) thresholds() feedback.TableConfig {
	t := w.cfg.Table
	switch {
	case math.IsInf(t.MinReduction, 1): // no table is to grow
	case w.paired():
		t.MinReduction = 0
	case w.longValues():
		t.MinReduction, t.MinRows = min(t.MinReduction, longReduction), longRows*t.MinRows
	case w.cfg.TopN != nil && w.cfg.Keys.HasRefs():
		t.MinReduction = min(t.MinReduction, topReduction)
	case w.cfg.Keys.HasRefs():
		t.MinReduction = min(t.MinReduction, leastReduction)
	default:
		t.MinReduction = min(t.MinReduction, max(leastReduction, t.MinReduction*narrowStride/float64(w.cfg.Stride)))
	}
	return t
}

// paired reports whether the numbers of the table's groups are in pairs, which become rows with the
// texts of their groups when these leave the table (PAIRS-TABLE). So it grows even if it saves
// nothing: with nearly as many groups as rows either way takes the same time.
func (w *Worker) paired() bool {
	return w.sets != nil && slices.ContainsFunc(w.sets.of, func(s set) bool { return s.pairs != nil })
}

// longValues reports whether the values that rows refer to are longer than the rows.
func (w *Worker) longValues() bool {
	rows := int64(w.table.n) + w.store.placed
	return rows > 0 && w.store.arena.Bytes() >= rows*int64(8*w.cfg.Stride)
}

// judged is the counts of a table when it was judged last.
type judged struct {
	rows   int64
	groups uint32
	before float64 // feedback.Observation.AtRandom
	grown  float64 // feedback.Observation.Grown
}

// observe returns what the rows of a table say of the groups of `total` rows.
func (w *Worker) observe(total int64) feedback.Observation {
	seen, last := w.sizes.observe(w.rows, w.table.n, w.judged.before), w.judged
	if last.rows > 0 && w.rows > last.rows {
		seen.Lately = float64(w.table.n-last.groups) / float64(w.rows-last.rows)
	}
	seen.Grown = last.grown
	w.judged = judged{rows: w.rows, groups: w.table.n, before: seen.AtRandom(total)}
	if last.before > 0 {
		w.judged.grown = w.judged.before / last.before
	}
	return seen
}

// firstCheck is at how many rows a table is looked at for the first time: before it is judged, so
// that it is seen whether more and more groups come (feedback.Observation.Before).
func (r *Run) firstCheck() int64 {
	if r.accelerator != nil { // to which most tables go at their first check
		return r.cfg.Table.MinRows
	}
	return r.cfg.Table.MinRows / 2
}

// judge decides whether the table is worth keeping, each time the rows seen have doubled.
func (w *Worker) judge() error {
	w.nextCheck = 2 * w.rows
	total, thresholds := w.rowsEach(), w.thresholds()
	seen := w.observe(total)
	switch {
	case w.apart():
	case w.table.inCache():
		return w.regrow()
	case thresholds.DecideTable(seen, total) == feedback.KeepTable:
		w.table.growTo(int(min(seen.Expected(total)*reserveFactor, reserveMost*float64(w.table.n))))
		return nil
	case w.limiter == nil && !w.cfg.States.HasChains():
		w.expected = seen.Expected(w.rowsAll())
		return w.cache()
	}
	return w.flushForGood()
}

// flushForGood empties the table and gives it up.
func (w *Worker) flushForGood() error {
	err := w.flush()
	w.giveUpTable()
	return err
}

// without is the counts of a worker without a table that grows when it was judged last.
type without struct {
	rows   int64   // that passed the filter
	groups float64 // about
}

// regrow has a worker with long values take a table that grows again, where the rows since it was
// last asked have brought few groups that had not come before: parts of a file differ, and what its
// first rows tell is not for good. It decides only after every longRows*MinRows rows.
func (w *Worker) regrow() error {
	thresholds := w.thresholds()
	rows := w.selected - w.without.rows
	if w.without.rows == 0 || rows < longRows*w.cfg.Table.MinRows || w.run.accelerator != nil || !w.longValues() {
		return nil
	}
	groups := w.sketch.Estimate()
	more := max(groups-w.without.groups, 0)
	w.without = without{w.selected, groups}
	if thresholds.DecideGrow(rows, more) == feedback.Scatter {
		return nil
	}
	t, err := w.newTable()
	if refused(err) {
		return nil
	}
	if err == nil && w.phase == phaseTable {
		err = w.flush()
	}
	if err != nil {
		t.drop()
		return err
	}
	w.table.drop()
	w.table, w.phase, w.without = t, phaseTable, without{}
	w.restart()
	return nil
}

// cache keeps the table in the cache from now on: it is flushed when it is full, and combines the
// rows of large groups and of those that come close together.
func (w *Worker) cache() error {
	rows, groups := w.rows, int64(w.table.n)
	if err := w.flush(); err != nil {
		return err
	}
	w.without = without{w.selected, w.sketch.Estimate()}
	if w.cfg.Table.DecideCached(rows, groups) == feedback.Scatter {
		w.giveUpTable()
		return nil
	}
	err := w.table.cache(w.cfg.Table.CacheBytes)
	if refused(err) {
		w.giveUpTable()
		return nil
	}
	return err
}

// giveUpTable has the rows of batches placed directly from now on.
func (w *Worker) giveUpTable() {
	w.table.drop()
	w.phase = phaseScatter
}

// decideFlush says whether the table is used again, once its groups are flushed.
func (w *Worker) decideFlush(rows, groups int64) feedback.TableDecision {
	if w.table.inCache() {
		return w.cfg.Table.DecideCached(rows, groups)
	}
	return w.cfg.Table.DecideFlush(rows, groups)
}
