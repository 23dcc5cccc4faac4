package cpu

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
)

// distinctRun is count(distinct v), and sum(distinct v) if sums is set, by the first keys columns
// of batches, v being the next.
type distinctRun struct {
	keys int
	sums bool
	in   batches
	want map[[2]int64][2]int64
}

// newDistinctRun makes some batches with NULLs and zeros among the values. Columns are flat, coded
// or, mixed, either.
func newDistinctRun(keys int, sums bool, nbatches, rows, values int, form string) *distinctRun {
	r := &distinctRun{keys: keys, sums: sums, want: map[[2]int64][2]int64{}}
	rng := rand.New(rand.NewPCG(3, uint64(values)))
	met := map[[3]int64]bool{}
	for n := range nbatches {
		cols := make([]column.Vector, keys+1)
		for range rows {
			k := [3]int64{0, 0, rng.Int64N(int64(values)) - 5}
			for i := range keys {
				k[i] = rng.Int64N(7)
				cols[i].Int = append(cols[i].Int, k[i])
			}
			null := rng.IntN(9) == 0
			cols[keys].Int, cols[keys].Null = append(cols[keys].Int, k[2]), append(cols[keys].Null, null)
			if group := [2]int64{k[0], k[1]}; !null && !met[k] {
				met[k] = true
				sum := r.want[group]
				r.want[group] = [2]int64{sum[0] + 1, sum[1] + k[2]}
			}
		}
		for i := range cols {
			cols[i].Type, cols[i].Len = int64Type, rows
			if form == "coded" || form == "mixed" && (n+i)%2 == 0 {
				null := cols[i].Null
				cols[i] = coded(cols[i])
				cols[i].Null = null
			}
		}
		r.in = append(r.in, column.Batch{Rows: rows, First: int64(n * rows), Cols: cols})
	}
	return r
}

// config is the run's, with so many bytes for a shared set.
func (r *distinctRun) config(shared int64, from budget.Lender) *setup {
	cols := make([]key.Column, r.keys, r.keys+1)
	for i := range cols {
		cols[i] = key.Column{Type: int64Type, Filled: true}
	}
	l, inner := key.NewLayout(cols), key.NewLayout(append(cols, key.Column{Type: int64Type, Filled: true}))
	names := []string{"count"}
	if r.sums {
		names = append(names, "sum")
	}
	var calls []agg.Call
	for _, name := range names {
		f, _, err := agg.Resolve(name, []column.Type{int64Type}, nil)
		if err != nil {
			panic(err)
		}
		calls = append(calls, agg.Call{Func: f, Args: []int{0}, Types: []column.Type{int64Type}, Part: 1})
	}
	states := agg.Compile(calls, 1+l.Words, agg.Options{MaxRows: -1, Filled: []bool{!r.sums}})
	cfg := &setup{Config: &Config{
		Keys: l, Intern: key.NewInterner(nil), States: states, Arenas: arena.New(from), Stride: Stride(l, states),
		Rows: -1, AtMost: -1, Table: feedback.DefaultTableConfig, Budget: from,
	}}
	cfg.Distinct = []Distinct{{
		Part: 1, Values: states.Part(1).Takes(0), Shared: shared, Sets: []SetKeys{{inner, AllColumns(r.keys + 1)}},
		Config: &Config{
			Keys: inner, Intern: cfg.Intern, States: agg.Compile(nil, 1+inner.Words, agg.Options{MaxRows: -1}), Arenas: cfg.Arenas,
			Stride: 1 + inner.Words, Partitions: 4, Rows: int64(len(r.in)) * int64(r.in[0].Rows), AtMost: -1, Table: cfg.Table, Budget: from,
		},
	}}
	return cfg
}

// run runs it and returns what came of the inner run, too.
func (r *distinctRun) run(t *testing.T, cfg *setup, threads int) (map[[2]int64][2]int64, Folded, error) {
	t.Helper()
	cfg.Distinct[0].Config.Threads = threads
	var keys []Evaluator
	for i := range r.keys {
		keys = append(keys, columnAt(i))
	}
	g, err := cfg.group(t.Context(), Input{
		Units: len(r.in), Reader: func() Reader { return &batchReader{all: r.in} }, Done: func(int, int64) {},
		Pipeline: func() Pipeline { return Pipeline{Keys: keys, Args: []Evaluator{columnAt(r.keys)}} },
	}, threads)
	if err != nil {
		return nil, Folded{}, err
	}
	defer closed(t, &g)
	m := cfg.run().NewMerger(g.Buckets)
	out := map[[2]int64][2]int64{}
	for p := range g.Buckets[0].Partitions() {
		err = errors.Join(err, m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
			return r.read(cfg, rows, out)
		}))
	}
	return out, g.Distinct[0], errors.Join(err, m.Close())
}

// read adds groups to out.
func (r *distinctRun) read(cfg *setup, rows []uint64, out map[[2]int64][2]int64) error {
	d := key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: 1, Stride: cfg.Stride}
	d.Begin(rows)
	var keys [2]column.Vector
	for i := range r.keys {
		d.Decode(i, rows, &keys[i])
	}
	var count, sum column.Vector
	if err := cfg.States.Finish(0, rows, cfg.Stride, cfg.Arenas, &count); err != nil {
		return err
	}
	if r.sums {
		if err := cfg.States.Finish(1, rows, cfg.Stride, cfg.Arenas, &sum); err != nil {
			return err
		}
	}
	for i := range count.Len {
		var k [2]int64
		for j := range r.keys {
			k[j] = keys[j].Int[i]
		}
		if _, twice := out[k]; twice {
			return fmt.Errorf("group %v twice", k)
		}
		v := [2]int64{count.Int[i]}
		if r.sums {
			v[1] = int64(sum.At(i).Wide.LowBits())
		}
		out[k] = v
	}
	return nil
}

