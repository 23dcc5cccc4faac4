package cpu

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"
)

// This file is how workers aggregate beside an accelerator that makes rows itself.
//
// While it is busy with the batches that it has, or is not open yet, a worker reads the next unit
// itself and has a table for its rows, as in a run without an accelerator. At the end the groups of
// these tables go to the accelerator as rows, if it was given any.
//
// That pays where the rows of the tables are few beside those that were read. Where nothing tells
// (Config.Expected), one worker finds it out, by the first shareRows of a unit, while the others
// feed the accelerator. Where rows are not few, then or later, or keys have long strings, which
// go to the accelerator in batches alone (DEVICE-REFS), workers share no more: the one that sees it
// leaves its unit to the accelerator if it can (UNIT-ONCE), and all of them only put units into
// batches from then on.
//
// No more than a part of the workers read at a time. A unit takes a worker many times as long as
// the accelerator, which would have nothing to do meanwhile.

const (
	// shareRows is how many rows a worker reads before it says that they become few.
	shareRows = 32 << 10
	// shareParts is how many rows become one at least. With four, ClickBench 32 took a tenth longer
	// than without sharing, of which one row in eight passes, each a group.
	shareParts = 16
	// expectedParts is the same of groups that are expected: a sample tells of too few where some
	// have most of the rows. moreThanExpected is how many times as many there may be
	expectedParts, moreThanExpected = 64, 2
	// soonRows and soonParts are the same before shareRows are read.
	soonRows, soonParts = 2 << 10, 2
	// readersPart is the part of the workers that read at most: eight of 16 feed an H200 with what
	// it decodes of ClickBench's and TPC-H's tables.
	readersPart = 2
)

// sharing is what the workers of a run know of each other.
type sharing struct {
	few     atomic.Bool  // rows have become few
	ended   atomic.Bool  // they do not, or not any more
	readers atomic.Int64 // workers that read a unit
	begun   atomic.Int64 // when the first batch of an open accelerator began, in nanoseconds; 0: none has
	packed  atomic.Int64 // units in batches since
}

// begin notes that a batch has begun.
func (r *Run) begin() {
	if s := &r.sharing; s.begun.Load() == 0 && !r.accelerator.Opening() {
		s.begun.CompareAndSwap(0, time.Now().UnixNano())
	}
}

// added notes that a unit is in a batch.
func (s *sharing) added() {
	if s.begun.Load() > 0 {
		s.packed.Add(1)
	}
}

// worksShare is what a worker knows that reads units beside the accelerator.
type worksShare struct {
	units  int           // of the input
	next   *atomic.Int64 // how many of these are taken
	took   time.Duration // what its last unit took; 0: it has read none
	leaves bool          // the unit being read may yet go to the accelerator
	reads  bool          // it is one of the readers
}

// share has the worker aggregate beside the accelerator, if it may: it takes the units of which
// next is the first that nobody has.
func (w *Worker) share(units int, next *atomic.Int64) {
	if w.cfg.Share && !w.cfg.States.HasRefs() && w.limiter == nil && w.grouping == nil && w.sets == nil {
		w.sharing = &worksShare{units: units, next: next}
		if w.cfg.expectsFew() {
			w.run.sharing.few.Store(true)
		}
	}
}

// expectsFew reports whether the rows of a worker that reads its part of the input are expected to
// become few: its first rows, each of another group, do not show it. Keys that may have long
// strings are not looked at: many workers would read some before one sees it.
func (c *Config) expectsFew() bool {
	return c.Expected > 0 && c.Expected*expectedParts*float64(c.Threads) <= float64(c.Rows) && !c.Keys.HasRefs()
}

// shares reports whether the worker's rows stay with it while it reads.
func (w *Worker) shares() bool { return w.sharing != nil && !w.run.sharing.ended.Load() }

// apart reports whether the worker's rows go to an accelerator.
func (w *Worker) apart() bool {
	return w.run.accelerator != nil && !w.shares() && !w.run.accelerator.Absent()
}

// endTable gives the table's groups to the accelerator once the worker has no use for it.
func (w *Worker) endTable() error {
	if w.phase != phaseTable || !w.apart() {
		return nil
	}
	if w.table.n == 0 {
		w.giveUpTable()
		return nil
	}
	return w.flushForGood()
}

// readsItself reports whether the worker had better read the next unit than put it into a batch.
func (w *Worker) readsItself() bool {
	if !w.shares() || !w.builder.Busy() || w.accelerated() {
		return false
	}
	readers := &w.run.sharing.readers
	w.sharing.reads = readers.Add(1) <= w.run.mostReaders()
	if !w.sharing.reads {
		readers.Add(-1)
	}
	return w.sharing.reads
}

// mostReaders is how many workers may read a unit at a time.
func (r *Run) mostReaders() int64 {
	switch {
	case !r.sharing.few.Load():
		return 1
	case r.accelerator.Opening(): // it need not be fed yet
		return int64(r.cfg.Threads)
	}
	return int64(max(r.cfg.Threads/readersPart, 1))
}

// accelerated reports whether the accelerator is expected to make the rows of all units that are
// left, at its pace so far, before the worker would have read one.
func (w *Worker) accelerated() bool {
	begun, packed := w.run.sharing.begun.Load(), w.run.sharing.packed.Load()
	if begun == 0 || packed == 0 {
		return false
	}
	left := max(w.sharing.units-int(w.sharing.next.Load()), 0) + 1
	each := time.Duration(time.Now().UnixNano()-begun) / time.Duration(packed)
	return time.Duration(left)*each < w.sharing.took
}

// readUnit reads a unit. errLeft: it is to go to the accelerator.
func (w *Worker) readUnit(ctx context.Context, r Reader, unit int) (rows int64, err error) {
	if !w.shares() {
		return w.unit(ctx, r, unit)
	}
	if err := w.submit(); err != nil { // a batch that has room for none of the units to come
		return 0, err
	}
	s := w.sharing
	s.leaves = w.builder != nil && w.phase == phaseTable && w.table.n == 0 && w.store.placed == 0
	if !s.reads { // since it cannot be put into a batch
		w.run.sharing.readers.Add(1)
	}
	began := time.Now()
	rows, err = w.unit(ctx, r, unit)
	s.took, s.leaves, s.reads = time.Since(began), false, false
	w.run.sharing.readers.Add(-1)
	return rows, err
}

// errLeft ends the reading of a unit that the accelerator is to have.
var errLeft = errors.New("the unit is left to the accelerator")

// judgeSharing ends the sharing of units if it does not pay. It is called after each batch.
func (w *Worker) judgeSharing() error {
	if !w.shares() || w.run.accelerator.Absent() {
		return nil
	}
	if w.phase == phaseGlobal {
		w.run.sharing.few.Store(true)
		return nil
	}
	parts := int64(shareParts)
	switch {
	case w.builder != nil && w.encoder.HasLong():
		parts = math.MaxInt64
	case w.read < soonRows:
		return nil
	case w.read < shareRows:
		parts = soonParts
	}
	rows := int64(w.table.live()) + w.store.placed
	if w.cfg.expectsFew() && float64(rows) <= moreThanExpected*w.cfg.Expected {
		return nil
	}
	if rows <= w.read/parts {
		if w.read >= shareRows {
			w.run.sharing.few.Store(true)
		}
		return nil
	}
	w.run.sharing.ended.Store(true)
	if !w.sharing.leaves || w.store.placed > 0 {
		return nil
	}
	w.note(w.table.rows.Rows) // what is known of the number of groups stays
	w.scattered += w.rows
	w.rows = 0
	w.giveUpTable()
	return errLeft
}
