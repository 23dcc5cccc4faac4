package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// Rows that come from a device in any order within a piece are emitted in order of their hashes,
// and those of one hash in order of their keys, as many at a time as there may be. Their hashes may
// share any bits.
func TestEmitResident(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for name, hash := range map[string]func() uint64{
		"any":           rng.Uint64,
		"one":           func() uint64 { return 77 },
		"greatest":      func() uint64 { return ^uint64(0) },
		"two":           func() uint64 { return rng.Uint64N(2) << 63 },
		"few low bits":  func() uint64 { return 5<<60 | rng.Uint64N(9) },
		"few high bits": func() uint64 { return rng.Uint64N(9)<<60 | 5 },
		"one far off":   func() uint64 { return max(rng.Uint64N(1<<20), uint64(rng.IntN(100)/99)<<63) },
	} {
		for _, groups := range []int{0, 1, 2, 3, 31, 1000} {
			for _, most := range []int{1, 7, 64, 4096} {
				for _, piece := range []int{1, 5, 300, 1000} {
					t.Run(fmt.Sprintf("hash=%s/groups=%d/most=%d/piece=%d", name, groups, most, piece), func(t *testing.T) {
						checkResident(t, rng, hash, groups, most, piece)
					})
				}
			}
		}
	}
}

// checkResident emits groups in pieces of so many rows, or more where rows of one hash would be
// divided.
func checkResident(t *testing.T, rng *rand.Rand, hash func() uint64, groups, most, piece int) {
	cfg := config(1, feedback.NoTables, noLimit)
	m := cfg.run().NewMerger([]*partition.Buckets{emptyBuckets(cfg)})
	m.out.most = most
	var want [][]uint64
	for i := range uint64(groups) {
		row := make([]uint64, cfg.Stride)
		cfg.States.Init(row)
		row[0], row[1], row[cfg.Stride-1] = hash(), i, row[0]+i
		want = append(want, row)
	}
	slices.SortFunc(want, m.compare)
	var parts [][]uint64
	for rest := want; len(rest) > 0; {
		n := min(piece, len(rest))
		for n < len(rest) && rest[n][0] == rest[n-1][0] {
			n++
		}
		part := slices.Clone(rest[:n])
		rng.Shuffle(n, func(i, j int) { part[i], part[j] = part[j], part[i] })
		parts, rest = append(parts, slices.Concat(part...)), rest[n:]
	}
	m.Accelerate(pieces(parts), nil)
	var got []uint64
	for turn := range 2 { // the second finds nothing of the first
		got = got[:0]
		batches := 0
		err := m.Merge(t.Context(), merge.Range{N: 1}, func(rows []uint64) error {
			if n := len(rows) / cfg.Stride; n > most {
				t.Errorf("%d rows are emitted at a time", n)
			}
			batches++
			got = append(got, rows...)
			return nil
		})
		if err != nil || !slices.Equal(got, slices.Concat(want...)) {
			t.Fatalf("turn %d: other rows, or in another order (error %v)", turn, err)
		}
		if batches > 4*groups/most+1 {
			t.Errorf("%d groups were emitted in %d batches", groups, batches)
		}
	}
}

// pieces is groups as a device hands them out.
type pieces [][]uint64

func (p pieces) Close() error { return nil }

func (p pieces) Read(_ int, _ *arena.Arena, emit func([]uint64) error) error {
	for _, rows := range p {
		if err := emit(rows); err != nil {
			return err
		}
	}
	return nil
}

// emptyBuckets are buckets of one partition.
func emptyBuckets(cfg *setup) *partition.Buckets {
	st := newStore(cfg.Config, noLimit)
	st.open(0, 0)
	return st.buckets
}
