package cpu

import (
	"context"
	"errors"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/encoded"
)

// This file is how units go to an accelerator as they lie in their files, which then decodes them
// and makes their rows itself. Workers only read.
//
// A unit that it finds it cannot decode is declined: a worker reads it after all, and places its
// rows like any others.
//
// UNIT-ONCE: the rows of a unit are made by the accelerator or by one worker, and only once.
// It declines a unit before any of its rows has met a group. A worker that reads a unit itself
// (share.go) may leave it to the accelerator after all, as long as the unit's rows are nowhere but
// in its table, which is dropped.

// takeUnit reads a unit, or has the device do that.
func (w *Worker) takeUnit(ctx context.Context, r Reader, unit int) (rows int64, err error) {
	packs, err := w.packs(r, unit)
	if err != nil {
		return 0, err
	}
	if packs {
		rows, packed, err := w.pack(unit)
		if packed || err != nil {
			return rows, err
		}
	}
	rows, err = w.readUnit(ctx, r, unit)
	if errors.Is(err, errLeft) {
		return w.takeUnit(ctx, r, unit) // no table is left to leave a unit for
	}
	return rows, err
}

const (
	// leastSelectivity is the part of the rows that has to pass a filter for a device to decode
	// them all, of units of any size, unless workers would read all columns in any case. Where
	// fewer do, workers read the other columns for those alone, which takes a device longer where
	// units are large: it decodes filteredBytes for each row in the time that a worker takes to
	// filter it, and passingBytes more for each that passes (on an H200 with 16 threads,
	// docs/decisions/0020).
	leastSelectivity = .25
	filteredBytes    = 20
	passingBytes     = 50
	// sampleRows is how many rows tell.
	sampleRows = 16 << 10
)

// packs reports whether a unit may go to the accelerator as it lies in its file.
func (w *Worker) packs(r Reader, unit int) (bool, error) {
	if w.builder == nil || w.run.accelerator.Absent() {
		return false, nil
	}
	if err := w.endTable(); err != nil {
		return false, err
	}
	err := w.sample(r, unit)
	return !w.run.few.Load(), err
}

// sample finds out, once a run, whether enough rows pass the query's filter, on the first ones of a
// unit, which are not placed. If they do not, workers make all rows themselves from then on. The
// others do not wait for that: what they pack meanwhile is little, and reading the first page of a
// unit may take longer than packing it. If it does not, each looks for itself.
func (w *Worker) sample(r Reader, unit int) error {
	if !w.filtered || w.looked {
		return nil
	}
	w.looked = true
	if w.run.sampled.Swap(true) && !w.builder.Computes() {
		return nil
	}
	if err := r.Open(unit); err != nil {
		return err
	}
	rows, selected := 0, 0
	for rows < sampleRows {
		var b column.Batch
		ok, err := r.Next(&b)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		rows += b.Rows
		left, err := w.choose(&b)
		switch {
		case err != nil: // the error is reported when the row is read to be grouped
			w.run.few.Store(true)
			return nil
		case left == nil:
			selected += b.Rows
		default:
			selected += len(left)
		}
	}
	if rows == 0 || !w.filtersAll() && !devicesFilter(float64(selected)/float64(rows), w.builder.RowBytes(unit)) {
		w.run.few.Store(true)
	}
	return nil
}

// filtersAll reports whether workers would read all columns of all rows to filter them.
func (w *Worker) filtersAll() bool {
	others := func(c int) bool { return !slices.Contains(w.pipe.First.Cols, c) }
	return w.pipe.Residual.Filter == nil && !w.builder.Computes() && !slices.ContainsFunc(w.pipe.Used, others)
}

// devicesFilter reports whether a device decodes units of so many bytes a row, of whose rows that
// part passes the filter.
func devicesFilter(selectivity, rowBytes float64) bool {
	return selectivity >= leastSelectivity || rowBytes <= filteredBytes+passingBytes*selectivity
}

// pack puts a unit into the worker's batch, or into a new one. It reports false if the unit does
// not go to the accelerator like that.
func (w *Worker) pack(unit int) (rows int64, packed bool, err error) {
	for {
		fresh := !w.out.batch
		if fresh {
			if ok, err := w.beginBatch(); !ok || err != nil {
				return 0, false, err
			}
		}
		rows, added, err := w.builder.Add(unit)
		if err != nil || added == encoded.AddedNone {
			return 0, false, err
		}
		if added == encoded.AddedUnit {
			w.out.rows += int(rows)
			w.run.sharing.added()
			return rows, true, w.settle()
		}
		if err := w.submit(); fresh || err != nil { // it never fits
			return 0, false, err
		}
	}
}

// beginBatch begins a batch; false: the accelerator takes none now, or the worker reads the unit
// itself.
func (w *Worker) beginBatch() (ok bool, err error) {
	if err := w.submit(); err != nil { // a worker must not wait for memory while it holds a tile
		return false, err
	}
	if w.readsItself() {
		return false, nil
	}
	ok, err = w.builder.Begin()
	if w.out.batch = ok && err == nil; w.out.batch {
		w.run.begin()
	}
	return ok, err
}

// readDeclined reads what the accelerator was given in batches and does not take, which is known
// when all of these have been decoded.
func (w *Worker) readDeclined(ctx context.Context, r Reader) error {
	if w.builder == nil {
		return nil
	}
	for {
		unit, err := w.run.accelerator.Declined(ctx)
		if err != nil || unit < 0 {
			return err
		}
		if _, err := w.unit(ctx, r, unit); err != nil {
			return err
		}
		if err := w.submit(); err != nil {
			return err
		}
	}
}

// Unsent notes that some rows of a batch do not meet the accelerator's groups after all: the
// batch is declined, or they do not pass the filter.
func (r *Run) Unsent(rows int) { r.sent.Add(-int64(rows)) }
