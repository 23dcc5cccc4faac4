package exec

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/query"
	"github.com/gagg-dev/gagg/internal/trace"
)

// Rows is the result of a query, an Arrow array.RecordReader: the record of
// Record is valid until the next call of Next unless it is retained. It is
// for one goroutine.
//
// Partitions are merged and turned into records by several goroutines ahead
// of the reader and come in order. How far ahead is bounded: in partitions,
// and in the bytes of the records that wait. The partition that the reader
// waits for is never held up.
type Rows struct {
	refs   atomic.Int64
	run    *run
	schema *arrow.Schema
	// of the run of a query in subqueries, which this is the last run of; nil: it is one run
	subrun *subrun
	ctx    context.Context
	cancel context.CancelFunc
	tokens chan struct{} // one for each range being made or waiting
	next   atomic.Int64  // the next range to make

	mu      sync.Mutex // guards what follows up to changed
	pending []pending  // by range of partitions
	at      int        // the range that is read
	waiting int64      // bytes of the pending records
	hungry  bool       // the reader waits for that range, and has released its records
	changed sync.Cond  // on mu

	order  *ordering      // nil: the result is in no order
	queue  []arrow.Record // records taken and not yet given out
	ended  bool           // no more will be
	skip   int64          // rows to pass over before the first is given out
	left   int64          // rows that may still be given out; -1: all
	rec    arrow.Record
	err    error
	groups int64
	end    time.Time
}

// pending is the records of a range of partitions that were made and not read yet.
type pending struct {
	records []arrow.Record // none if they are to be sorted
	done    bool
	err     error
}

func newRows(ctx context.Context, r *run) *Rows {
	rows := &Rows{run: r, schema: r.resultSchema(), skip: r.plan.Query.Offset, left: -1}
	rows.changed.L = &rows.mu
	rows.refs.Store(1)
	rows.ctx, rows.cancel = context.WithCancel(ctx)
	switch {
	case r.plan.Query.Limit == query.NoRows:
		rows.left = 0
	case r.plan.Query.Limit > 0:
		rows.left = r.plan.Query.Limit
	}
	if len(r.plan.Query.Order) > 0 {
		rows.order = &ordering{run: r, keep: rows.wanted()}
	}
	rows.pending = make([]pending, len(r.ranges))
	rows.tokens = make(chan struct{}, 2*r.plan.Threads)
	context.AfterFunc(rows.ctx, rows.wake)
	for maker := range min(r.plan.Threads, len(r.ranges)) {
		r.makers.Go(func() { rows.produce(trace.Maker(maker)) })
	}
	return rows
}

// wanted is how many of the first rows matter; -1: all.
func (r *Rows) wanted() int64 {
	if r.left <= 0 {
		return r.left
	}
	return r.left + min(r.skip, math.MaxInt64-r.left)
}

// wake has all waiting goroutines check their condition again.
func (r *Rows) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed.Broadcast()
}

// Schema is the schema of the records.
func (r *Rows) Schema() *arrow.Schema { return r.schema }

// Sorted is the terms that the records are sorted by, as far as they are columns of them.
func (r *Rows) Sorted() []query.Term { return r.run.plan.Query.Sorted() }

// Pivot says which columns a pivot of the rows is made of.
func (r *Rows) Pivot() query.Pivot { return r.run.plan.Query.Pivot }

// Next makes the next record current; false at the end or on an error.
func (r *Rows) Next() bool {
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
	for r.err == nil && r.left != 0 {
		if len(r.queue) > 0 {
			if r.skipOffset() {
				continue
			}
			r.give()
			return true
		}
		if r.ended {
			break
		}
		r.fetch()
	}
	if r.giveTotal() {
		return true
	}
	if r.end.IsZero() {
		r.end = time.Now()
		r.stop() // so that Stats is complete
	}
	return false
}

