package exec

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/extsort"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/plan"
)

// sortedBytes is about the most bytes of values in a batch of sorted rows.
const sortedBytes = 4 << 20

// ordering puts the rows of a result in order: each producer has a sorter of
// its own, and the reader merges the sorted rows. Equal rows stay in the
// order of their keys' hash (RESULT-ORDER).
type ordering struct {
	run  *run
	keep int64 // rows wanted; -1: all

	mu      sync.Mutex
	sorters []*extsort.Sorter
	err     error // the first of their ends

	skip   int64           // rows to pass over before the first record
	merger *extsort.Merger // nil: not all producers have ended
	merged chan merged
	wanted chan struct{} // received from: the reader waits, and has released its records
	row    int           // bytes of the large row that was made last
}

// merged is some sorted records; none at the end.
type merged struct {
	records []arrow.Record
	err     error
}

// config says how rows are sorted.
func (o *ordering) config() extsort.Config {
	c := extsort.Config{Keep: o.keep, Memory: o.run.plan.Memory.Sort, Budget: &sorterMemory{run: o.run}, Spill: o.run.current.Load().cfg.Spill}
	for _, t := range o.run.plan.Query.Order {
		c.Terms = append(c.Terms, extsort.Term{Type: t.Expr.Type(), Desc: t.Desc, NullsFirst: t.NullsFirst})
	}
	for _, out := range o.run.plan.Query.Out {
		c.Cols = append(c.Cols, out.Expr.Type())
	}
	return c
}

// sorterMemory lends memory to one sorter: its share of the plan, and beyond that only memory that
// no other owner has reserved.
type sorterMemory struct {
	run  *run
	held int64
}

func (m *sorterMemory) Draw(bytes int64) error {
	from := budget.Lender(m.run.budget)
	if share := m.run.plan.Memory.Sort; share > 0 && m.held+bytes > share {
		from = m.run.spare()
	}
	err := from.Draw(bytes)
	if err == nil {
		m.held += bytes
	}
	return err
}

func (m *sorterMemory) Release(bytes int64) {
	m.run.budget.Release(bytes)
	m.held -= bytes
}

// sorter returns a new sorter, which is closed with the ordering.
func (o *ordering) sorter() *extsort.Sorter {
	s := extsort.New(o.config())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sorters = append(o.sorters, s)
	return s
}

// finish ends a sorter.
func (o *ordering) finish(ctx context.Context, s *extsort.Sorter) {
	err := func() (err error) {
		defer invariant.Recovered(&err)
		return s.Finish(ctx)
	}()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
}

// begin begins to merge, once all sorters have ended.
func (o *ordering) begin() error {
	if o.err == nil {
		o.merger = extsort.NewMerger(o.sorters, resultRows, min(sortedBytes, o.run.plan.Memory.BatchBytes()), o.large)
		o.merged, o.wanted = make(chan merged, 1), make(chan struct{})
	}
	return o.err
}

// merge makes records of the sorted rows, one batch ahead of the reader.
func (o *ordering) merge(ctx context.Context, schema *arrow.Schema) {
	for more := true; more; {
		recs, err := o.records(ctx, schema)
		select {
		case o.merged <- merged{recs, err}:
			more = len(recs) > 0
		case <-ctx.Done():
			release(recs)
			return
		}
	}
}

// next returns the next records; none at the end. The reader has released those before.
func (o *ordering) next(ctx context.Context) ([]arrow.Record, error) {
	select {
	case m := <-o.merged: // first: it is no time for a large row while others wait
		return m.records, m.err
	default:
	}
	select {
	case m := <-o.merged:
		return m.records, m.err
	case o.wanted <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case m := <-o.merged:
		return m.records, m.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// large waits until the reader holds no record, and makes the memory of a row that is too large for
// a batch.
func (o *ordering) large(ctx context.Context, bytes int) (*column.LargeRow, error) {
	select {
	case <-o.wanted:
		o.row = bytes
		return column.NewLargeRow(o.run.largeMemory()), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// needs turns a refusal of memory for a large row into a NeedError.
func (o *ordering) needs(err error) error {
	if o.row == 0 || !errors.Is(err, budget.Memory) {
		return err
	}
	const copies = 3 // as it was on disk, as vectors, as a record
	need := o.run.plan.ResultNeed(o.run.learnt, 0, copies*int64(o.row))
	return &plan.NeedError{Limit: o.run.budget.Limit(), Need: need, Result: "a row to be sorted has " + plan.MiB(int64(o.row))}
}

func release(recs []arrow.Record) {
	for _, rec := range recs {
		rec.Release()
	}
}

// records makes records of the next rows.
func (o *ordering) records(ctx context.Context, schema *arrow.Schema) (_ []arrow.Record, err error) {
	defer invariant.Recovered(&err)
	if err := o.merger.Skip(ctx, o.skip); err != nil {
		return nil, err
	}
	o.skip = 0
	b, err := o.merger.Next(ctx)
	if err != nil || b == nil {
		return nil, o.needs(err)
	}
	if l := o.merger.LargeRow(); l != nil {
		recs, err := o.run.largeRecord(schema, b.Rows, l, func(i int, v *column.Vector) error {
			*v = b.Cols[i]
			return nil
		})
		return recs, o.needs(err)
	}
	return inPieces(b, func(b *column.Batch) (arrow.Record, error) {
		return o.run.record(schema, b.Rows, o.run.alloc, func(i int, v *column.Vector) error {
			*v = b.Cols[i]
			return nil
		})
	})
}

// close frees all rows. All goroutines have ended.
func (o *ordering) close() (err error) {
	if o.merger != nil {
		o.merger.Close()
		select {
		case m := <-o.merged:
			release(m.records)
		default:
		}
	}
	for _, s := range o.sorters {
		if e := s.Close(); err == nil {
			err = e
		}
	}
	o.sorters = nil
	return err
}

// placeBits is how many bits of a row's place are its number in its range of partitions.
const placeBits = 48

// sort gives the output of a result batch to a sorter. at is how many rows of
// partition n came before it.
func (p *producer) sort(ctx context.Context, s *extsort.Sorter, n int, at uint64, b *column.Batch) error {
	cols := make([]column.Vector, len(p.out)+len(p.order))
	for i, e := range slices.Concat(p.out, p.order) {
		if err := e.Eval(b, &cols[i]); err != nil {
			return err
		}
	}
	out, order := cols[:len(p.out)], cols[len(p.out):]
	return s.Add(ctx, uint64(n)<<placeBits|at, order, out, b.Rows)
}
