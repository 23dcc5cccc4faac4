package cpu

import (
	"context"
	"errors"
	"unsafe"
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
	n := m.n + m.resident()
	bytes := int64(n) * int64(unsafe.Sizeof([]uint64{}))
	if m.cfg.hasRefs() {
		if err := m.makeRoom(m.cfg.States.CombineNeed(0, n)); err != nil {
			return err
		}
	}
	if err := m.ask(bytes); err != nil {
		return err
	}
	m.held += bytes
	return nil
}

// sortCrowded emits the groups of a partition that is in memory, by sorting
// them: in time n log n, whatever the hashes.
func (m *Merger) sortCrowded(ctx context.Context) error {
	defer m.freeDirectory()
	rows := make([][]uint64, 0, m.n+m.resident())
	for _, e := range m.dir.slots {
		if e != 0 {
			rows = append(rows, m.row(m.dir.group(e)))
		}
	}
	for _, page := range m.waiting() {
		rows = m.rowsOf(rows, page)
	}
	rows, err := m.fuse(ctx, rows)
	if err != nil {
		return err
	}
	sorted := emitter{rows: rows, emit: m.out.emit}
	return sorted.flush()
}
