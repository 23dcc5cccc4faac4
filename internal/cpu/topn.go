package cpu

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file leaves out most groups before any is merged, where only those of the greatest rank, as
// by their counts, are wanted and all groups lie in tables that have grown to the end of the input.
// Then a key is in each table once at most, and the rank of its group is the sum of its ranks in
// all tables, or the greatest of them (agg.Rank).
//
//	the greatest ranks of each table  ──look-ups──▶ those of their groups ──▶ the bound: N groups have as much
//	the bound / tables                ──▶ candidates: a group that has as much has a row that has this, in one table at least
//	candidates ──look-ups──▶ their rows, in all tables. The others leave
//
// Where the greatest rank is the group's, its row has the bound itself.
//
// TOP-KEPT: a group with the rank of the last one wanted stays, with all its rows.

// TopN says that of all groups only the N of the greatest rank are wanted, and those with the rank
// of the last of them.
type TopN struct {
	Groups int
	agg.Rank
}

const (
	// MostTopN is the greatest N: as many ranks are 8 KiB, which stay in a core's first cache.
	MostTopN = 1 << 10
	// topShare is of how many groups at most one is a candidate. Candidates are looked up in each
	// table, which costs up to a sixteenth of merging all groups.
	topShare = 16
	// topBlock is of how many groups the greatest rank is kept: their rows are in a core's first
	// cache when they are read for their hashes and for their ranks, and few blocks of many have a
	// candidate.
	topBlock = hashRows
)

// rank is the rank in a row.
func (t *TopN) rank(row []uint64) uint64 { return row[t.Word]>>(t.Shift&63)&t.Mask ^ t.Flip }

// placed is where a group is.
type placed struct {
	worker int
	group  uint32
	rank   uint64
}

// dropBelowTopN has the groups leave the tables that are not among the first N, if there are many
// groups.
func (r *Run) dropBelowTopN(workers []*Worker, groups int) error {
	if r.cfg.TopN == nil || groups <= smallResult || r.accelerator != nil || len(r.back) > 0 {
		return nil
	}
	t := topNFinder{TopN: r.cfg.TopN, run: r}
	for _, w := range workers {
		if w.phase == phaseTable && w.table.n == 0 && w.store.buckets == nil {
			continue
		}
		if !w.mayStay() || w.store.buckets != nil {
			return nil
		}
		t.workers = append(t.workers, w)
	}
	t.tops = make([][]uint64, len(t.workers))
	least, err := t.least()
	if err != nil || least < 2 {
		return err
	}
	candidates, few, err := t.candidates(least, groups/(topShare*len(t.workers)))
	if err != nil || !few {
		return err
	}
	return t.each(func(i int) error { t.keep(i, candidates); return nil })
}

// topNFinder looks for the greatest ranks.
type topNFinder struct {
	*TopN
	run     *Run
	workers []*Worker // whose tables have groups
	// by worker: the greatest rank of each topBlock groups, which tells where no candidate is
	tops [][]uint64
}

// each calls f for each worker, at once.
func (t *topNFinder) each(f func(i int) error) error {
	errs := make([]error, len(t.workers))
	each(len(errs), func(i int) {
		defer invariant.Recovered(&errs[i])
		errs[i] = f(i)
	})
	return errors.Join(errs...)
}

// tables is in how many tables a key may be.
func (t *topNFinder) tables() uint64 {
	if t.run.joined {
		return 1
	}
	return uint64(len(t.workers))
}

