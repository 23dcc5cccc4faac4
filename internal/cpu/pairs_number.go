package cpu

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file gives the groups of all workers' tables numbers that are the same where their keys are:
// each worker has numbers of its own, one behind the other's, and a group that is in several tables
// has that of the first. When no more rows are added to these tables, such groups become one at
// once, and merging finds only that.
//
// It goes by ranges of hashes, each for one goroutine: the groups of a range, worker by worker, are
// entered into a directory that stays in the cache.

// numbering is the numbers of all groups.
type numbering struct {
	cfg     *Config
	workers []*Worker
	first   []uint32 // by worker: its first number
	all     int      // numbers
	// by worker and group: the number, where there are several workers; else nil, and the group has
	// its own
	shared [][]uint32
	order  [][]uint32 // by worker: groups by range
	starts [][]uint32 // by worker and range: where its groups begin in order
	bits   uint       // of the hash: the range
	join   bool       // groups that are the same become one, that of the first
	next   atomic.Int64
}

const (
	// rangeGroups is about how many groups a range has: their slots are 64 KiB, which stay in a
	// core's second-level cache.
	rangeGroups = 4 << 10
	// mostRanges is how many there are at most, in bits.
	mostRanges = 14
	rangeSlot  = 2 // words
)

// newNumbering counts the groups; false: there are too many, or keys that were made to crowd.
func newNumbering(cfg *Config, workers []*Worker) (n *numbering, ok bool) {
	n = &numbering{cfg: cfg, workers: workers, join: len(cfg.Distinct) == 1 && !cfg.States.HasRefs()}
	all := 0
	for _, w := range workers {
		if w.table.dir.seeded {
			return nil, false
		}
		n.first = append(n.first, uint32(all))
		all += int(w.table.n)
	}
	n.all = all
	n.bits = min(uint(bits.Len(uint(all/rangeGroups))), mostRanges)
	return n, all < math.MaxUint32
}

// bytes is about what the numbers take while they are made.
func (n *numbering) bytes() int64 {
	if len(n.workers) == 1 {
		return 0
	}
	directory := 4 * rangeGroups * 8 * rangeSlot
	return 8*int64(n.all) + int64(len(n.workers))*(int64(directory)+4<<n.bits)
}

