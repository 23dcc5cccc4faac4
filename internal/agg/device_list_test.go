package agg

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// What a device makes of rows of one entry, and gives back in any order and in pieces, has the
// results of Update: alone, and combined with what the CPU made of other rows.
func TestDeviceLists(t *testing.T) {
	t.Parallel()
	rng, listed := testRand(), 0
	tables(t, deviceGenerators, func(t *testing.T, d *testData) {
		for range 6 {
			l := Compile(listCalls(rng, d), testBase, Options{MaxRows: -1, Device: true})
			row, why := l.DeviceRow()
			if why != "" || slices.ContainsFunc(row.Words, func(w RowWord) bool { return w.From == FromSign }) {
				continue // the latter: not all of these values are words
			}
			listed += len(l.DeviceLists())
			here := rng.IntN(len(d.gids) + 1)
			all := rng.Perm(len(d.gids))
			w := newWorker(l, &arena.Arenas{})
			w.update(d, all[:here])
			back := listsBack(l, row, d, all[here:], w, rng)
			back.merge(w, rng)
			agree(t, l, d, back)
		}
	})
	if listed < 20 {
		t.Errorf("only %d lists were tried", listed)
	}
}

// listCalls are medians and the like of one or two columns, and a sum.
func listCalls(rng *rand.Rand, d *testData) (calls []Call) {
	for _, name := range []string{"median", "mad", "sum", "median"} {
		arg := rng.IntN(len(d.args))
		c := Call{Args: []int{arg}, Types: []column.Type{d.args[arg][0].Type}}
		if f, _, err := Resolve(name, c.Types, nil); err == nil {
			c.Func = f
			calls = append(calls, c)
		}
	}
	return calls
}

// listsBack is the groups of rows as a device gives them back, in a worker beside w.
func listsBack(l *Layout, row OneRow, d *testData, rows []int, w *worker, rng *rand.Rand) *worker {
	back := newWorker(l, w.t.Arena.Registry())
	var made []uint64
	for _, r := range rows {
		key := []uint64{uint64(d.gids[r]), 0}
		made = append(append(append(made, reference.HashOf(key)), key...), madeRow(row, d, r)...)
	}
	ops, mates, _ := l.DeviceOps()
	layout := deviceLayout(ops, mates)
	groups := reference.Combine(&layout, made)
	lists := l.DeviceLists()
	values := make([][]uint64, len(lists)) // of all groups
	for g := 0; g < len(groups); g += layout.Stride() {
		for i, list := range lists {
			var own []uint64
			for r := range slices.Chunk(made, layout.Stride()) {
				if r[1] == groups[g+1] && r[testBase+list.Count] != 0 {
					own = append(own, r[testBase+list.Value])
				}
			}
			groups[g+testBase+list.Value] = uint64(len(values[i]))
			values[i] = append(values[i], own...)
		}
	}
	for g := range slices.Chunk(groups, layout.Stride()) {
		id, _ := back.group(uint32(g[1]))
		copy(back.row(id), g)
		for i := range lists {
			first, n := l.TakeList(back.row(id), i)
			for left := values[i][first : first+n]; len(left) > 0; {
				some := 1 + rng.IntN(len(left))
				l.AppendList(back.row(id), i, left[:some], back.t.Arena)
				left = left[some:]
			}
		}
	}
	return back
}

// The memory that ListNeed asks for is enough, for values in any pieces that are no smaller than a
// buffer.
func TestListNeed(t *testing.T) {
	t.Parallel()
	median, _, err := Resolve("median", []column.Type{{Kind: column.Int64}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := Call{Func: median, Args: []int{0}, Types: []column.Type{{Kind: column.Int64}}}
	l := Compile([]Call{call}, testBase, Options{MaxRows: -1, Device: true})
	list := l.DeviceLists()[0]
	for _, n := range []int{0, 1, 2, 3, combine.LeastValues, combine.LeastValues + 2, 3*combine.LeastValues + 5} {
		for _, first := range []int{1, 2, combine.LeastValues - 1} {
			var b ledger
			reg := arena.New(budgettest.Lender(b.grow))
			a := reg.New()
			row := make([]uint64, testBase+l.Words())
			row[testBase+list.Count] = uint64(n) * list.Unit
			if err := a.Reserve(l.ListNeed(row)); err != nil {
				t.Fatal(err)
			}
			b.asked = 0
			_, all := l.TakeList(row, 0)
			for left := make([]uint64, all); len(left) > 0; first = combine.LeastValues {
				some := min(first, len(left))
				l.AppendList(row, 0, left[:some], a)
				left = left[some:]
			}
			if b.asked > 0 {
				t.Errorf("%d values take more than they need", n)
			}
			reg.Close()
		}
	}
}
