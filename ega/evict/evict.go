package evict

import (
	"context"
	"errors"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Config says whose rows are evicted, and where they go.
type Config struct {
	Context *cuda.Context
	Layout  *ega.Layout
	Host    budget.Lender // of pinned memory; nil: there is no limit
	Lanes   int
	MaxRows int // the most that are appended at a time
	// the device memory that a lane may take; called once, when its first rows are appended
	Memory func() cuda.Size

	// Writers is the number of goroutines that take evicted rows. Each calls Write with its
	// number, from 0, and with rows of its own. Write copies the rows, which are not valid after
	// it has returned.
	Writers int
	Write   func(writer int, rows []uint64) error

	// RetainBytes is how many bytes of pinned memory, drawn from Host, may hold evicted rows in
	// place of Write; 0: none. RetainPays decides whether rows are retained, by what is known when
	// the first of them are evicted. It is called again, now and then, until it returns true. nil:
	// they are retained.
	RetainBytes int64
	RetainPays  func(t *cuda.Thread, s *cuda.Stream) (bool, error)
	Spares      *Spares // where their memory comes from, as far as it goes, and goes to; may be nil
}

// Eviction is the eviction of one first pass.
type Eviction struct {
	config Config
	row    cuda.Size
	ctx    context.Context // of the pass
	stop   context.CancelCauseFunc

	lanes     []Lane
	writers   writers
	retention retention
	counts    counts
}

// New returns an Eviction, which has neither memory nor goroutines yet. It ends with ctx. When
// rows cannot be written, it stops the pass, and so ctx.
func New(ctx context.Context, stop context.CancelCauseFunc, c Config) *Eviction {
	e := &Eviction{config: c, row: c.Layout.RowBytes(), ctx: ctx, stop: stop, lanes: make([]Lane, c.Lanes)}
	for i := range e.lanes {
		e.lanes[i].of = e
	}
	e.writers.init(e)
	e.retention.init(e)
	return e
}

// Lane returns lane i. It is used by one goroutine at a time.
func (e *Eviction) Lane(i int) *Lane { return &e.lanes[i] }

// EndLanes waits until the rows of all lanes are on the host, and the memory of the lanes is free.
// No lane appends any more. False: there were no rows.
func (e *Eviction) EndLanes() (anyRows bool, err error) {
	for i := range e.lanes {
		e.lanes[i].end()
	}
	for i := range e.lanes {
		if evictor := &e.lanes[i].evictor; evictor.done != nil {
			<-evictor.done
			anyRows, err = true, errors.Join(err, evictor.err)
		}
	}
	return anyRows, err
}

// SendGroups sends all groups to the host, through device memory of their Room. They leave in
// order of hash, divided by the most bits that any chains of rows have.
func (e *Eviction) SendGroups(t *cuda.Thread, stream *cuda.Stream, g *groups.Groups) error {
	bits := min(g.BucketBits(), MaxChainBits)
	return e.sending(t, stream, sendBytes(e.config.Layout, g.Room()), func(s *sender) error {
		for chain := range 1 << bits {
			if err := s.groups(g.Walk(chain, bits), uint64(chain)<<(64-bits), bits); err != nil {
				return err
			}
		}
		return nil
	})
}

// Finish waits until all rows are written or retained. Nothing is sent any more.
func (e *Eviction) Finish() error {
	err := e.retention.finish()
	e.writers.finish()
	return err
}

// Close frees all that is left, except for the rows that Rows has handed over. The pass must have
// been stopped or finished. A second call does nothing.
func (e *Eviction) Close() error {
	var errs []error
	for i := range e.lanes { // lanes before writers, which have to take what lanes send
		errs = append(errs, e.lanes[i].close())
	}
	return errors.Join(append(errs, e.retention.close(), e.writers.close())...)
}
