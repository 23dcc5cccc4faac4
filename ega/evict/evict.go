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
	// device memory that a lane may take; asked once, when its first rows are appended
	Memory func() cuda.Size

	// Writers is how many goroutines take evicted rows. Write is called by them, with their number
	// from 0, each with other rows, which it copies: they are not valid after it returned.
	Writers int
	Write   func(writer int, rows []uint64) error

	// RetainBytes is how many bytes of pinned memory, drawn from Host, may be taken for rows to
	// stay in, instead of going to Write; 0: none. RetainPays says whether rows should, by what is
	// known when the first of them are evicted; it is asked again, now and then, until it says yes.
	// nil: they should.
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

// New returns an Eviction, which has nothing yet: neither memory nor goroutines. It ends with ctx,
// and stops the pass, and so ctx, when rows cannot be written.
func New(ctx context.Context, stop context.CancelCauseFunc, c Config) *Eviction {
	e := &Eviction{config: c, row: c.Layout.RowBytes(), ctx: ctx, stop: stop, lanes: make([]Lane, c.Lanes)}
	for i := range e.lanes {
		e.lanes[i].of = e
	}
	e.writers.init(e)
	e.retention.init(e)
	return e
}

// Lane is the lane of a number. It is used by one goroutine at a time.
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

// SendGroups sends all groups to the host, by device memory of their Room. They are in order of
// hash, chain by chain: of as many bits as the chains of rows have at most.
func (e *Eviction) SendGroups(t *cuda.Thread, stream *cuda.Stream, g *groups.Groups) error {
	bits := min(g.Fine(), MaxChainBits)
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

// Close frees all that is left, but for the rows that Rows has handed over. The pass has been
// stopped or is finished. A second call does nothing.
func (e *Eviction) Close() error {
	var errs []error
	for i := range e.lanes { // before the writers, who have to take what is sent
		errs = append(errs, e.lanes[i].close())
	}
	return errors.Join(append(errs, e.retention.close(), e.writers.close())...)
}
