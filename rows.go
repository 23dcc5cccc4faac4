package gagg

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
)

var _ array.RecordReader = (*Rows)(nil)

// Rows is the result of a query, an Arrow array.RecordReader: the record of
// Record is valid until the next call of Next unless it is retained. It is
// for one goroutine.
//
// Partitions are merged and turned into records by several goroutines ahead
// of the reader, a bounded number of them, and come in order.
type Rows struct {
	refs   atomic.Int64
	run    *run
	schema *arrow.Schema
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	slots  []chan outcome // by partition
	tokens chan struct{}  // one for each partition being made or waiting
	next   atomic.Int64   // the next partition to make

	at     int            // the next partition to read
	queue  []arrow.Record // records made and not yet given out
	sorted bool           // the queue holds all that is left
	left   int64          // rows that may still be given out; -1: all
	rec    arrow.Record
	err    error
	groups int64
	ended  time.Time
}

// outcome is a partition as records, or as parts to be sorted.
type outcome struct {
	records []arrow.Record
	parts   []part
	err     error
}

func newRows(ctx context.Context, r *run) *Rows {
	rows := &Rows{run: r, schema: r.schema(), left: -1}
	rows.refs.Store(1)
	rows.ctx, rows.cancel = context.WithCancel(ctx)
	switch {
	case r.limit == NoRows:
		rows.left = 0
	case r.limit > 0:
		rows.left = r.limit
	}
	partitions := r.groups.Buckets[0].Partitions()
	rows.slots = make([]chan outcome, partitions)
	for i := range rows.slots {
		rows.slots[i] = make(chan outcome, 1)
	}
	rows.tokens = make(chan struct{}, 2*r.threads)
	for range min(r.threads, partitions) {
		rows.done.Go(rows.produce)
	}
	return rows
}

// produce makes partitions until none is left.
func (r *Rows) produce() {
	p := newProducer(r.run)
	defer p.merger.Close()
	for {
		select {
		case r.tokens <- struct{}{}:
		case <-r.ctx.Done():
			return
		}
		n := int(r.next.Add(1)) - 1
		if n >= len(r.slots) {
			return
		}
		r.slots[n] <- r.make(p, n)
	}
}

// make turns partition n into records, or into parts if they are to be sorted.
func (r *Rows) make(p *producer, n int) (o outcome) {
	defer cpu.Recovered(&o.err)
	o.err = p.partition(n, func(b *column.Batch) error {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if len(r.run.query.order) > 0 {
			part, err := p.part(b)
			o.parts = append(o.parts, part)
			return err
		}
		recs, err := p.records(r.schema, b)
		o.records = append(o.records, recs...)
		return err
	})
	return o
}

// Schema is the schema of the records.
func (r *Rows) Schema() *arrow.Schema { return r.schema }

// Next makes the next record current; false at the end or on an error.
func (r *Rows) Next() bool {
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
	for r.err == nil && r.left != 0 {
		if len(r.queue) > 0 {
			r.give()
			return true
		}
		if r.sorted || r.at == len(r.slots) {
			break
		}
		r.fetch()
	}
	if r.ended.IsZero() {
		r.ended = time.Now()
	}
	return false
}

// give makes the first record of the queue current.
func (r *Rows) give() {
	r.rec, r.queue = r.queue[0], r.queue[1:]
	if r.left >= 0 && r.rec.NumRows() > r.left {
		cut := r.rec.NewSlice(0, r.left)
		r.rec.Release()
		r.rec = cut
	}
	if r.left > 0 {
		r.left -= r.rec.NumRows()
	}
	r.groups += r.rec.NumRows()
	r.run.observe(Progress{
		Phase: PhaseOutput, BytesDone: r.run.facts.bytes, BytesTotal: r.run.facts.bytes,
		RowsDone: r.run.rowsRead.Load(), Groups: r.groups,
	})
}

// fetch puts the next partition, or all of them sorted, into the queue.
func (r *Rows) fetch() {
	if len(r.run.query.order) == 0 {
		r.queue = r.receive().records
		return
	}
	s := sorter{run: r.run, keep: r.left}
	for r.err == nil && r.at < len(r.slots) {
		parts := r.receive().parts
		if r.err == nil {
			r.err = classify(s.add(parts))
		}
	}
	if r.err == nil {
		r.queue, r.err = s.records(r.schema)
		r.err = classify(r.err)
	}
	r.sorted = true
}

// receive waits for the next partition.
func (r *Rows) receive() outcome {
	select {
	case o := <-r.slots[r.at]:
		<-r.tokens
		r.at++
		r.err = classify(o.err)
		return o
	case <-r.ctx.Done():
		r.err = context.Cause(r.ctx)
		return outcome{}
	}
}

// Record is the current record.
func (r *Rows) Record() arrow.Record { return r.rec }

// Err is the error that ended the rows, if one did.
func (r *Rows) Err() error { return r.err }

// Retain adds a reference.
func (r *Rows) Retain() { r.refs.Add(1) }

// Release drops a reference; the last one stops what still runs and closes
// the input.
func (r *Rows) Release() {
	if r.refs.Add(-1) != 0 {
		return
	}
	r.cancel()
	r.done.Wait()
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
	for _, rec := range r.queue {
		rec.Release()
	}
	r.queue = nil
	for _, slot := range r.slots {
		select {
		case o := <-slot:
			for _, rec := range o.records {
				rec.Release()
			}
		default:
		}
	}
	r.run.cfg.Arenas.Close()
	r.err = errors.Join(r.err, r.run.in.Close())
}
