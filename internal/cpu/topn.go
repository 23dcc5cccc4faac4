package cpu

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file leaves out most groups before any is merged, where only those with the greatest counts
// are wanted and all groups lie in tables that have grown to the end of the input. Then a key is in
// each table once at most, and the count of its group is the sum of its counts in all tables.
//
//	the greatest counts of each table ──look-ups──▶ their sums ──▶ the bound: N groups count as much
//	the bound / tables                ──▶ candidates: a group that counts as much has a row that counts this, in one table at least
//	candidates ──look-ups──▶ their rows, in all tables. The others leave
//
// TOP-KEPT: a group that counts as much as the last one wanted stays, with all its rows.

// TopN says that of all groups only the N with the greatest counts are wanted, and those that count
// as much as the last of them.
type TopN struct {
	Groups int
	Word   int // of a row, where its count is: (row[Word] >> Shift) & Mask
	Shift  uint8
	Mask   uint64
}

const (
	// MostTopN is the greatest N: as many counts are 8 KiB, which stay in a core's first cache.
	MostTopN = 1 << 10
	// topShare is of how many groups at most one is a candidate. Candidates are looked up in each
	// table, which costs up to a sixteenth of merging all groups.
	topShare = 16
)

// count is the count in a row.
func (t *TopN) count(row []uint64) uint64 { return row[t.Word] >> (t.Shift & 63) & t.Mask }

// placed is where a group is.
type placed struct {
	worker int
	group  uint32
	count  uint64
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

// topNFinder looks for the greatest counts.
type topNFinder struct {
	*TopN
	run     *Run
	workers []*Worker // whose tables have groups
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

// least is the least count, in one table, of a group that is wanted; 0: not known.
func (t *topNFinder) least() (uint64, error) {
	greatest := make([][]placed, len(t.workers))
	err := t.each(func(i int) error { greatest[i] = t.greatest(i); return nil })
	if err != nil {
		return 0, err
	}
	var sums []uint64
	met := map[placed]bool{}
	for _, p := range slices.Concat(greatest...) {
		if first, sum := t.sum(p); !met[first] {
			met[first] = true
			sums = append(sums, sum)
		}
	}
	if len(sums) < t.Groups {
		return 0, nil
	}
	slices.Sort(sums)
	bound := sums[len(sums)-t.Groups]
	return (bound + t.tables() - 1) / t.tables(), nil
}

// greatest is the groups of a worker's table with the greatest counts, as many as are wanted.
func (t *topNFinder) greatest(worker int) (heap []placed) {
	tab := t.workers[worker].table
	stride := tab.rows.Stride
	for g, rows := uint32(0), tab.rows.Rows; len(rows) > 0; g, rows = g+1, rows[stride:] {
		n := t.count(rows)
		if len(heap) == t.Groups && n <= heap[0].count || tab.hasLeft(g) {
			continue
		}
		p := placed{worker, g, n}
		if len(heap) < t.Groups {
			heap = append(heap, p)
			if len(heap) == t.Groups {
				slices.SortFunc(heap, func(a, b placed) int { return cmp.Compare(a.count, b.count) })
			}
			continue
		}
		heap[0] = p
		for i := 0; ; { // downwards
			k := 2*i + 1
			if k+1 < len(heap) && heap[k+1].count < heap[k].count {
				k++
			}
			if k >= len(heap) || heap[i].count <= heap[k].count {
				break
			}
			heap[i], heap[k] = heap[k], heap[i]
			i = k
		}
	}
	return heap
}

// sum is the sum of a group's counts in all tables, and where it is in the first of them.
func (t *topNFinder) sum(p placed) (first placed, sum uint64) {
	first, sum = placed{worker: p.worker, group: p.group}, p.count
	if t.tables() == 1 {
		return first, sum
	}
	row := t.row(p)
	for i, w := range t.workers {
		if i == p.worker {
			continue
		}
		if g := w.table.lookUp(t.run.cfg, row); g != noGroup {
			sum += t.count(t.row(placed{worker: i, group: g}))
			if i < first.worker {
				first = placed{worker: i, group: g}
			}
		}
	}
	return first, sum
}

// row is the row of a group.
func (t *topNFinder) row(p placed) []uint64 {
	rows := &t.workers[p.worker].table.rows
	return rows.Rows[int(p.group)*rows.Stride : int(p.group+1)*rows.Stride]
}

// candidates is the groups that count so much in a table; few: they are as many as most at most.
func (t *topNFinder) candidates(least uint64, most int) (all []placed, few bool, err error) {
	lists := make([][]placed, len(t.workers))
	var n atomic.Int64
	err = t.each(func(i int) error {
		tab := t.workers[i].table
		for g, rows := uint32(0), tab.rows.Rows; len(rows) > 0; g, rows = g+1, rows[tab.rows.Stride:] {
			if t.count(rows) < least || tab.hasLeft(g) {
				continue
			}
			if lists[i] = append(lists[i], placed{worker: i, group: g}); n.Add(1) > int64(most) {
				break
			}
		}
		return nil
	})
	return slices.Concat(lists...), n.Load() <= int64(most), err
}

// keep has all groups leave a worker's table but candidates. Their hashes are shown to the sketch
// before, as those of all groups are.
func (t *topNFinder) keep(worker int, candidates []placed) {
	w := t.workers[worker]
	tab := w.table
	w.note(tab.rows.Rows)
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
