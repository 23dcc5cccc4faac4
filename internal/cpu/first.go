package cpu

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// first says that of all groups only the first ones in order of hash are wanted, as where a query
// has a limit and no order. Each worker knows that a group is not among them once it has met as
// many with lower hashes; rows of such groups are dropped once their keys and arguments are known:
// a value that is an error there stays one.
//
// FIRST-KEPT: a row is dropped only if its group has a hash above that of enough groups that are in
// tables. The bound only falls, so that no row of a group that is put out was dropped before.
type first struct {
	groups int
	bound  atomic.Uint64 // groups with greater hashes are not wanted
}

// firstLeast is how many groups a worker has met before it looks for the bound: fewer are no work.
const firstLeast = 2 << 10

// newFirst returns first for so many groups.
func newFirst(groups int) *first {
	f := &first{groups: groups}
	f.bound.Store(math.MaxUint64)
	return f
}

// near is what a worker needs to tell which groups are wanted.
type near struct {
	first *first
	next  int // at how many groups in the table the bound is looked for

	hashes     []uint64
	sel        []int32
	keys, args []column.Buffer
}

func newNear(f *first, pipe Pipeline) *near {
	return &near{
		first: f, next: max(2*f.groups, firstLeast),
		keys: make([]column.Buffer, len(pipe.Keys)), args: make([]column.Buffer, len(pipe.Args)),
	}
}

// lower lowers the bound to the hash of the last of the groups wanted among those of a table.
func (n *near) lower(keys *key.Layout, t *agg.Table) {
	n.hashes = sized(n.hashes, len(t.Rows)/t.Stride)
	keys.RowHashes(t.Rows, t.Stride, n.hashes)
	n.next = 2 * len(n.hashes)
	slices.Sort(n.hashes)
	last, f := n.hashes[n.first.groups-1], n.first
	for {
		bound := f.bound.Load()
		if last >= bound || f.bound.CompareAndSwap(bound, last) {
			return
		}
	}
}

// dropFar drops those of the n rows whose groups are not wanted, from keys, arguments and
// positions, and returns how many are left.
func (w *Worker) dropFar(n int) int {
	bound := w.near.first.bound.Load()
	if bound == math.MaxUint64 {
		return n
	}
	w.encoder.Encode(w.keys, n)
	sel := w.near.sel[:0]
	for i, h := range w.encoder.Hash {
		if h <= bound { // FIRST-KEPT
			sel = append(sel, int32(i))
		}
	}
	w.near.sel = sel
	if len(sel) == n || len(sel) == 0 {
		return len(sel)
	}
	for i := range w.keys {
		w.keys[i] = column.Gather(&w.keys[i], sel, &w.near.keys[i])
	}
	for i := range w.in.Args {
		if w.pipe.Args[i] != nil {
			w.in.Args[i] = column.Gather(&w.in.Args[i], sel, &w.near.args[i])
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
