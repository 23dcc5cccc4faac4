package groups_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// sampled is groups in a table that is large enough for a sample: the slot of each is its number,
// and so its hash begins with that. One in 64 slots is looked at, from the first on.
const sampled = 1 << 17

// sampledRows is n such groups with words of their own.
func sampledRows(l *ega.Layout, n int, word func(i int) uint64) []uint64 {
	rows := make([]uint64, 0, n*l.Stride())
	for i := range n {
		rows = append(rows, uint64(i)<<(64-17)|1, uint64(i), word(i))
	}
	return rows
}

// launches is how many kernels were launched, on the emulator; else 0.
func launches() int {
	e, emulated := emu.Control()
	if !emulated {
		return 0
	}
	return e.Calls()["cuLaunchKernel"]
}

// Of a large table a sample says which groups leave: all that are wanted, and few others. Where it
// misleads, as all slots of it have other groups than the rest, all slots are looked at.
func TestSelectSample(t *testing.T) {
	r := egatest.NewRig(t)
	rng := rand.New(rand.NewPCG(31, 32))
	l := layouts[0]
	const n, word, extra = 70_000, 2, 64 << 7
	looked := func(i int) bool { return i%64 == 0 }
	for _, c := range []struct {
		name   string
		word   func(i int) uint64
		best   uint64
		byHash bool
		counts int  // kernels that are launched: one or more over the sample and one over all slots
		stays  bool // too many are wanted
	}{
		{"any word", func(int) uint64 { return rng.Uint64() }, 10, true, 3, false},
		{"any word", func(int) uint64 { return rng.Uint64() }, 5000, false, 3, false},
		{"near the end", func(i int) uint64 { return math.MaxUint64 - uint64(i) }, 10, true, 3, false},
		{"two thirds", func(int) uint64 { return rng.Uint64() }, 2 * n / 3, false, 2, true},
		{"a quarter", func(int) uint64 { return rng.Uint64() }, n/4 - 100, false, 5, false},
		{"alike", func(int) uint64 { return 7 }, 10, true, 4, false},
		{"alike", func(int) uint64 { return 7 }, 10, false, 2, true},
		{"nearly alike", func(i int) uint64 { return 7 + uint64(max(0, 5-i)) }, 10, true, 4, false},
		{"least", func(int) uint64 { return 0 }, 10, true, 2, true}, // NULL may have this rank too
		{"too few", func(i int) uint64 {
			if looked(i) {
				return uint64(i) / 64
			}
			return uint64(i + 1<<20)
		}, 2000, true, 6, false},
		{"too many", func(i int) uint64 {
			if looked(i) {
				return uint64(i)
			}
			return 5
		}, 100, true, 8, false},
	} {
		rows := sampledRows(&l, n, c.word)
		g := locateIn(r, &l, sampled, groups.DefaultReadBytes, rows)
		what := byWord(word, c.best, kernels.EgaRankUnsigned, false)
		what.ByHash, what.Sure = c.byHash, sampled-1
		met := map[uint64]bool{}
		before := launches()
		got, done, err := g.Select(what, func(rows []uint64) error {
			for i := 1; i < len(rows); i += l.Stride() {
				met[rows[i]] = true
			}
			return nil
		})
		r.Do(err)
		if n := launches() - before; done == c.stays || n > 0 && n != c.counts {
			t.Errorf("%s, %d wanted: selected %t with %d kernels, want %d", c.name, c.best, done, n, c.counts)
		}
		if done {
			left := uint64(0)
			for i, row := range ranked(&l, rows, word, kernels.EgaRankUnsigned, false) {
				if !met[row[1]] {
					left += row[word] >> 3 & 0xff
					if uint64(i) < c.best {
						t.Fatalf("%s, %d wanted: number %d has not left", c.name, c.best, i)
					}
				}
			}
			if got.Groups != uint64(len(met)) || got.Left != left || got.Groups > c.best+c.best/10+extra {
				t.Errorf("%s, %d wanted: %+v, others count %d", c.name, c.best, got, left)
			}
		}
		r.Do(g.Close())
	}
}