// wanted is what the run is to give.
func (r *distinctRun) wanted() map[[2]int64][2]int64 {
	out := maps.Clone(r.want)
	for k, v := range out {
		if !r.sums {
			out[k] = [2]int64{v[0]}
		}
	}
	return out
}

// Values of which each counts once are the same whether they are in a set that all workers share,
// in one that has to be closed midway, or in no set: of keys of one word, two and three, coded and
// flat, the key of zeros and NULL among them.
func TestSharedSet(t *testing.T) {
	for keys := range 3 {
		for _, form := range []string{"flat", "coded", "mixed"} {
			for _, sums := range []bool{false, true} {
				// few keys, and some ten thousands
				for _, values := range []int{7, []int{60_000, 8_500, 1_200}[keys]} {
					r := newDistinctRun(keys, sums, 40, 2000, values, form)
					closes := 2*memberBytes(keys+1) + 2*firstSlabWords*8
					for _, c := range []struct {
						shared int64
						set    bool
					}{{0, false}, {closes, values == 7}, {1 << 30, true}} {
						t.Run(fmt.Sprintf("keys=%d/%s/sums=%t/values=%d/shared=%d", keys, form, sums, values, c.shared), func(t *testing.T) {
							got, folded, err := r.run(t, r.config(c.shared, noLimit), 2)
							if err != nil || !maps.Equal(got, r.wanted()) {
								t.Fatalf("%d groups that differ from %d, or error %v", len(got), len(r.want), err)
							}
							if set := folded.Partitions == setParts; set != c.set {
								t.Errorf("in a set to the end: %t", set)
							}
						})
					}
				}
			}
		}
	}
}

// Workers tell of the groups by the keys and the value, in one set or in inner workers.
func TestDistinctTold(t *testing.T) {
	for _, shared := range []int64{0, 1 << 30} {
		r := newDistinctRun(1, false, 40, 2_000, 5_000, "flat")
		cfg := r.config(shared, noLimit)
		cfg.Table.MinRows = 500
		var last Sample
		halves := 0
		cfg.reconsider = func(s Sample) error {
			if last = s; s.Half.Rows > 0 && 2*s.Half.Rows <= s.Rows {
				halves++
			}
			return nil
		}
		if _, _, err := r.run(t, cfg, 1); err != nil {
			t.Fatal(err)
		}
		all := int64(0)
		for _, counts := range r.want {
			all += counts[0]
		}
		// some of the set's are on their way there
		if g := last.Groups; last.Shared != (shared > 0) || g < all*3/4 || g > all || last.Rows < last.Read*9/10 || halves < 10 {
			t.Errorf("%d bytes shared: %+v, %d of them with a half; there are %d groups", shared, last, halves, all)
		}
	}
}

// A set to which hardly a key comes twice is closed: partitions are faster.
func TestSharedSetOfNew(t *testing.T) {
	r := &distinctRun{want: map[[2]int64][2]int64{}}
	const nbatches, rows = 100, 10_000
	for n := range nbatches {
		v := column.Vector{Type: int64Type, Len: rows}
		for i := range rows {
			v.Int = append(v.Int, int64(n*rows+i))
		}
		r.in = append(r.in, column.Batch{Rows: rows, First: int64(n * rows), Cols: []column.Vector{v}})
	}
	r.want[[2]int64{}] = [2]int64{nbatches * rows}
	got, folded, err := r.run(t, r.config(1<<30, noLimit), 2)
	if err != nil || !maps.Equal(got, r.wanted()) || folded.Partitions == setParts {
		t.Errorf("%v, %d partitions, error %v", got, folded.Partitions, err)
	}
}

// Whichever request for memory is refused, the answer is right or the refusal is the error, and all
// memory is given back.
func TestSharedSetRefused(t *testing.T) {
	refusal := budgettest.Refused()
	r := newDistinctRun(1, true, 20, 2000, 4_000, "mixed")
	right := 0
	for n := int64(1); ; n++ {
		var requests, held atomic.Int64
		cfg := r.config(1<<30, budgettest.Lender(func(bytes int64) error {
			if bytes > 0 && requests.Add(1) == n {
				return refusal
			}
			held.Add(bytes)
			return nil
		}))
		got, _, err := r.run(t, cfg, 1)
		cfg.Arenas.Close()
		if held.Load() != 0 {
			t.Fatalf("request %d refused: %d bytes are held, error %v", n, held.Load(), err)
		}
		if err != nil && !errors.Is(err, refusal) || err == nil && !maps.Equal(got, r.wanted()) {
			t.Fatalf("request %d refused: %d groups, error %v", n, len(got), err)
		}
		if err == nil {
			right++
		}
		if requests.Load() < n {
			break
		}
	}
	if right < 3 { // no request was refused; the members' memory was, and a slab
		t.Errorf("the answer was right %d times", right)
	}
}
