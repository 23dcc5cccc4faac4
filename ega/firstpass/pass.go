package firstpass

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/streams"
)

// Pass is a first pass. Slot, Submit, SubmitMade and Release are called from any number of
// goroutines. Finish, once, and Close are called by the one that started the pass, after they are
// done.
type Pass struct {
	config  Config
	plan    plan
	context *cuda.Context
	ctx     context.Context
	cancel  context.CancelCauseFunc

	kernels *ega.Kernels
	table   table
	lanes   []lane // each is its lane's, and Finish's when these have ended
	evicted *evict.Eviction
	lists   lists

	pipeline *streams.Pipeline
	rows     atomic.Uint64 // submitted; of a madeTile, taken
	counts   counts
	closed   bool
}

// errClosed stops a pass that is closed before it is finished.
var errClosed = errors.New("closed before Finish")

// Start makes a pass on a device. The end of ctx stops it. Errors: of Validate, a SmallError, and
// those of the driver and of Host.
func Start(ctx context.Context, c *cuda.Context, cfg Config) (*Pass, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("first pass: %w", err)
	}
	m := &Pass{config: cfg, context: c}
	var err error
	if m.plan, err = makePlan(&m.config); err != nil {
		return nil, fmt.Errorf("first pass: %w", err)
	}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	m.evicted = evict.New(m.ctx, m.cancel, m.eviction())
	m.lanes = make([]lane, cfg.Streams)
	if err := m.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("first pass: %w", err), m.Close())
	}
	return m, nil
}

// open makes all that a Pass needs. After an error, Close undoes what was made.
func (m *Pass) open() error {
	t, err := m.context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	if m.kernels, err = ega.Load(t, m.config.Layout); err != nil {
		return err
	}
	if err := m.lists.open(m.kernels, m.config.Lists, &m.plan); err != nil {
		return err
	}
	m.table.limit, m.table.lower = m.config.Limit, m.config.Lower
	if err := m.table.open(m.kernels, &m.plan, m.config.Groups); err != nil {
		return err
	}
	m.pipeline, err = streams.Start(m.ctx, m.context, streams.Config{
		Streams: m.config.Streams, Depth: m.config.Depth, Slots: m.config.Slots, SlotBytes: m.plan.slot,
		ScratchBytes: int(m.plan.scratch()), OutBytes: streams.NoOutput, Host: m.config.Host, Trace: m.config.Trace, Began: m.config.Began, Timed: m.config.Timed,
	})
	return err
}

// Slot waits for a slot: pinned memory to which the caller may write as many rows as fit. Its
// error is streams.ErrStopped, with the cause. The end of ctx stops the pass too.
func (m *Pass) Slot(ctx context.Context) (*streams.Slot, error) {
	release := context.AfterFunc(ctx, func() { m.cancel(context.Cause(ctx)) })
	defer release()
	return m.pipeline.Slot()
}

// Busy reports whether a job waits for each stream, beside those that it works on. It returns at
// once.
func (m *Pass) Busy() bool { return m.pipeline.Queued() >= m.config.Streams }

// Submit hands in the first rows of a slot, each with the states of any number of input rows. It
// does not wait. It fails if there are too many rows; the slot still belongs to the caller then.
// Slot and Finish report that the pass has stopped.
func (m *Pass) Submit(s *streams.Slot, rows int) error {
	if rows < 0 || rows > m.plan.rows {
		return fmt.Errorf("first pass: %d rows in a slot for %d", rows, m.plan.rows)
	}
	if m.lists.any() {
		return errors.New("first pass: rows of the host beside lists")
	}
	if rows == 0 {
		m.pipeline.Release(s)
		return nil
	}
	m.rows.Add(uint64(rows))
	m.pipeline.Submit(s, rows*int(m.plan.layout.RowBytes()), &tile{pass: m, rows: uint64(rows)})
	return nil
}

// Release gives a slot back unused.
func (m *Pass) Release(s *streams.Slot) { m.pipeline.Release(s) }

// Close frees all that the pass has, and stops it if it is not finished. A second call does
// nothing.
func (m *Pass) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	m.cancel(errClosed)
	var err error
	if m.pipeline != nil {
		err = m.pipeline.Close()
	}
	return errors.Join(err, m.context.Closing(m.free))
}

// free frees all but the pipeline, which has ended.
func (m *Pass) free() error {
	return errors.Join(m.evicted.Close(), m.table.close(), m.lists.memory.Close())
}
