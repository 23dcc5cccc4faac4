package firstpass

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/streams"
)

// Maker makes rows on the device from other data in a slot, such as pages of a file. The lane that
// takes the job calls its methods; for several jobs several lanes do so at once.
type Maker interface {
	// Make queues kernels on the stream that make the job's rows from in. It must not wait for
	// them. work is scratch memory of WorkBytes. The previous contents of work and out.Rows are
	// undefined.
	Make(s *cuda.Stream, in, work cuda.Span, out Made) error

	// Filters reports, after Make, whether there may be fewer rows than were submitted: out.Made
	// tells how many.
	Filters() bool

	// Settled is called once for each job. If stop is 0, that many rows were taken; otherwise stop
	// is the reason why the job was declined. It must not wait. It is not called for jobs that
	// were under way when the pass stopped (Pass.Stopped).
	Settled(stop uint64, rows int)
}

// Made is where the rows of a job go.
type Made struct {
	Rows cuda.Span // room for as many as were submitted
	Made cuda.Span // a word of 64 bits, 0 before: how many there are, if the Maker filters
	// a word of 64 bits, 0 before: set to a reason, it declines the job, and no row is taken
	Stop cuda.Span
}

// MadeConfig says what jobs of SubmitMade need of each stage.
type MadeConfig struct {
	Rows      int // the most that a job makes; 0: there are no such jobs
	WorkBytes int // for a Maker's kernels to work in
}

// MaxMadeRows is the most rows of a job of SubmitMade: chains know pages by numbers of 21 bits, of
// which an append may ask for one per 32 rows.
const MaxMadeRows = 1 << 24

// SubmitMade hands in the first bytes of a slot, from which kernels make that many rows. It does
// not wait. It fails if there are no rows or more than there is room for, or with ErrListsFull. In
// that case the slot still belongs to the caller, and no method of `by` is called.
func (m *Pass) SubmitMade(s *streams.Slot, size, rows int, by Maker) error {
	if size < 0 || size > m.plan.slot {
		return fmt.Errorf("first pass: %d bytes in a slot of %d", size, m.plan.slot)
	}
	if rows < 1 || rows > m.plan.made.Rows {
		return fmt.Errorf("first pass: a job that makes %d rows, where they may be 1 to %d", rows, m.plan.made.Rows)
	}
	made := madeTile{tile: tile{pass: m, rows: uint64(rows)}, by: by}
	switch {
	case !m.lists.any():
		m.pipeline.Submit(s, size, &made)
	case !m.lists.admit(uint64(rows)):
		return ErrListsFull
	default:
		m.pipeline.Submit(s, size, &listTile{made})
	}
	return nil
}

// Stopped is closed when the pass stops before its end. Jobs that were submitted may never be
// settled then. Slot and Finish return the reason.
func (m *Pass) Stopped() <-chan struct{} { return m.pipeline.Stopped() }

// madeTile is a job of the pipeline whose rows kernels make. The stage's scratch memory is
// [rows | rest | work]; rest and rows change places while the table grows.
type madeTile struct {
	tile
	by   Maker
	stop uint64 // why no row was taken; 0: all were
}

// Launch makes the rows and combines them into the table, if they can be made. Rows that go
// straight to chains are appended by Output, because the host must first know whether they could
// be made.
func (t *madeTile) Launch(s *streams.Stage) (err error) {
	l := &t.pass.lanes[s.Lane]
	l.enter(t.pass, s.Lane, s.Thread)
	rows, rest, work := t.parts(s)
	if err := t.make(s, rows, work); err != nil || t.stop != 0 || t.rows == 0 {
		return err
	}
	if t.straight = l.bypass > 0; t.straight {
		l.bypass--
		return nil
	}
	without := restIn(s, rest, t.rows)
	without.Stop = fact(s, tileStop).Ptr
	if t.epoch, err = t.pass.table.addTile(l.kernels, s, rows, t.rows, without); err != nil {
		return err
	}
	return t.pass.table.count(s)
}

// make has the rows made. If there may be fewer than were submitted, it waits until their number
// is known, or why there are none: later kernels are launched for that number.
func (t *madeTile) make(s *streams.Stage, rows, work cuda.Span) error {
	out := Made{Rows: rows, Made: fact(s, tileMade), Stop: fact(s, tileStop)}
	if err := t.by.Make(s.Stream, s.In, work, out); err != nil {
		return fmt.Errorf("make rows: %w", err)
	}
	if !t.by.Filters() {
		return nil
	}
	facts, err := s.Ask()
	if err != nil {
		return err
	}
	if t.stop = facts[tileStop]; t.stop == 0 {
		t.rows = facts[tileMade]
	}
	return nil
}

// parts divides the stage's scratch memory.
func (t *madeTile) parts(s *streams.Stage) (rows, rest, work cuda.Span) {
	p := &t.pass.plan
	size, each := cuda.Size(t.rows)*p.layout.RowBytes(), p.madeBytes()
	return s.Scratch.Slice(0, size), s.Scratch.Slice(each, each+size), s.Scratch.Slice(2*each, 2*each+cuda.Size(p.made.WorkBytes))
}

// Output takes care of the rest, unless there are no rows.
func (t *madeTile) Output(s *streams.Stage, facts []uint64) (cuda.Span, error) {
	t.pass.table.observe(t.rows, facts)
	if t.stop = facts[tileStop]; t.stop != 0 || t.rows == 0 {
		return cuda.Span{}, nil
	}
	l := &t.pass.lanes[s.Lane]
	rows, rest, _ := t.parts(s)
	if t.straight {
		return cuda.Span{}, l.straight(s.Stream, rows, t.rows)
	}
	return cuda.Span{}, l.keep(s, facts, &t.tile, rest, rows)
}

// Deliver tells what became of the job.
func (t *madeTile) Deliver([]byte) error {
	if t.stop == 0 {
		t.pass.rows.Add(t.rows)
	}
	t.by.Settled(t.stop, int(t.rows))
	return nil
}
