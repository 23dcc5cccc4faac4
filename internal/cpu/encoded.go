package cpu

import (
	"context"
	"errors"

	"github.com/gagg-dev/gagg/internal/parcel"
)

// This file is how units go to a device as they lie in their files, which then
// decodes them and makes their rows itself. Workers only read.
//
// A unit that a device finds it cannot decode is declined: a worker reads it after
// all, and places its rows like any others.
//
// UNIT-ONCE: the rows of a unit are made by the device, or by one worker, and by nobody
// twice. A device declines a unit before any of its rows has met a group. A worker whose table says, while it reads its
// first unit, that the device pays leaves that to the device too, as long as the unit's rows are nowhere but in the table,
// which is dropped.

// Packer puts units into the memory of tiles, several of them into one: a parcel. One
// a worker.
type Packer interface {
	// Begin starts a parcel in so much memory, unless that is too little for one.
	Begin(memory []byte) bool
	// Add puts a unit into the parcel; rows is how many it has. An error ends the run.
	Add(unit int) (rows int64, a parcel.Added, err error)
	// Parcel ends the parcel and returns it, whose memory is that of Begin.
	Parcel() Parcel
}

// Parcel is units that go to a device in one piece.
type Parcel interface {
	Units() []int
	Rows() int // of all units
	Size() int // bytes of memory in use
}

// skipTable gives up a table, before any row has met it, if the device is sure to be used
// and can make rows itself.
func (w *Worker) skipTable() {
	if w.packer != nil && w.phase == phaseTable && w.cfg.Offload.Pays(0, 0) {
		w.giveUpTable()
	}
}

// takeUnit reads a unit, or has the device do that.
func (w *Worker) takeUnit(ctx context.Context, r Reader, unit int) (rows int64, err error) {
	if w.packer != nil && w.phase == phaseScatter {
		rows, packed, err := w.pack(unit)
		if packed || err != nil {
			return rows, err
		}
	}
	w.leaves = w.packer != nil && w.phase == phaseTable && w.table.n == 0
	rows, err = w.unit(ctx, r, unit)
	w.leaves = false
	if errors.Is(err, errLeft) {
		return w.takeUnit(ctx, r, unit) // no table is left to leave a unit for
	}
	return rows, err
}

// errLeft ends the reading of a unit that the device is to have.
var errLeft = errors.New("the unit is left to the device")

// leave gives up the table and the unit whose rows it holds: packing the unit takes less than making rows of what is
// left of it. What its rows tell of the number of groups stays.
func (w *Worker) leave() error {
	w.note(w.table.rows.Rows)
	w.scattered += w.rows
	w.rows = 0
	w.giveUpTable()
	return errLeft
}

// pack puts a unit into the worker's parcel, or into a new one. It reports false if the unit does not go to the
// device like that.
func (w *Worker) pack(unit int) (rows int64, packed bool, err error) {
	for {
		fresh := !w.out.parcel
		if fresh {
			if ok, err := w.beginParcel(); !ok || err != nil {
				return 0, false, err
			}
		}
		rows, added, err := w.packer.Add(unit)
		if err != nil || added == parcel.AddedNone {
			return 0, false, err
		}
		if added == parcel.AddedUnit {
			w.out.rows += int(rows)
			return rows, true, w.settle()
		}
		if err := w.submit(); fresh || err != nil { // it never fits
			return 0, false, err
		}
	}
}

// beginParcel takes memory for a parcel; false: the device has none, or not enough.
func (w *Worker) beginParcel() (bool, error) {
	if err := w.submit(); err != nil { // nobody waits for memory while it has some
		return false, err
	}
	t, err := w.cfg.Offload.Tile()
	if err != nil || t == nil {
		return false, err
	}
	if !w.packer.Begin(t.Bytes()) {
		w.out = outgoing{tile: t, left: t.Words()}
		return false, nil
	}
	w.out = outgoing{tile: t, parcel: true}
	return true, nil
}

// readDeclined reads what the device was given in parcels and does not take, which is known when all
// of these have been decoded.
func (w *Worker) readDeclined(ctx context.Context, r Reader) error {
	if w.packer == nil {
		return nil
	}
	for {
		unit, err := w.cfg.Offload.Declined(ctx)
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

// Declined notes that a device declines a parcel of so many rows: it has not been given them, then.
func (c *Config) Declined(rows int) { c.sent.Add(-int64(rows)) }
