package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/merge"
)

// F10: a device is given no rows whose hashes crowd, wherever they lie: its tables know no other
// hash.
func TestCrowdedStayHere(t *testing.T) {
	const n = 4000
	a, b := collidingKeys(t, n)
	random := column.Vector{Type: int64Type, Len: n}
	for range n {
		random.Int = append(random.Int, rand.Int64())
	}
	ones := column.Vector{Type: int64Type, Len: n, Int: slices.Repeat([]int64{1}, n)}
	for _, second := range []column.Vector{b, random} {
		crowds := &second.Int[0] == &b.Int[0]
		for _, rows := range []string{"in pages", "kept", "on disk"} {
			t.Run(fmt.Sprintf("crowds=%t/%s", crowds, rows), func(t *testing.T) {
				cfg := config(1, feedback.NoTables, noLimit)
				if rows == "on disk" {
					tight(t, cfg, 4<<20, 1)
				}
				g, err := run(t.Context(), cfg, batches{{Rows: n, Cols: []column.Vector{a, second, ones}}}, false, 1)
				if err != nil {
					t.Fatal(err)
				}
				if rows == "on disk" {
					if err := g.stores[0].clear(); err != nil {
						t.Fatal(err)
					}
				}
				m := cfg.run().NewMerger(g.Buckets)
				pass := &takingPass{stride: cfg.Stride}
				if rows == "kept" {
					k := &fakeEvicted{cfg: cfg, pass: pass}
					k.keep(t, &g)
					m.sources = g.Buckets
					m.UseEvicted(k.handOut)
				}
				m.Accelerate(nil, pass)
				groups := 0
				if err := m.Merge(t.Context(), merge.Range{N: 1}, func(rows []uint64) error {
					groups += len(rows) / cfg.Stride
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if crowds != (pass.rows == nil) || groups != n {
					t.Errorf("the device was given %d of %d rows, there are %d groups", len(pass.rows)/cfg.Stride, n, groups)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
				closed(t, &g)
			})
		}
	}
}

// takingPass takes all rows, each of a group of its own.
type takingPass struct {
	stride int
	rows   []uint64
}

func (p *takingPass) Capacity() int64         { return 1 << 20 }
func (p *takingPass) Begin(uint, int64) error { return nil }
func (p *takingPass) Close() error            { return nil }

func (p *takingPass) Add(rows []uint64) (int, error) {
	p.rows = append(p.rows, rows...)
	return len(rows) / p.stride, nil
}

func (p *takingPass) End(emit func([]uint64) error) error { return emit(p.rows) }

// What a sample says: hashes crowd where many begin alike, not where there are few keys, or a few
// that come often.
func TestSample(t *testing.T) {
	random := func(int) uint64 { return rand.Uint64() }
	for _, c := range []struct {
		name   string
		keys   int // different ones
		hash   func(key int) uint64
		crowds int // with so many rows and more; 0: never
	}{
		{"random", 1 << 20, random, 0},
		{"some keys", 3000, random, 0},
		{"few keys", 20, random, 0},
		{"equal", 1 << 20, func(int) uint64 { return 42 }, 1},
		{"equal, behind bits that all share", 1 << 20, func(int) uint64 { return 42 << 50 }, 1},
		{"every other one equal", 1 << 20, func(key int) uint64 {
			if key%2 == 0 {
				return 42
			}
			return rand.Uint64()
		}, 1},
		{"begin alike", 1 << 20, func(int) uint64 { return 42<<40 | rand.Uint64()>>24 }, 1},
		{"begin like one of a few", 1 << 20, func(key int) uint64 { return uint64(key%64)<<58 | rand.Uint64()>>24 }, 1e5},
		{"a part of the range", 1 << 20, func(int) uint64 { return rand.Uint64() >> 2 }, 1},
	} {
		for _, rows := range []int{300, 5000, 100_000} {
			cfg := config(1, feedback.NoTables, noLimit)
			hashes := map[int]uint64{}
			s := sample{}
			s.begin(cfg.Config, 0, rows)
			for range rows {
				row := make([]uint64, cfg.Stride)
				k := rand.IntN(c.keys)
				if _, seen := hashes[k]; !seen {
					hashes[k] = c.hash(k)
				}
				row[0], row[1] = hashes[k], uint64(k)
				s.add(row)
			}
			if n := len(s.keys); n > 2*rows/max(min(sampleEach, rows/sampleLeast), 1) {
				t.Errorf("%s: %d of %d rows were looked at", c.name, n, rows)
			}
			if crowds := s.crowds(); crowds != (c.crowds > 0 && rows >= c.crowds) {
				t.Errorf("%s, %d rows: crowds: %t", c.name, rows, crowds)
			}
		}
	}
}