// The first groups in order of hash are found by a sample, too, of all groups and of those that a
// program keeps.
func TestSelectSampleFirst(t *testing.T) {
	r := egatest.NewRig(t)
	l := layouts[0]
	const n, word, best = 70_000, 2, 1000
	rows := sampledRows(&l, n, func(i int) uint64 { return uint64(i / 100 % 2) })
	g := locateIn(r, &l, sampled, groups.DefaultReadBytes, rows)
	what := &groups.Selection{Hashes: true, Best: best, Sure: sampled - 1, Count: groups.Count{Word: word, Mask: math.MaxUint64}}
	for _, odd := range []bool{false, true} {
		if odd {
			what.Values = []kernels.EgaValue{{Word: word, Mask: math.MaxUint64, Presence: kernels.EgaPresence{Least: 1}}}
			what.Steps, what.Registers = []kernels.ParquetStep{{Code: kernels.ParquetLoad}, {Code: kernels.ParquetKeep}}, 1
		}
		met := map[uint64]bool{}
		got, done, err := g.Select(what, func(rows []uint64) error {
			for i := 1; i < len(rows); i += l.Stride() {
				met[rows[i]] = true
			}
			return nil
		})
		r.Do(err)
		wanted, left := best, uint64(0)
		for i := range uint64(n) {
			if kept := !odd || i/100%2 == 1; kept && wanted > 0 {
				if wanted--; !met[i] {
					t.Fatalf("odd %t: group %d has not left", odd, i)
				}
			}
			if !met[i] {
				left += i / 100 % 2
			}
		}
		if !done || got.Left != left || got.Groups != uint64(len(met)) || got.Groups > 3*best {
			t.Errorf("odd %t: selected %t, %+v, %d groups, others count %d", odd, done, got, len(met), left)
		}
	}
	r.Do(g.Close())
}

// Where memory is short, of the readers' allowance or of the device, no group is handed out, and
// all can be read.
func TestSelectMemory(t *testing.T) {
	r := egatest.NewRig(t)
	l := layouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(33, 34)), &l, 3000, func(i int) uint64 { return uint64(i) })
	for _, c := range []struct {
		readBytes, fails int // and which allocation
		best             uint64
		done             bool
	}{{4 << 10, 0, 100, true}, {4 << 10, 0, 500, false}, {4 << 20, 1, 100, false}, {4 << 20, 2, 100, false}, {4 << 20, 0, 500, true}} {
		g := locateIn(r, &l, 6000, c.readBytes, rows)
		e, emulated := emu.Control()
		if c.fails > 0 && emulated {
			e.Fault("cuMemAlloc_v2", c.fails, egatest.OutOfMemory, false)
		}
		met := 0
		_, done, err := g.Select(byWord(2, c.best, kernels.EgaRankUnsigned, false), func(rows []uint64) error {
			met += len(rows)
			return nil
		})
		r.Do(err)
		if done != c.done && (c.fails == 0 || emulated) || !done && met > 0 {
			t.Errorf("%+v: selected %t, %d words", c, done, met)
		}
		var all []uint64
		r.Do(g.Open())
		reader, err := g.Reader()
		r.Do(err)
		r.Do(reader.Read(0, func(rows []uint64) error {
			all = append(all, rows...)
			return nil
		}))
		r.Same(&l, all, rows)
		r.Do(reader.Close())
		r.Do(g.Close())
	}
}

// Of no groups none leave, and of few as many as are wanted.
func TestSelectFew(t *testing.T) {
	r := egatest.NewRig(t)
	l := layouts[0]
	for _, n := range []int{0, 1, 3, 8} {
		g := locateIn(r, &l, 100, groups.DefaultReadBytes, sampledRows(&l, n, func(i int) uint64 { return uint64(i) }))
		for _, c := range []struct {
			what *groups.Selection
			done bool
			want int
		}{
			{&groups.Selection{All: true, Count: groups.Count{Word: 2}}, true, n},
			{byWord(2, 2, kernels.EgaRankUnsigned, true), n == 0 || n >= 8, min(n, 2)}, // of 8 a quarter
		} {
			got, done, err := g.Select(c.what, func([]uint64) error { return nil })
			r.Do(err)
			if done != c.done || done && got.Groups != uint64(c.want) {
				t.Errorf("%d groups, all %t: selected %t, %+v", n, c.what.All, done, got)
			}
		}
		r.Do(g.Close())
	}
}