// least is the least rank, in one table, of a group that is wanted; 0: not known.
func (t *topNFinder) least() (uint64, error) {
	greatest := make([][]placed, len(t.workers))
	err := t.each(func(i int) error { greatest[i] = t.greatest(i); return nil })
	if err != nil {
		return 0, err
	}
	var ranks []uint64
	met := map[placed]bool{}
	for _, p := range slices.Concat(greatest...) {
		if first, rank := t.whole(p); !met[first] {
			met[first] = true
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) < t.Groups {
		return 0, nil
	}
	slices.Sort(ranks)
	bound := ranks[len(ranks)-t.Groups]
	if t.Greatest {
		return bound, nil
	}
	return (bound + t.tables() - 1) / t.tables(), nil
}

// greatest is the groups of a worker's table of the greatest rank, as many as are wanted. It goes
// over all rows, so it also shows their hashes to the sketch, and keeps the greatest rank of each
// block.
func (t *topNFinder) greatest(worker int) []placed {
	w := t.workers[worker]
	tab, best := w.table, rankHeap{most: t.Groups}
	block := topBlock * tab.rows.Stride
	for rows, first := tab.rows.Rows, uint32(0); len(rows) > 0; first += topBlock {
		some := rows[:min(block, len(rows))]
		rows = rows[len(some):]
		w.note(some)
		top := uint64(0)
		for g := first; len(some) > 0; g, some = g+1, some[tab.rows.Stride:] {
			n := t.rank(some)
			if top = max(top, n); best.takes(n) && !tab.hasLeft(g) {
				best.add(placed{worker, g, n})
			}
		}
		t.tops[worker] = append(t.tops[worker], top)
	}
	w.noted = true
	return best.all
}

// rankHeap is the groups of the greatest rank so far: once they are as many as are wanted, a heap
// with the least of them first.
type rankHeap struct {
	most int
	all  []placed
}

// takes reports whether a group of rank n belongs there.
func (h *rankHeap) takes(n uint64) bool { return len(h.all) < h.most || n > h.all[0].rank }

// add adds a group that belongs there, in place of the least one if there are enough.
func (h *rankHeap) add(p placed) {
	if len(h.all) < h.most {
		if h.all = append(h.all, p); len(h.all) == h.most {
			slices.SortFunc(h.all, func(a, b placed) int { return cmp.Compare(a.rank, b.rank) })
		}
		return
	}
	h.all[0] = p
	for i := 0; ; { // downwards
		k := 2*i + 1
		if k+1 < len(h.all) && h.all[k+1].rank < h.all[k].rank {
			k++
		}
		if k >= len(h.all) || h.all[i].rank <= h.all[k].rank {
			return
		}
		h.all[i], h.all[k] = h.all[k], h.all[i]
		i = k
	}
}

// whole is a group's rank by all tables, and where it is in the first of them.
func (t *topNFinder) whole(p placed) (first placed, rank uint64) {
	first, rank = placed{worker: p.worker, group: p.group}, p.rank
	if t.tables() == 1 {
		return first, rank
	}
	row := t.row(p)
	for i, w := range t.workers {
		if i == p.worker {
			continue
		}
		if g := w.table.lookUp(t.run.cfg, row); g != noGroup {
			if here := t.rank(t.row(placed{worker: i, group: g})); t.Greatest {
				rank = max(rank, here)
			} else {
				rank += here
			}
			if i < first.worker {
				first = placed{worker: i, group: g}
			}
		}
	}
	return first, rank
}

// row is the row of a group.
func (t *topNFinder) row(p placed) []uint64 {
	rows := &t.workers[p.worker].table.rows
	return rows.Rows[int(p.group)*rows.Stride : int(p.group+1)*rows.Stride]
}

// candidates is the groups that have such a rank in a table; few: they are as many as most at most.
func (t *topNFinder) candidates(least uint64, most int) (all []placed, few bool, err error) {
	lists := make([][]placed, len(t.workers))
	var n atomic.Int64
	err = t.each(func(i int) error {
		tab := t.workers[i].table
		block := topBlock * tab.rows.Stride
		for b, top := range t.tops[i] {
			if top < least {
				continue
			}
			some := tab.rows.Rows[b*block : min((b+1)*block, len(tab.rows.Rows))]
			for g := uint32(b) * topBlock; len(some) > 0; g, some = g+1, some[tab.rows.Stride:] {
				if t.rank(some) < least || tab.hasLeft(g) {
					continue
				}
				if lists[i] = append(lists[i], placed{worker: i, group: g}); n.Add(1) > int64(most) {
					return nil
				}
			}
		}
		return nil
	})
	return slices.Concat(lists...), n.Load() <= int64(most), err
}

// keep has all groups leave a worker's table but candidates.
func (t *topNFinder) keep(worker int, candidates []placed) {
	w := t.workers[worker]
	tab := w.table
	stays := make([]uint64, (tab.n+63)/64)
	tab.leaving = tab.n
	for _, p := range candidates {
		g := p.group
		if p.worker != worker {
			if g = noGroup; t.tables() > 1 {
				g = tab.lookUp(t.run.cfg, t.row(p))
			}
		}
		if g != noGroup && stays[g/64]>>(g%64)&1 == 0 {
			stays[g/64] |= 1 << (g % 64)
			tab.leaving--
		}
	}
	for i := range stays {
		stays[i] = ^stays[i]
	}
	tab.left = stays
}

// lookUp is the group with the key of a row of another table; noGroup: there is none.
func (t *table) lookUp(c *Config, row []uint64) uint32 {
	hash := c.Keys.RowHash(row)
	for s := t.dir.home(hash); t.dir.slots[s] != 0; s = t.dir.next(s) {
		if e := t.dir.slots[s]; t.dir.tagged(e, hash) {
			g := t.dir.group(e)
			if c.Keys.Equal(row, t.rows.Rows[int(g)*t.rows.Stride:], t.base, c.Arenas) {
				return g
			}
		}
	}
	return noGroup
}
