package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/key"
)

// A table gives out each of its groups once, with its partition: however many partitions there are,
// also more than slots, and where hashes crowd at the end of the directory, so that some have
// wrapped around.
func TestHeldRows(t *testing.T) {
	const n = 700 // of 2048 slots
	for name, hashOf := range map[string]func(i int) uint64{
		"random":     func(int) uint64 { return rand.Uint64() },
		"at the end": func(i int) uint64 { return rand.Uint64() | -uint64(i%5/4)<<50 },
		"at both ends": func(i int) uint64 {
			if i < 150 {
				return -uint64(i%2) ^ uint64(i)<<40
			}
			return rand.Uint64()
		},
	} {
		tab, err := newTable(3, 1, make([]uint64, 3), noLimit)
		if err != nil {
			t.Fatal(err)
		}
		hash, w := make([]uint64, n), [][]uint64{make([]uint64, n)}
		for i := range hash {
			hash[i], w[0][i] = hashOf(i), uint64(i)
		}
		if err := tab.secure(n); err != nil {
			t.Fatal(err)
		}
		tab.find(&key.Encoder{Hash: hash, Words: w}, make([]uint32, n))
		if tab.dir.seeded {
			t.Fatalf("%s: the table is seeded", name)
		}
		for bits := uint(1); bits <= 12; bits++ {
			h, all := newInPlaceTable(tab, bits), 0
			for p := range 1 << bits {
				var want, got []uint64
				for i, x := range hash {
					if int(x>>(64-bits)) == p {
						want = append(want, uint64(i))
					}
				}
				rows := make([]uint64, 3*h.Rows(p))
				if k := h.Copy(rows, p); k != len(want) || h.Rows(p) != k {
					t.Fatalf("%s, %d bits: %d rows of partition %d, not %d of %d", name, bits, h.Rows(p), p, k, len(want))
				}
				for row := range slices.Chunk(rows, 3) {
					if row[0] != hash[row[1]] {
						t.Fatalf("%s: a row is another one's", name)
					}
					got = append(got, row[1])
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Fatalf("%s, %d bits: partition %d has other rows", name, bits, p)
				}
				all += len(got)
			}
			if all != n {
				t.Fatalf("%s, %d bits: %d of %d rows", name, bits, all, n)
			}
		}
		tab.drop()
	}
}

// IN-PLACE: the tables of several workers are merged where they are, and copied to buckets where
// the memory that mergers need then is refused, or is no small part of them; the groups are the
// same, and all memory is given back.
func TestInPlace(t *testing.T) {
	const n, rows, threads = 1000, 60, 3
	for _, partitions := range []int{2, 64} {
		for _, refuses := range []bool{false, true} {
			t.Run(fmt.Sprintf("partitions=%d/refused=%t", partitions, refuses), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(3, 1))
				in, want := textRows(rows, n, func(int) string {
					k := rng.IntN(20_000)
					return fmt.Sprintf("%0*d%s", 9, k, strings.Repeat("y", k%3*30))
				})
				var refusing atomic.Bool
				var held atomic.Int64
				cfg := textConfig(partitions, feedback.TableConfig{MinRows: 1 << 62}, rows*n)
				cfg.Budget = budgettest.Lender(func(bytes int64) error {
					if bytes > 0 && refusing.CompareAndSwap(true, false) {
						return budgettest.Refused()
					}
					held.Add(bytes)
					return nil
				})
				cfg.Threads = threads
				workers := make([]*Worker, threads)
				for i := range workers {
					var err error
					if workers[i], err = cfg.run().NewWorker(pipeline(false)); err != nil {
						t.Fatal(err)
					}
					for b := i; b < len(in); b += threads {
						if err := workers[i].Add(&in[b]); err != nil {
							t.Fatal(err)
						}
					}
				}
				refusing.Store(refuses)
				g, err := cfg.run().finish(workers)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range g.stores {
					pages := 0
					for p := range partitions {
						pages += s.buckets.Rows(p)
					}
					if stays := partitions == 64 && !refuses; stays != (s.inPlace != nil) || stays != (pages == 0) {
						t.Errorf("worker %d: in place %t, %d rows in pages", i, s.inPlace != nil, pages)
					}
				}
				checkTexts(t, cfg, &g, want)
				if n := held.Load(); n != 0 {
					t.Errorf("%d bytes are still held", n)
				}
			})
		}
	}
}
