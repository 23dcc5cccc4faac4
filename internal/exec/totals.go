package exec

import (
	"errors"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
)

// This file is the row of all rows (Query.Totals): the one group of a grouping set without keys.
// The producer that merges its partition removes it before the filter on groups, the order and the
// limit, and the reader puts it out behind all others.

// totals is that row.
type totals struct {
	mu    sync.Mutex
	found bool
	recs  []arrow.Record // of one row; none: it was not found yet, or was given out
}

// pop removes the record, which is the caller's from now on; nil: there is none.
func (t *totals) pop() arrow.Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.recs) == 0 {
		return nil
	}
	rec := t.recs[0]
	t.recs = nil
	return rec
}

// isFound reports whether the row was made.
func (t *totals) isFound() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.found
}

// takeTotal takes the row out of some groups of range n, if it is among them, and returns those
// before and behind it.
func (p *producer) takeTotal(n int, rows []uint64) (before, behind []uint64, err error) {
	if p.r.plan.Query.Totals < 0 || p.r.totals.isFound() {
		return rows, nil, nil
	}
	at, stride := p.from.cfg.FindKey(rows, p.totalKey), p.from.cfg.Stride
	if at < 0 {
		return rows, nil, nil
	}
	row := rows[at : at+stride]
	recs, err := p.totalRecords(row)
	if errors.Is(err, agg.ErrBatchFull) {
		recs, err = p.largeTotal(n, row)
	}
	if err != nil {
		return nil, nil, err
	}
	p.r.totals.mu.Lock()
	defer p.r.totals.mu.Unlock()
	p.r.totals.found, p.r.totals.recs = true, recs
	return rows[:at], rows[at+stride:], nil
}

// totalRecords makes the record of the row.
func (p *producer) totalRecords(row []uint64) ([]arrow.Record, error) {
	b, err := p.totalBatch(row)
	if err != nil {
		return nil, err
	}
	return p.records(p.r.schema(), b, p.large)
}

// totalBatch makes the columns of the row.
func (p *producer) totalBatch(row []uint64) (*column.Batch, error) {
	p.keys.Begin(row)
	p.batch.Rows = 1
	for _, s := range p.steps {
		if err := p.compute(s.cols, row); err != nil {
			return nil, err
		}
	}
	return &p.batch, nil
}

// largeTotal is totalRecords for a row that is too large for a batch.
func (p *producer) largeTotal(n int, row []uint64) (recs []arrow.Record, err error) {
	err = p.makeLarge(n, row, func(*column.LargeRow) error {
		recs, err = p.totalRecords(row)
		return err
	})
	return recs, err
}

// giveTotal makes the row of all rows current, once.
func (r *Rows) giveTotal() bool {
	if r.run.plan.Query.Totals < 0 {
		return false
	}
	// the limit may have left out its partition
	for r.err == nil && !r.ended && !r.run.totals.isFound() {
		release(r.queue)
		r.queue = nil
		r.fetch()
	}
	if r.err != nil {
		return false
	}
	if r.rec = r.run.totals.pop(); r.rec == nil {
		return false
	}
	r.groups++
	return true
}
