package firstpass

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/streams"
)

// ErrListsFull says that there is no room for the values of a job.
var ErrListsFull = errors.New("no room for more values of lists")

// StopFull is the reason for which a pass with lists declines a job whose rows have more groups
// than there is room for. No Maker gives this reason.
const StopFull = ^uint64(0)

// listTile is a madeTile of a pass with lists. If a row finds no slot, the whole job is declined
// (LIST-WHOLE): rows in chains would lose their values.
type listTile struct {
	madeTile
}

// Launch makes the rows. If they can be made, and each finds a slot, they are combined and their
// values are noted.
func (t *listTile) Launch(s *streams.Stage) error {
	l := &t.pass.lanes[s.Lane]
	l.enter(t.pass, s.Lane, s.Thread)
	rows, _, work := t.parts(s)
	submitted := t.rows
	if err := t.make(s, rows, work); err != nil {
		return err
	}
	t.pass.lists.release(submitted - t.rows) // those that were passed over need no room
	if t.stop != 0 || t.rows == 0 {
		return nil
	}
	return t.combine(s, rows)
}

// combine queues everything but the making of the rows.
func (t *listTile) combine(s *streams.Stage, rows cuda.Span) (err error) {
	if t.epoch, err = t.pass.table.list(s, rows, t.rows, &t.pass.lists); err != nil {
		return err
	}
	return t.pass.table.count(s)
}

// list queues the combination of rows and the noting of their values, both only if each row finds
// a slot. It returns the epoch of the table.
func (p *table) list(s *streams.Stage, rows cuda.Span, n uint64, lists *lists) (int, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.table == nil {
		return 0, errNoTable
	}
	hold := fact(s, tileHold)
	claim := kernels.EgaClaim{Missing: fact(s, tileRest).Ptr, Hold: hold.Ptr, Stop: fact(s, tileStop).Ptr}
	rest := restIn(s, rows, 0) // no memory is needed: every row finds a slot
	rest.Stop = hold.Ptr
	return p.epoch, errors.Join(
		lists.claim(s.Stream, p.table.View(), rows, n, claim),
		p.combine(s.Stream, rows, n, rest),
		lists.note(s.Stream, rows, n, hold),
	)
}

// Output repeats the job with a larger table as long as rows find no slot.
func (t *listTile) Output(s *streams.Stage, facts []uint64) (cuda.Span, error) {
	l := &t.pass.lanes[s.Lane]
	t.pass.table.observe(t.rows, facts)
	for t.stop = facts[tileStop]; t.stop == 0 && facts[tileRest] > 0; {
		larger, err := t.pass.table.grow(l.kernels, s.Stream, t.epoch)
		switch {
		case err != nil:
			return cuda.Span{}, err
		case !larger:
			t.stop = StopFull
		default:
			if facts, err = t.again(s); err != nil {
				return cuda.Span{}, err
			}
		}
	}
	if t.stop == 0 {
		t.pass.counts.settle(t.rows, 0)
	}
	if err := kernels.Status(facts[tileStatus]).Err(); err != nil {
		return cuda.Span{}, fmt.Errorf("rows whose groups have slots: %w", err)
	}
	return cuda.Span{}, nil
}

// again is combine once more, and waits for that.
func (t *listTile) again(s *streams.Stage) ([]uint64, error) {
	rows, _, _ := t.parts(s)
	if err := errors.Join(s.Stream.Fill(s.Facts, 0), t.combine(s, rows)); err != nil {
		return nil, err
	}
	return s.Ask()
}

// Deliver tells what became of the job.
func (t *listTile) Deliver(out []byte) error {
	if t.stop != 0 {
		t.pass.lists.release(t.rows)
	}
	return t.madeTile.Deliver(out)
}