// number numbers the groups.
func (n *numbering) number(ctx context.Context) error {
	if len(n.workers) == 1 {
		return nil
	}
	k := len(n.workers)
	n.shared, n.order, n.starts = make([][]uint32, k), make([][]uint32, k), make([][]uint32, k)
	errs := make([]error, k)
	each(k, func(i int) {
		defer invariant.Recovered(&errs[i])
		n.arrange(i)
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	each(k, func(i int) {
		defer invariant.Recovered(&errs[i])
		errs[i] = n.work(ctx)
	})
	n.order, n.starts = nil, nil
	return errors.Join(errs...)
}

// arrange lists the groups of a worker by range.
func (n *numbering) arrange(worker int) {
	t := n.workers[worker].table
	rows, stride := t.rows.Rows, t.rows.Stride
	shift := 64 - n.bits
	starts := make([]uint32, 1<<n.bits+1)
	for at := 0; at < len(rows); at += stride {
		starts[rows[at]>>shift+1]++
	}
	for r := 1; r < len(starts); r++ {
		starts[r] += starts[r-1]
	}
	order, next := make([]uint32, t.n), append([]uint32(nil), starts...)
	for g, at := 0, 0; at < len(rows); g, at = g+1, at+stride {
		r := rows[at] >> shift
		order[next[r]] = uint32(g)
		next[r]++
	}
	n.shared[worker], n.order[worker], n.starts[worker] = make([]uint32, t.n), order, starts
}

// ranger numbers the groups of a range.
//
//	slot  hash of a group's key, its worker and its number in the worker's table + 1; zeros: none
type ranger struct {
	*numbering
	slots []uint64
	shift uint
	tried [touchRows]uint64 // the likely groups of some rows; 0: none

	touched byte // see Merger.touchLong
}

// work numbers the groups of ranges until none is left.
func (n *numbering) work(ctx context.Context) error {
	r := ranger{numbering: n}
	for {
		i := int(n.next.Add(1)) - 1
		if i >= 1<<n.bits {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.numberRange(i)
	}
}

// numberRange numbers the groups of range i.
func (r *ranger) numberRange(i int) {
	all := 0
	for w := range r.workers {
		all += int(r.starts[w][i+1] - r.starts[w][i])
	}
	b := dirBits(max(all, 1))
	if len(r.slots) != rangeSlot<<b {
		r.slots = make([]uint64, rangeSlot<<b)
	}
	clear(r.slots)
	r.shift = 64 - b
	for w := range r.workers {
		groups := r.order[w][r.starts[w][i]:r.starts[w][i+1]]
		for len(groups) > 0 {
			some := groups[:min(len(groups), touchRows)]
			r.enter(w, some)
			groups = groups[len(some):]
		}
	}
}

// home is the slot of a hash, of which all in the range begin with the same bits.
func (r *ranger) home(hash uint64) uint64 { return rangeSlot * (hash << r.bits >> r.shift) }

// row is the row of a group by what a slot says of it.
func (r *ranger) row(group uint64) []uint64 {
	t := r.workers[(group-1)>>32].table
	at := int(uint32(group-1)) * t.rows.Stride
	return t.rows.Rows[at : at+t.rows.Stride]
}

// enter numbers some groups of a worker, among which none have the same key. What others they are
// likely to be is looked up first, for all of them, and the ends of texts are read, so that cache
// misses overlap.
func (r *ranger) enter(worker int, groups []uint32) {
	t, mask, chunks := r.workers[worker].table, uint64(len(r.slots)-1), r.cfg.Arenas.Chunks()
	var hashes [touchRows]uint64
	for i, g := range groups {
		hashes[i] = t.rows.Rows[int(g)*t.rows.Stride]
	}
	sum := byte(0)
	for i, g := range groups {
		s := r.home(hashes[i])
		for r.slots[s+1] != 0 && r.slots[s] != hashes[i] {
			s = (s + rangeSlot) & mask
		}
		if r.tried[i] = r.slots[s+1]; r.tried[i] != 0 {
			sum += r.cfg.Keys.Touch(t.rows.Rows[int(g)*t.rows.Stride:], 1, chunks) + r.cfg.Keys.Touch(r.row(r.tried[i]), 1, chunks)
		}
	}
	r.touched += sum
	for i, g := range groups {
		own := uint64(worker)<<32 | uint64(g) + 1
		group := r.tried[i]
		if group == 0 || !r.same(own, group) {
			group = r.find(hashes[i], own)
		}
		r.shared[worker][g] = r.first[(group-1)>>32] + uint32(group-1)
		if group != own && r.join {
			r.cfg.States.Join(r.row(group), r.row(own), r.cfg.Arenas, nil)
		}
	}
}

// find is the group with the key of a group, which is entered if there is none.
func (r *ranger) find(hash, own uint64) uint64 {
	s, mask := r.home(hash), uint64(len(r.slots)-1)
	for ; r.slots[s+1] != 0; s = (s + rangeSlot) & mask {
		if r.slots[s] == hash && r.same(own, r.slots[s+1]) {
			return r.slots[s+1]
		}
	}
	r.slots[s], r.slots[s+1] = hash, own
	return own
}

// same reports whether two groups have the same key.
func (r *ranger) same(a, b uint64) bool { return r.cfg.Keys.Equal(r.row(a), r.row(b), 1, r.cfg.Arenas) }

// of is the numbers of a worker's groups; nil: their own.
func (n *numbering) of(worker int) []uint32 {
	if n.shared == nil {
		return nil
	}
	return n.shared[worker]
}

// leave takes the groups of a worker that were joined with those of others out of its table.
func (n *numbering) leave(worker int) {
	if n.shared == nil || !n.join {
		return
	}
	t := n.workers[worker].table
	t.left = make([]uint64, (t.n+63)/64)
	for g, number := range n.shared[worker] {
		if number != n.first[worker]+uint32(g) {
			t.left[g/64] |= 1 << (g % 64)
			t.leaving++
		}
	}
}
