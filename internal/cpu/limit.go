package cpu

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// hashLimit is a limit without an order: of all groups only the first ones in order of hash are
// wanted. Each worker knows that a group is not among them once it has met as many with lower
// hashes. Rows of such groups are dropped after their keys and arguments were computed, so that an
// error of these stays one. Devices tell such hashes of their tables (LowerBound), and pass over
// the rows beyond the bound that they would make.
//
// FIRST-KEPT: a row is dropped only if its group has a hash above that of enough groups that are in
// tables, of workers or of devices. The bound only falls, so that no row of a group that is put out
// was dropped before. When what devices have is void, a run with a bound of its own begins.
type hashLimit struct {
	groups int
	bound  atomic.Uint64 // groups with greater hashes are not wanted
}

// limitLeast is how many groups a worker has met before it looks for the bound: fewer are no work.
const limitLeast = 2 << 10

// newHashLimit is a limit of some number of groups.
func newHashLimit(groups int) *hashLimit {
	f := &hashLimit{groups: groups}
	f.bound.Store(math.MaxUint64)
	return f
}

// Limit is how many groups are wanted, the first in order of hash; 0: all.
func (r *Run) Limit() int {
	if r.limit == nil {
		return 0
	}
	return r.limit.groups
}

// Bound is the hash that those of the wanted groups do not exceed, as far as it is known by now.
// Without a limit it is the greatest hash.
func (r *Run) Bound() uint64 {
	if r.limit == nil {
		return math.MaxUint64
	}
	return r.limit.bound.Load()
}

// LowerBound tells that at least Limit groups, which the accelerator has, have hashes up to
// this one (FIRST-KEPT). The run has a limit.
func (r *Run) LowerBound(hash uint64) { r.limit.lower(hash) }

// lower lowers the bound to a hash, if that is less.
func (f *hashLimit) lower(hash uint64) {
	for {
		bound := f.bound.Load()
		if hash >= bound || f.bound.CompareAndSwap(bound, hash) {
			return
		}
	}
}

// TableGroups is about how many groups a worker has met when it has dropped those that are not
// among the first of a limit.
func TableGroups(limit int64) int64 { return 2 * max(2*limit, limitLeast) }

// hashLimiter is a worker's part of a limit: it lowers the bound, and drops rows beyond it.
type hashLimiter struct {
	limit *hashLimit
	next  int // at how many groups in the table the bound is looked for

	hashes     []uint64
	sel        []int32
	keys, args []column.Buffer
}

func newHashLimiter(f *hashLimit, pipe Pipeline) *hashLimiter {
	return &hashLimiter{
		limit: f, next: max(2*f.groups, limitLeast),
		keys: make([]column.Buffer, len(pipe.Keys)), args: make([]column.Buffer, len(pipe.Args)),
	}
}

// lower lowers the bound to the hash of the last of the groups wanted among those of a table.
func (n *hashLimiter) lower(keys *key.Layout, t *agg.Table) {
	n.hashes = sized(n.hashes, len(t.Rows)/t.Stride)
	keys.RowHashes(t.Rows, t.Stride, n.hashes)
	n.next = 2 * len(n.hashes)
	slices.Sort(n.hashes)
	n.limit.lower(n.hashes[n.limit.groups-1])
}

// dropBeyondLimit drops those of the n rows whose groups are not wanted, from keys, arguments and
// positions, and returns how many are left.
func (w *Worker) dropBeyondLimit(n int) int {
	bound := w.limiter.limit.bound.Load()
	if bound == math.MaxUint64 {
		return n
	}
	w.encoder.Encode(w.keys, n)
	sel := w.limiter.sel[:0]
	for i, h := range w.encoder.Hash {
		if h <= bound { // FIRST-KEPT
			sel = append(sel, int32(i))
		}
	}
	w.limiter.sel = sel
	if len(sel) == n || len(sel) == 0 {
		return len(sel)
	}
	for i := range w.keys {
		w.keys[i] = column.Gather(&w.keys[i], sel, &w.limiter.keys[i])
	}
	for i := range w.in.Args {
		if w.pipe.Args[i] != nil {
			w.in.Args[i] = column.Gather(&w.in.Args[i], sel, &w.limiter.args[i])
		}
	}
	if w.cfg.States.NeedsPos() {
		for i, row := range sel {
			w.in.Pos[i] = w.in.Pos[row]
		}
		w.in.Pos = w.in.Pos[:len(sel)]
	}
	return len(sel)
}
