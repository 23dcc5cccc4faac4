package secondpass

import (
	"errors"
	"fmt"
	"time"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Pass is a second pass. It is used on the goroutine that made it, which is locked to its OS thread
// until Close. Several on one device, each with a goroutine, keep the device busy: one core fills
// buffers at a fifth of the rate of the link, and waits while groups come back.
type Pass struct {
	config Config
	plan   plan

	thread  *cuda.Thread
	kernels *ega.Kernels
	copies  *cuda.Stream
	work    *cuda.Stream
	table   *ega.Table
	memory  cuda.Pieces
	facts   facts
	stages  [2]stage

	phase   phase
	slots   uint32 // of the table that this bucket uses
	failed  error  // of the device: nothing goes any more
	current int    // the stage that is filled
	rounds  rounds
	stats   Stats
	closed  bool
}

// phase is where a Pass is.
type phase int

const (
	idle    phase = iota // no bucket; until Begin
	loading              // Add takes rows; until End, or full when the table counts as full
	full                 // Add takes no rows; until End
)

// ErrIdle is that Add or End was called without Begin.
var ErrIdle = errors.New("second pass: no bucket was begun")

// Stats is what a Pass has done.
type Stats struct {
	Buckets int   // ended
	Full    int   // of these: the table could not take all rows
	Rows    int64 // taken
	Pinned  int64 // rows of these that AddPinned took
	Groups  int64 // emitted
	Loads   int64 // buffers that were copied to the device
	Rounds  int64 // of feedback loading
	Counts  int64 // of groups, between rounds and before many parts of the table are fetched

	BytesIn, BytesOut int64         // over the link
	Wait              time.Duration // for the device
}

// New makes a Pass in a context of a device, and locks the calling goroutine to its OS thread.
// Errors: those of Validate, of Host, and of the driver, among them cuda.ErrOutOfMemory.
func New(c *cuda.Context, config Config) (*Pass, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("second pass: %w", err)
	}
	b := &Pass{config: config.withDefaults()}
	b.plan = makePlan(&b.config)
	if err := b.open(c); err != nil {
		return nil, fmt.Errorf("second pass: %w", errors.Join(err, b.Close()))
	}
	return b, nil
}

func (b *Pass) open(c *cuda.Context) (err error) {
	if b.thread, err = c.Lock(); err != nil {
		return err
	}
	if b.kernels, err = ega.Load(b.thread, b.config.Layout); err != nil {
		return err
	}
	for _, s := range []**cuda.Stream{&b.copies, &b.work} {
		if *s, err = b.thread.NewStream(); err != nil {
			return err
		}
	}
	if b.table, err = ega.NewTable(b.kernels, ega.TableConfig{Slots: b.plan.slots}); err != nil {
		return err
	}
	return b.openStages()
}

// openStages pins the buffers, which it draws from the host's budget, and allocates the memory on
// the device.
func (b *Pass) openStages() error {
	size := b.plan.bufferBytes(&b.config.Layout)
	b.memory.Thread = b.thread
	if err := b.memory.AllocAll(cuda.Piece{To: &b.stages[0].device, Bytes: size}, cuda.Piece{To: &b.stages[1].device, Bytes: size}, cuda.Piece{To: &b.facts.device, Bytes: deviceFacts}); err != nil {
		return err
	}
	if err := b.facts.open(b.thread, b.config.Host); err != nil {
		return err
	}
	for i := range b.stages {
		if err := b.stages[i].open(b.thread, b.config.Host, size); err != nil {
			return err
		}
	}
	return b.work.Fill(b.facts.device, 0)
}

// Capacity is how many groups of a bucket its table may have.
func (b *Pass) Capacity() int64 { return b.config.Load.Of(int64(b.plan.slots)).NextLoad(0) }

// Stats returns what was done so far.
func (b *Pass) Stats() Stats { return b.stats }

// Begin begins a bucket of about that many rows, which share the top `skip` bits of their hash; at
// most 31 bits count. Rows that share more bits than that crowd in few slots and are slow: they
// are better aggregated elsewhere. Only as many slots are used as these rows need, since every
// slot that is used is cleared and read. If there are more rows, the table counts as full sooner.
// A bucket that was not ended is dropped.
func (b *Pass) Begin(skip uint, rows int64) error {
	if b.failed != nil {
		return b.failed
	}
	if b.phase != idle {
		// rows of AddPinned are their owner's again
		if err := b.fail(b.copies.Synchronize()); err != nil {
			return err
		}
	}
	b.slots = b.plan.slotsFor(rows, b.config.Load.Max)
	b.table.Restrict(uint32(min(skip, mostSkip)), b.slots)
	b.rounds = newRounds(b.config.Load.Of(int64(b.slots)))
	for i := range b.stages {
		s := &b.stages[i]
		s.rows, s.sent, s.ours = 0, 0, false
	}
	b.phase = loading
	return b.fail(b.table.Clear(b.work))
}

// mostSkip is the most bits that a table skips: the 32 behind them choose the slot.
const mostSkip = 31

// fail records an error of the device.
func (b *Pass) fail(err error) error {
	if err != nil && b.failed == nil {
		b.failed = err
	}
	return err
}

// Close waits for the device, frees all and unlocks the goroutine. A second call does nothing.
func (b *Pass) Close() error {
	if b.closed || b.thread == nil {
		return nil
	}
	b.closed = true
	err := b.drain()
	for i := range b.stages {
		err = errors.Join(err, b.stages[i].close())
	}
	err = errors.Join(err, b.facts.close(), b.memory.Close())
	if b.table != nil {
		err = errors.Join(err, b.table.Close())
	}
	for _, s := range b.streams() {
		err = errors.Join(err, s.Close())
	}
	b.thread.Unlock()
	return err
}

func (b *Pass) streams() (made []*cuda.Stream) {
	for _, s := range []*cuda.Stream{b.copies, b.work} {
		if s != nil {
			made = append(made, s)
		}
	}
	return made
}

// drain waits for the streams, or, if that fails, for the whole context: nothing may write to the
// memory that is freed next. The error of a lost context is not returned again.
func (b *Pass) drain() error {
	var err error
	for _, s := range b.streams() {
		err = errors.Join(err, s.Synchronize())
	}
	if err != nil {
		err = errors.Join(err, b.thread.Synchronize())
	}
	if lost := b.thread.Context().Lost(); lost != nil && errors.Is(b.failed, lost) {
		return nil
	}
	return err
}
