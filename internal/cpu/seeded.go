package cpu

import (
	"context"
	"errors"
	"math/bits"

	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// This file divides rows that have crowded and do not fit in memory by the seeded hash, which
// separates any keys (CROWDED). The groups of each bucket are one sorted run, or
// some if they do not fit either.

const (
	// seededFrom is how many rows groups are to have for that to pay: all rows are written once
	// more. At 1 nothing is combined for it; at 2 half as many are left to merge.
	seededFrom = 2

	// seededMost is the most bits of the hash that divide: each bucket has pages of its own, and is
	// a run to merge: 64 pages that are not full.
	seededMost = 6

	// seededSpare is how many times the memory that groups are expected to take there is. Not
	// measured: with too little a bucket becomes some runs, with too much rows are divided that
	// need not be; either writes them once more.
	seededSpare = 1.25

	// sketchSpare is by how much there may be more groups than sketches say: they are right to 1 or
	// 2 %.
	sketchSpare = 1.1
)

// crowd is how many rows the partition has, and about how many groups, if they crowd. Rows that
// were loaded say little of the groups where each file, or each worker, has its groups once: then
// the workers' sketches say more, if they were shown seeded hashes.
func (m *Merger) crowd() (rows int64, groups float64) {
	rows, groups = m.expected()
	if all := sketchSpare * m.run.groups; all >= float64(m.n) {
		groups = min(groups, all)
	}
	return rows, groups
}

// seededBits is by how many bits of the seeded hash to divide; 0: that does not pay, or the groups
// would not fit.
func (m *Merger) seededBits() uint {
	rows, groups := m.crowd()
	if !m.dir.seeded || float64(rows) < seededFrom*groups {
		return 0
	}
	parts := seededSpare * groups * m.bytesEach() / float64(m.cfg.mergeRoom())
	if n := max(uint(bits.Len(uint(parts))), 1); n <= seededMost {
		return n
	}
	return 0
}

// bytesEach is about what a group takes in memory, by the rows on disk, whose values lie with them.
func (m *Merger) bytesEach() float64 {
	rows, bytes := 1, int64(8*m.cfg.Stride)
	for _, b := range m.in.blocks {
		rows, bytes = rows+int(b.Rows), bytes+b.Bytes()
	}
	return float64(bytes)/float64(rows) + float64(m.cfg.groupBytes()-8*int64(m.cfg.Stride))
}

// makeRuns makes sorted runs of all rows of the source.
func (m *Merger) makeRuns(ctx context.Context) ([]sortedRun, error) {
	if m.restPays() {
		return m.restRuns(ctx)
	}
	n := m.seededBits()
	if n == 0 {
		return m.sortRuns(ctx)
	}
	sub := newStore(m.cfg, m.bucketMemory())
	sub.seeded = true
	sub.open(0, n)
	runs, err := m.divideRuns(ctx, sub)
	return runs, errors.Join(err, sub.close())
}

// divideRuns does so by way of buckets in sub.
func (m *Merger) divideRuns(ctx context.Context, sub *store) (runs []sortedRun, err error) {
	if err := m.moveWhole(ctx, sub); err != nil {
		return nil, err
	}
	for q := range sub.buckets.Partitions() {
		if len(sub.buckets.Blocks(q)) == 0 {
			continue
		}
		if err := m.loadSeeded(ctx, sub, q); err != nil && !refused(err) {
			return runs, err
		}
		some, err := m.sortRuns(ctx)
		if runs = append(runs, some...); err != nil {
			return runs, err
		}
	}
	return runs, nil
}

// loadSeeded begins with a partition of sub, and loads its rows. The directory knows the bits that
// their seeded hashes share: without, all would have their home slots in one part of it, and crowd
// there.
func (m *Merger) loadSeeded(ctx context.Context, sub *store, q int) error {
	m.begin([]*partition.Buckets{sub.buckets}, merge.Range{First: q, N: 1}, sub.buckets.Bits())
	m.in.seeded = true
	return m.load(ctx)
}

// scatterSeeded places rows in buckets by their seeded hash. It returns how many it placed.
func (s *store) scatterSeeded(rows []uint64) (placed int, err error) {
	stride, shift := s.cfg.Stride, 64-s.buckets.Bits()
	for ; len(rows) > 0; rows = rows[stride:] {
		row := rows[:stride:stride]
		if err := s.buckets.Place(row, int(s.cfg.Keys.Secret(row, s.cfg.Keys.Base(), s.cfg.Arenas)>>shift)); err != nil {
			return placed, err
		}
		placed++
	}
	return placed, nil
}
