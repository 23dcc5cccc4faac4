package exec

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/extsort"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/trace"
)

// This file has the goroutines that make the result: they fill the pending records that Rows reads.

// produce is one of these goroutines: it makes ranges of partitions until none is left. row is its
// row of the timeline.
func (r *Rows) produce(row trace.Row) {
	var sorter *extsort.Sorter
	if r.order != nil {
		sorter = r.order.sorter()
		defer func() { r.order.finish(r.ctx, sorter) }()
	}
	p := newProducer(r.run, sorter, r.turn)
	var err error
	for err == nil {
		select {
		case r.tokens <- struct{}{}:
		case <-r.ctx.Done():
			err = r.ctx.Err()
			continue
		}
		n := int(r.next.Add(1)) - 1
		if n >= len(r.pending) {
			break
		}
		made := r.run.trace.Span(row, r.run.ranges[n].String())
		err = r.make(p, sorter, n)
		made()
		r.finish(n, err)
	}
	if err := p.close(); err != nil {
		r.finish(len(r.pending)-1, err)
	}
}

// make turns range n into records, or gives it to the sorter if there is
// one.
func (r *Rows) make(p *producer, sorter *extsort.Sorter, n int) (err error) {
	defer invariant.Recovered(&err)
	if p.states != nil {
		return p.states.partition(r.ctx, n, func(recs []arrow.Record) error { return r.put(n, recs) })
	}
	at := uint64(0)
	err = p.partition(r.ctx, n, func(b *column.Batch, l *column.LargeRow) error {
		if sorter != nil {
			at += uint64(b.Rows)
			r.run.sorted.Add(int64(b.Rows))
			if err := p.reserve(l, r.run.plan.Query.ResultExprs()); err != nil {
				return err
			}
			return p.sort(r.ctx, sorter, n, at-uint64(b.Rows), b)
		}
		recs, err := p.records(r.schema, b, l)
		if err == nil {
			err = r.put(n, recs)
		}
		return err
	})
	if err == nil {
		r.run.merged.Add(1)
		r.run.observe(true)
	}
	return r.run.plan.TextError(r.run.learnt, err)
}

// turn waits until the reader waits for range n and holds no record, and no record of the range
// waits: so one large group is in memory at a time.
func (r *Rows) turn(n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.ctx.Err() == nil && !(n == r.at && r.hungry && len(r.pending[n].records) == 0) {
		r.changed.Wait()
	}
	return r.ctx.Err()
}

// put adds records to those of range n. It waits while too many bytes of records wait for the
// reader.
func (r *Rows) put(n int, recs []arrow.Record) error {
	size := int64(0)
	for _, rec := range recs {
		size += column.RecordBytes(rec)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.ctx.Err() == nil && r.mustWait(n, size) {
		r.changed.Wait()
	}
	if err := r.ctx.Err(); err != nil {
		release(recs)
		return err
	}
	r.waiting += size
	r.pending[n].records = append(r.pending[n].records, recs...)
	r.changed.Broadcast()
	return nil
}

// mustWait reports whether there is no room for another record of range n. The
// range that the reader waits for always has room for one. Half of the room is
// for pending records, the other half for the records that the reader has.
func (r *Rows) mustWait(n int, size int64) bool {
	if n == r.at && len(r.pending[n].records) == 0 {
		return false
	}
	return r.waiting+size > r.run.plan.Memory.Output/2
}

// finish says that range n is complete.
func (r *Rows) finish(n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.pending[n]
	s.done = true
	if s.err == nil {
		s.err = err
	}
	r.changed.Broadcast()
}
