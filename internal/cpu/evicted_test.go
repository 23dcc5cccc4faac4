package cpu

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// fakeEvicted is rows of partitions, a few to each EvictedSpan.
type fakeEvicted struct {
	cfg    *setup
	rows   [][]uint64 // by partition; nil once they were taken
	out    int        // taken, and not released
	loaded int        // pieces by a pass
	rest   int        // rows by the CPU
	fails  string     // the method that fails
	pass   Pass       // of the merger; nil: it has none
}

type fakeSpan struct {
	of   *fakeEvicted
	rows []uint64
	gone bool
}

func (k *fakeEvicted) handOut(p merge.Range, bits uint) (list []EvictedSpan) {
	if 1<<bits != len(k.rows) {
		panic("another number of partitions")
	}
	for n := p.First; n < p.First+p.N; n++ {
		rows := k.rows[n]
		k.rows[n] = nil
		for len(rows) > 0 {
			some := min(7*k.cfg.Stride, len(rows))
			list, rows = append(list, &fakeSpan{of: k, rows: rows[:some]}), rows[some:]
			k.out++
		}
	}
	return list
}

func (r *fakeSpan) Rows() []uint64 { return r.rows }

func (r *fakeSpan) Load() (int, error) {
	if r.of.fails == "Load" {
		return 0, errFake
	}
	r.of.loaded++
	return r.of.pass.Add(r.rows)
}

func (r *fakeSpan) Rest(from int) ([]uint64, error) {
	if r.of.fails == "Rest" {
		return nil, errFake
	}
	rows := r.rows[from*r.of.cfg.Stride:]
	r.of.rest += len(rows) / r.of.cfg.Stride
	return rows, nil
}

func (r *fakeSpan) Release() error {
	if r.gone {
		panic("released twice")
	}
	r.gone = true
	clear(r.rows) // the memory is released: no one may read these rows
	r.of.out--
	if r.of.fails == "Release" {
		return errFake
	}
	return nil
}

// keep takes every other row out of the buckets.
func (k *fakeEvicted) keep(t *testing.T, g *Groups) {
	t.Helper()
	k.rows = make([][]uint64, g.Buckets[0].Partitions())
	others := newStore(k.cfg.Config, noLimit)
	others.open(0, g.Buckets[0].Bits())
	for _, b := range g.Buckets {
		for p := range k.rows {
			for _, page := range b.Pages(nil, p) {
				for i, row := range slices.Collect(slices.Chunk(page, k.cfg.Stride)) {
					if i%2 == 0 {
						k.rows[p] = append(k.rows[p], row...)
					} else if err := others.place(row); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	g.Buckets, g.stores = []*partition.Buckets{others.buckets}, append(g.stores, others)
}

// Rows that devices have kept come out with those in buckets, whether a device aggregates them, in
// part, or the CPU; and all are released in the end.
func TestEvicted(t *testing.T) {
	for _, capacity := range []int{0, 1, 18, 1000} {
		t.Run(fmt.Sprint("capacity=", capacity), func(t *testing.T) {
			cfg := config(16, feedback.NoTables, noLimit)
			in, want := data(rand.New(rand.NewPCG(3, 1)), 9, 100, 300, "flat", false)
			g, err := run(t.Context(), cfg, in, false, 3)
			if err != nil {
				t.Fatal(err)
			}
			k := &fakeEvicted{cfg: cfg}
			k.keep(t, &g)
			m := cfg.run().NewMerger(g.Buckets)
			m.UseEvicted(k.handOut)
			if capacity > 0 {
				k.pass = &fakePass{cfg: cfg, capacity: capacity}
				m.Accelerate(nil, k.pass)
			}
			if got := mergedSums(t, cfg, &g, m); !maps.Equal(got, want) {
				t.Errorf("%d groups, want %d, or other sums", len(got), len(want))
			}
			if k.out != 0 || capacity > 1 != (k.loaded > 0) || capacity < 1000 != (k.rest > 0) {
				t.Errorf("%d are not released, %d were loaded, %d rows were left to the CPU", k.out, k.loaded, k.rest)
			}
			closed(t, &g)
		})
	}
}

// An error with retained rows ends the merge, or is returned at its end. Rows that a device may
// still read are not released.
func TestEvictedFails(t *testing.T) {
	for _, fails := range []string{"Load", "Rest", "Release"} {
		cfg := config(16, feedback.NoTables, noLimit)
		in, _ := data(rand.New(rand.NewPCG(3, 1)), 9, 100, 300, "flat", false)
		g, err := run(t.Context(), cfg, in, false, 2)
		if err != nil {
			t.Fatal(err)
		}
		k := &fakeEvicted{cfg: cfg, fails: fails}
		k.keep(t, &g)
		m := cfg.run().NewMerger(g.Buckets)
		m.UseEvicted(k.handOut)
		if fails == "Load" {
			k.pass = &fakePass{cfg: cfg, capacity: 1000}
			m.Accelerate(nil, k.pass)
		}
		err = errors.Join(m.Merge(t.Context(), merge.Range{N: 16}, func([]uint64) error { return nil }), m.Close())
		if !errors.Is(err, errFake) || fails == "Load" != (k.out > 0) {
			t.Errorf("%s fails: %v, %d are not released", fails, err, k.out)
		}
		closed(t, &g)
	}
}