// stop ends the making of groups, and waits for that.
func (r *Rows) stop() {
	r.run.released.Store(true)
	if r.run.opt.LastRun {
		hostmem.Leave()
	}
	r.cancel()
	r.run.makers.Wait()
}

// skipOffset removes rows of the offset from the queue; true if those were the
// whole first record.
func (r *Rows) skipOffset() bool {
	first := r.queue[0]
	rows := first.NumRows()
	switch {
	case r.skip >= rows:
		r.skip -= rows
		r.queue = r.queue[1:]
		first.Release()
		return true
	case r.skip > 0:
		r.queue[0] = sliceRecord(first, r.skip, rows)
		r.skip = 0
		first.Release()
	}
	return false
}

// give makes the first record of the queue current.
func (r *Rows) give() {
	r.rec, r.queue = r.queue[0], r.queue[1:]
	if r.left >= 0 && r.rec.NumRows() > r.left {
		slice := sliceRecord(r.rec, 0, r.left)
		r.rec.Release()
		r.rec = slice
	}
	if r.left > 0 {
		r.left -= r.rec.NumRows()
	}
	r.groups += r.rec.NumRows()
	r.run.putOut.Store(r.groups)
	r.run.observe(true)
}

// fetch puts records of the next partition, or the next of all in order, into
// the queue.
func (r *Rows) fetch() {
	if r.order == nil {
		r.queue = r.receive().records
		r.ended = r.at == len(r.pending) // at is the reader's own to change
		return
	}
	if r.order.merger == nil {
		r.collect()
	}
	if r.err == nil {
		r.queue, r.err = r.order.next(r.ctx)
		r.err = Classify(r.err)
		r.ended = len(r.queue) == 0
	}
}

// collect waits until all partitions are with the sorters, and they have
// ended.
func (r *Rows) collect() {
	for r.err == nil && r.at < len(r.pending) {
		r.receive()
	}
	if r.err == nil {
		r.run.makers.Wait()
		r.err = Classify(r.order.begin())
	}
	if r.err == nil {
		r.order.skip, r.skip = r.skip, 0
		r.run.makers.Go(func() { r.order.merge(r.ctx, r.schema) })
	}
}

// receive waits for something of the next partition and takes it.
func (r *Rows) receive() pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.pending[r.at]
	r.hungry = true
	r.changed.Broadcast()
	for len(s.records) == 0 && !s.done && r.ctx.Err() == nil {
		r.changed.Wait()
	}
	r.hungry = false
	got := *s
	s.records = nil
	for _, rec := range got.records {
		r.waiting -= column.RecordBytes(rec)
	}
	switch {
	case r.ctx.Err() != nil && !got.done:
		r.err = context.Cause(r.ctx)
	case got.done:
		err := got.err
		if ended := r.ctx.Err(); ended != nil && errors.Is(err, ended) {
			err = context.Cause(r.ctx) // a maker that was stopped does not report the cause
		}
		r.err = Classify(err)
		<-r.tokens
		r.at++
	}
	r.changed.Broadcast()
	return got
}

// Record is the current record.
func (r *Rows) Record() arrow.Record { return r.rec }

// Err is the error that ended the rows, if one did.
func (r *Rows) Err() error { return r.err }

// Retain adds a reference.
func (r *Rows) Retain() { r.refs.Add(1) }

// Release drops a reference; the last one stops all goroutines, closes the
// input and removes spill files.
func (r *Rows) Release() {
	if r.refs.Add(-1) != 0 {
		return
	}
	r.stop()
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
	release(r.queue)
	r.queue = nil
	if rec := r.run.totals.pop(); rec != nil {
		rec.Release()
	}
	for i := range r.pending {
		release(r.pending[i].records)
	}
	r.pending = nil
	if r.order != nil {
		r.err = errors.Join(r.err, r.order.close())
	}
	r.err = Classify(errors.Join(r.err, r.run.close(), r.run.temp.close()))
	r.run.trace.Close()
}
