package firstpass

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/streams"
)

// tile is a job of the pipeline whose rows are those of a slot. A job whose rows kernels make is a
// madeTile.
type tile struct {
	pass     *Pass
	rows     uint64
	straight bool // to the chains, without a look at the table
	epoch    int  // of the table that they were added to
}

// These are the words of a stage's facts, in this order: the rows of the rest; their status; the
// groups of the table, if they were counted; why rows could not be made; how many rows and groups
// blocks have sent to the table, if they combined the tile's rows first; whether the rows must not
// be combined (listTile); how many rows were made, if they may be fewer than were submitted; and
// the complement of a hash that enough groups do not exceed, if one was looked for and found
// (Config.Limit).
const (
	tileRest = iota
	tileStatus
	tileGroups
	tileStop
	tileSent
	tileHold
	tileMade
	tileBeyond
)

// fact is a word of a stage's facts.
func fact(s *streams.Stage, word cuda.Size) cuda.Span { return s.Facts.Slice(8*word, 8*(word+1)) }

// restIn is a rest in memory of a stage.
func restIn(s *streams.Stage, to cuda.Span, rows uint64) kernels.EgaRest {
	return kernels.EgaRest{
		Rows: to.Ptr, Count: fact(s, tileRest).Ptr, Capacity: rows, Status: fact(s, tileStatus).Ptr, Sent: fact(s, tileSent).Ptr,
	}
}

// Launch combines the tile into the table and leaves the rest in the stage. Or it appends the
// whole tile to chains.
func (t *tile) Launch(s *streams.Stage) (err error) {
	l := &t.pass.lanes[s.Lane]
	l.enter(t.pass, s.Lane, s.Thread)
	if t.straight = l.bypass > 0; t.straight {
		l.bypass--
		return l.straight(s.Stream, s.In, t.rows)
	}
	t.epoch, err = t.pass.table.addTile(l.kernels, s, s.In, t.rows, restIn(s, s.Scratch, t.rows))
	if err != nil {
		return err
	}
	return t.pass.table.count(s)
}

// Output takes care of the rest.
func (t *tile) Output(s *streams.Stage, facts []uint64) (cuda.Span, error) {
	if t.straight {
		return cuda.Span{}, nil
	}
	t.pass.table.observe(t.rows, facts)
	// the input is not needed any more
	return cuda.Span{}, t.pass.lanes[s.Lane].keep(s, facts, t, s.Scratch, s.In)
}

// Deliver does nothing: a tile has no output.
func (t *tile) Deliver([]byte) error { return nil }

// lane is a lane of a Pass.
type lane struct {
	pass    *Pass
	thread  *cuda.Thread
	kernels *ega.Kernels

	evicted *evict.Lane // where rows without a slot go
	bypass  int         // tiles that are appended without a look at the table
}

// enter gives the lane to a thread.
func (l *lane) enter(m *Pass, number int, t *cuda.Thread) {
	if l.thread == t {
		return
	}
	l.pass, l.thread, l.kernels, l.evicted = m, t, m.kernels.On(t), m.evicted.Lane(number)
	l.evicted.Move(t)
}

// straight appends the rows of a tile to the chains, without a look at the table.
func (l *lane) straight(stream *cuda.Stream, rows cuda.Span, n uint64) error {
	l.pass.counts.bypassed()
	l.pass.counts.settle(n, n)
	return l.evicted.Append(stream, rows, n)
}

// keep stores the rest of a tile, the rows in `from` that found no slot: in the table after it has
// grown, or in chains. Rows that find no slot in the larger table either are written to `to`,
// which has as much room as `from`. The two change places for the next attempt.
func (l *lane) keep(s *streams.Stage, facts []uint64, t *tile, from, to cuda.Span) error {
	epoch := t.epoch
	for facts[tileRest] > 0 {
		n := facts[tileRest]
		if err := kernels.Status(facts[tileStatus]).Err(); err != nil {
			return fmt.Errorf("rest of %d rows: %w", n, err)
		}
		larger, err := l.pass.table.grow(l.kernels, s.Stream, epoch)
		if err != nil {
			return err
		}
		if !larger {
			l.pass.counts.settle(t.rows, n)
			if float64(n) >= bypassShare*float64(t.rows) {
				l.bypass = bypassTiles
			}
			err := l.evicted.Append(s.Stream, from, n)
			if from == s.In { // the next copy in does not wait for this stream
				err = errors.Join(err, s.Stream.Synchronize())
			}
			return err
		}
		if facts, epoch, err = l.again(s, from, to, n); err != nil {
			return err
		}
		from, to = to, from
	}
	l.pass.counts.settle(t.rows, 0)
	return nil
}

// again adds n rows to the table once more, and waits for that.
func (l *lane) again(s *streams.Stage, from, to cuda.Span, n uint64) (facts []uint64, epoch int, err error) {
	if err := s.Stream.Fill(s.Facts, 0); err != nil {
		return nil, 0, err
	}
	if epoch, err = l.pass.table.add(s.Stream, from, n, restIn(s, to, n)); err != nil {
		return nil, 0, err
	}
	facts, err = s.Ask()
	return facts, epoch, err
}
