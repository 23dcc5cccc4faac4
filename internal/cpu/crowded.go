package cpu

import (
	"context"
	"errors"
)

// This file is what keeps keys that were made to have the same hash, or hashes
// that begin alike, from making the time quadratic (F10): a directory in which
// a group lies far from its home slot is given up. A worker places tiles
// instead, which looks nothing up. A merger divides the partition by further
// bits, where there is a disk, and sorts it where there is none.

// mostFar is how far from its home slot a group may lie. With the hashes of
// keys that nobody chose for that, none lies so far: the longest run of slots
// that follow each other is expected to be below 600 in a directory of 2^30
// slots that is three quarters full, about 100 in one that is half full.
const mostFar = 1 << 10

// crowded reports whether the directory is to be given up.
func (d *directory) crowded() bool { return d.far > mostFar }

// errCrowded stops the loading of a partition. It counts as a refusal of
// memory: dividing is the way out of both.
var errCrowded error = &RefusedError{errors.New("too many keys have the same hash")}

// reserveSort makes sure of the memory for sortCrowded.
func (m *Merger) reserveSort() error {
	n := m.loadedRows()
	if m.cfg.hasRefs() {
		if err := m.makeRoom(m.cfg.States.CombineNeed(0, n)); err != nil {
			return err
		}
	}
	return m.growIndex(n)
}

// sortCrowded emits the groups of a partition that is in memory, by sorting
// them: in time n log n, whatever the hashes.
func (m *Merger) sortCrowded(ctx context.Context) error {
	defer m.dropIndex()
	rows, err := m.fuse(ctx, m.index())
	if err != nil {
		return err
	}
	m.out.begin()
	for _, n := range rows {
		m.out.tile = append(m.out.tile, m.row(n)...)
		if err := m.settle(); err != nil {
			return err
		}
	}
	return m.emitRest()
}
