package cpu

import (
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/partition"
)

// This file is how a worker comes to partition its groups, and does.

const (
	// reserveFactor is how much more room a table gets than it is expected
	// to need: estimates are a few per cent off.
	reserveFactor = 1.1
	// reserveMost is how many times its present groups a table gets room for
	// at most: while most rows are new groups, the estimate means little.
	reserveMost = 4
)

// judge decides whether the table is worth keeping, each time the rows seen
// have doubled.
func (w *Worker) judge() error {
	w.nextCheck = 2 * w.rows
	groups := feedback.ExpectedGroups(w.rows, int64(w.table.n), w.cfg.Rows)
	if w.cfg.Tile.DecideTile(w.rows, int64(w.table.n), w.cfg.Rows) == feedback.KeepTable {
		w.table.reserve(int(min(groups*reserveFactor, reserveMost*float64(w.table.n))))
		return nil
	}
	if err := w.flush(w.cfg.choose(groups)); err != nil {
		return err
	}
	w.phase = phaseScatter
	return nil
}

// flush empties the table into buckets of 2^hashBits partitions.
func (w *Worker) flush(hashBits uint) error {
	if w.buckets == nil {
		w.buckets = partition.New(hashBits, w.cfg.Pool)
	}
	err := w.buckets.Scatter(w.table.rows.Rows)
	w.table.drop()
	w.table, w.codes = nil, codes{}
	return err
}

// scatter makes a tile of the n rows and places it.
func (w *Worker) scatter(n int) error {
	if err := w.encode(w.keys, n); err != nil {
		return err
	}
	w.encoder.Store(w.arena)
	stride := w.cfg.stride()
	w.growTile(n)
	tile := w.tile.Rows[:n*stride]
	copy(tile, w.fresh)
	for i, h := range w.encoder.Hash {
		tile[i*stride] = h
	}
	for k, words := range w.encoder.Words {
		for i, x := range words {
			tile[i*stride+1+k] = x
		}
	}
	w.tile.Unseen = false
	w.cfg.States.Update(&w.tile, w.identity[:n], 0, &w.in)
	return w.buckets.Scatter(tile)
}

// growTile makes room for a tile of n rows.
func (w *Worker) growTile(n int) {
	stride := w.cfg.stride()
	if cap(w.tile.Rows) >= n*stride {
		return
	}
	w.tile.Rows = make([]uint64, n*stride)
	w.fresh = make([]uint64, n*stride)
	w.identity = make([]uint32, n)
	for i := range n {
		w.cfg.States.Init(w.fresh[i*stride : (i+1)*stride])
		w.identity[i] = uint32(i)
	}
}

// Groups is how many groups the worker's table holds, and whether the worker
// has begun to partition.
func (w *Worker) Groups() (n int, partitioned bool) {
	if w.phase == phaseScatter {
		return 0, true
	}
	return int(w.table.n), false
}

// Finish ends the input of the worker: all its groups are in the returned
// buckets, of 2^hashBits partitions unless it has partitioned before.
func (w *Worker) Finish(hashBits uint) (*partition.Buckets, error) {
	if w.phase != phaseScatter {
		if err := w.flush(hashBits); err != nil {
			return nil, err
		}
	}
	return w.buckets, nil
}
