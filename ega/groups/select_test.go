package groups_test

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// byWord selects the groups with the best words at a place of their rows.
func byWord(word int, best uint64, rank kernels.EgaRankKind, descending bool) *groups.Selection {
	return &groups.Selection{
		Values: []kernels.EgaValue{{Word: uint32(word), Mask: math.MaxUint64, Presence: kernels.EgaPresence{Least: 1}}},
		Steps:  []kernels.ParquetStep{{Code: kernels.ParquetLoad}, {Code: kernels.ParquetStore}}, Registers: 1,
		Best: best, Rank: rank, Descending: descending, Count: groups.Count{Word: word, Shift: 3, Mask: 0xff},
	}
}

// ranked is the rows of groups in the order of their words at a place, those with equal words in
// the order of their first words, which may be hashes.
func ranked(l *ega.Layout, all []uint64, word int, rank kernels.EgaRankKind, descending bool) (rows [][]uint64) {
	for row := range slices.Chunk(all, l.Stride()) {
		rows = append(rows, row)
	}
	less := func(a, b uint64) bool {
		switch rank {
		case kernels.EgaRankSigned:
			return int64(a) < int64(b)
		case kernels.EgaRankDouble:
			return math.Float64frombits(a) < math.Float64frombits(b)
		}
		return a < b
	}
	slices.SortFunc(rows, func(a, b []uint64) int {
		x, y := a[word], b[word]
		if descending {
			x, y = y, x
		}
		switch {
		case less(x, y):
			return -1
		case less(y, x):
			return 1
		}
		return cmp.Compare(a[0], b[0])
	})
	return rows
}

// Of any words the groups that come first are selected, with those that are as good as the last of
// them unless hashes part these, and hardly any others; the others are counted.
func TestSelect(t *testing.T) {
	r := egatest.NewRig(t)
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 3000
	words := map[string]func(i int) uint64{
		"any word":   func(int) uint64 { return rng.Uint64() },
		"few bits":   func(int) uint64 { return rng.Uint64() & 0x3ff << 40 },
		"alike":      func(int) uint64 { return 1 + uint64(rng.IntN(30)) },
		"least":      func(int) uint64 { return 0 }, // NULL may have this rank too; hashes part no groups
		"far behind": func(i int) uint64 { return 1<<63 + uint64(i)<<20 + uint64(max(0, 5-i))<<62 },
		"doubles":    func(int) uint64 { return math.Float64bits(rng.NormFloat64() * 1e-300) },
		"one":        func(int) uint64 { return 7 },
		"at the end": func(i int) uint64 { // of all words that there are, where NULLs have a rank
			if i < 280 {
				return 5 + uint64(i)
			}
			return math.MaxUint64 - uint64(i)
		},
	}
	for _, l := range []ega.Layout{layouts[0], layouts[2]} {
		word := l.Stride() - len(l.Ops) // the first state: a sum of one row
		for name, make := range words {
			rows := egatest.Rows(rng, &l, n, func(i int) uint64 { return uint64(i) })
			for at := word; at < len(rows); at += l.Stride() {
				rows[at] = make(at / l.Stride())
			}
			g := locateIn(r, &l, 2*n, groups.DefaultReadBytes, rows)
			for i, best := range []uint64{1, 300, 1, 300} {
				byHash := l.Hash && i >= 2
				rank, descending := kernels.EgaRankKind(rng.IntN(2)), rng.IntN(2) == 0
				switch name {
				case "doubles":
					rank = kernels.EgaRankDouble
				case "least", "at the end":
					rank, descending = kernels.EgaRankUnsigned, false
				}
				order := ranked(&l, rows, word, rank, descending)
				want := int(best)
				for (!byHash || name == "least") && want < n && order[want][word] == order[want-1][word] {
					want++
				}
				var got []uint64
				selection := byWord(word, best, rank, descending)
				selection.ByHash = byHash
				what, done, err := g.Select(selection, func(rows []uint64) error {
					got = append(got, rows...)
					return nil
				})
				r.Do(err)
				if few := want <= n/4; done != few || !done {
					if done != few {
						t.Errorf("%s, %d of %d wanted, by hash %t: selected %t", name, want, n, byHash, done)
					}
					continue
				}
				left, met := uint64(0), map[uint64]bool{}
				for row := range slices.Chunk(got, l.Stride()) {
					met[row[0]] = true
				}
				for i, row := range order {
					if !met[row[0]] {
						left += row[word] >> 3 & 0xff
						if i < want {
							t.Fatalf("%s, %d wanted: number %d has not left", name, want, i)
						}
					}
				}
				if what.Groups != uint64(len(got)/l.Stride()) || what.Left != left || int(what.Groups) > want+n/64 {
					t.Errorf("%s, %d wanted: %+v, others count %d", name, want, what, left)
				}
			}
			r.Do(g.Close())
		}
	}
}

// The groups with the least hashes are selected, of all or of those that a program keeps, and
// hardly any others.
func TestSelectFirst(t *testing.T) {
	r := egatest.NewRig(t)
	l := ega.Layout{Hash: true, KeyWords: 2, Ops: []combine.Op{combine.AddLowInt, combine.AddHigh}, Mates: []int{1}}
	rows := egatest.Rows(rand.New(rand.NewPCG(15, 16)), &l, 3000, func(i int) uint64 { return uint64(i) })
	for i, at := 0, 3; at < len(rows); i, at = i+1, at+l.Stride() {
		rows[at], rows[at+1] = uint64(i%2), 0
	}
	g := locateIn(r, &l, 6000, groups.DefaultReadBytes, rows)
	order := ranked(&l, rows, 0, kernels.EgaRankUnsigned, false)
	for _, odd := range []bool{false, true} {
		for _, best := range []uint64{1, 10, 500, 2900, 5000} {
			what := &groups.Selection{Hashes: true, Best: best, Count: groups.Count{Word: 3, Mask: math.MaxUint64}}
			if odd {
				what.Values = []kernels.EgaValue{{Word: 3, Mask: math.MaxUint64, Presence: kernels.EgaPresence{Least: 1}}}
				what.Steps, what.Registers = []kernels.ParquetStep{{Code: kernels.ParquetLoad}, {Code: kernels.ParquetKeep}}, 1
			}
			met, left := map[uint64]bool{}, uint64(0)
			got, done, err := g.Select(what, func(rows []uint64) error {
				for row := range slices.Chunk(rows, l.Stride()) {
					met[row[0]] = true
				}
				return nil
			})
			r.Do(err)
			if few := best <= 500; done != few {
				t.Errorf("%d, odd %t: selected %t", best, odd, done)
			}
			if !done {
				continue
			}
			wanted := best
			for _, row := range order {
				if is := !odd || row[3] == 1; is && wanted > 0 {
					wanted--
					if !met[row[0]] {
						t.Errorf("%d, odd %t: hash %#x has not left", best, odd, row[0])
					}
				}
				if !met[row[0]] {
					left += row[3]
				}
			}
			if got.Left != left || got.Groups != uint64(len(met)) || got.Groups > best+3000/64 {
				t.Errorf("%d, odd %t: %+v, %d groups, others count %d", best, odd, got, len(met), left)
			}
		}
	}
	r.Do(g.Close())
}

// Groups that a program keeps are emitted; so are groups of which it cannot tell, of any rank; and
// an error of emit ends the selection.
func TestSelectProgram(t *testing.T) {
	r := egatest.NewRig(t)
	l := ega.Layout{Hash: true, KeyWords: 2, Ops: []combine.Op{combine.AddLowInt, combine.AddHigh}, Mates: []int{1}}
	rows := egatest.Rows(rand.New(rand.NewPCG(13, 14)), &l, 2000, func(i int) uint64 { return uint64(i) })
	for i, at := 0, 3; at < len(rows); i, at = i+1, at+l.Stride() {
		if rows[at], rows[at+1] = uint64(i), 0; i%100 == 0 {
			rows[at+1] = 1 // above 2^64
		}
	}
	g := locateIn(r, &l, 4000, groups.DefaultReadBytes, rows)
	sum := kernels.EgaValue{Kind: kernels.EgaValueSum, Word: 3, High: 4, More: 1, Presence: kernels.EgaPresence{Least: 1}}
	const less = 1
	what := &groups.Selection{
		Values: []kernels.EgaValue{sum},
		Steps: []kernels.ParquetStep{
			{Code: kernels.ParquetLoad},
			{Code: kernels.ParquetLiteral, To: 1, Constant: 150},
			{Code: kernels.ParquetCompareInt, To: 1, A: 0, B: 1, Constant: less},
			{Code: kernels.ParquetKeep, A: 1},
			{Code: kernels.ParquetStore, A: 0},
		}, Registers: 2,
	}
	for _, c := range []struct {
		best       uint64
		descending bool
		want       func(i uint64) bool
	}{
		{0, false, func(i uint64) bool { return i < 150 }},
		{5, false, func(i uint64) bool { return i <= 5 }}, // number 0 is not sure
		{5, true, func(i uint64) bool { return i >= 145 && i < 150 }},
	} {
		what.Best, what.Descending = c.best, c.descending
		met := make([]bool, 2000)
		_, done, err := g.Select(what, func(rows []uint64) error {
			for row := range slices.Chunk(rows, l.Stride()) {
				met[row[3]] = true
			}
			return nil
		})
		r.Do(err)
		extra := 0
		for i := range uint64(2000) {
			switch wanted := i%100 == 0 || c.want(i); {
			case wanted && !met[i]:
				t.Errorf("%+v: %d has not left", c.best, i)
			case !wanted && met[i]:
				extra++
			}
		}
		if !done || extra > 2000/64 {
			t.Errorf("best %d: done %t, and %d more than are wanted", c.best, done, extra)
		}
	}
	enough := errors.New("enough")
	if _, done, err := g.Select(what, func([]uint64) error { return enough }); !errors.Is(err, enough) || done {
		t.Errorf("%t, %v", done, err)
	}
	r.Do(g.Close())
}

// Values are made of words of a row as EgaValue says: the one of eight groups that is looked at
// leaves if its value is the one wanted, and all of them, which are too many, if it fails.
func TestSelectValues(t *testing.T) {
	r := egatest.NewRig(t)
	l := ega.Layout{Hash: true, KeyWords: 1, Ops: slices.Repeat([]combine.Op{combine.Or}, 4)}
	double := math.Float64bits
	present := kernels.EgaPresence{Least: 1}
	of5 := kernels.EgaPresence{RowsWord: 5, RowsMask: 0xff, NullsWord: 5, NullsShift: 8, NullsMask: 0xff}
	for i, c := range []struct {
		value kernels.EgaValue
		row   [4]uint64 // from word 2 on
		want  uint64
		null  bool
		bad   bool
	}{
		{kernels.EgaValue{Kind: kernels.EgaValueBits, Word: 2, Shift: 8, Mask: 0xff, Flip: 1}, [4]uint64{0x12345}, 0x22, false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueSigned, Word: 2, Shift: 4, Bits: 8}, [4]uint64{0xff0}, ^uint64(0), false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueSigned, Word: 2, Bits: 64}, [4]uint64{1 << 63}, 1 << 63, false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueSum, Word: 2, High: 4, More: 1}, [4]uint64{5}, 5, false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueSum, Word: 2, High: 4, More: 1}, [4]uint64{5, 0, 1}, 0, false, true},
		{kernels.EgaValue{Kind: kernels.EgaValueWide, Word: 2, High: 3, More: 2}, [4]uint64{^uint64(4), ^uint64(0), ^uint64(0)}, ^uint64(4), false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueWide, Word: 2, High: 3, More: 2}, [4]uint64{^uint64(4), ^uint64(0)}, 0, false, true},
		{kernels.EgaValue{Kind: kernels.EgaValuePositive, Word: 2, High: 3, More: 1}, [4]uint64{1 << 63}, 0, false, true},
		{kernels.EgaValue{Kind: kernels.EgaValueDouble, Word: 2}, [4]uint64{1 << 63}, 0, false, false}, // -0
		{kernels.EgaValue{Kind: kernels.EgaValueDoubles, Word: 2, High: 3}, [4]uint64{double(1), double(0x1p-52)}, double(1 + 0x1p-52), false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueDoubles, Word: 2, High: 3}, [4]uint64{double(math.Inf(-1)), double(math.NaN())}, double(math.Inf(-1)), false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueDoubles, Word: 2, High: 3, Point: 1, Presence: of5}, [4]uint64{double(1), 0, 0, 0x205}, double(1. / 3), false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueBits, Word: 2, Mask: math.MaxUint64, Point: 100, Presence: of5}, [4]uint64{700, 0, 0, 0x205}, double(700. / 300), false, false},
		{kernels.EgaValue{Kind: kernels.EgaValueBits, Word: 2, Mask: math.MaxUint64, Point: 1, Presence: of5}, [4]uint64{1<<53 + 1, 0, 0, 0x205}, 0, false, true},
		{kernels.EgaValue{Kind: kernels.EgaValueBits, Word: 2, Mask: math.MaxUint64, Point: 1, Presence: of5}, [4]uint64{7, 0, 0, 0x505}, 0, true, false},
		{kernels.EgaValue{Kind: kernels.EgaValueRows, Presence: of5}, [4]uint64{7, 0, 0, 0x505}, 0, false, false},
	} {
		if c.value.Presence == (kernels.EgaPresence{}) {
			c.value.Presence = present
		}
		rows := make([]uint64, 8*l.Stride()) // the others are NULL or other numbers, which are not kept
		for g := range 8 {
			row := rows[g*l.Stride():][:l.Stride()]
			row[1] = uint64(g)
			row[0] = bits.RotateLeft64(uint64(g), -3)
			copy(row[2:], c.row[:])
		}
		g := locateIn(r, &l, 100, groups.DefaultReadBytes, rows)
		const equal = 2
		// of the 8 groups, number 6 is looked at
		what := &groups.Selection{
			Values: []kernels.EgaValue{c.value, {Word: 1, Mask: math.MaxUint64, Presence: present}},
			Steps: []kernels.ParquetStep{
				{Code: kernels.ParquetLoad, To: 0, Constant: 0},
				{Code: kernels.ParquetLiteral, To: 1, Constant: c.want},
				{Code: kernels.ParquetCompareInt, To: 0, A: 0, B: 1, Constant: equal},
				{Code: kernels.ParquetLoad, To: 1, Constant: 1},
				{Code: kernels.ParquetLiteral, To: 2, Constant: 6},
				{Code: kernels.ParquetCompareInt, To: 1, A: 1, B: 2, Constant: equal},
				{Code: kernels.ParquetAnd, To: 0, A: 0, B: 1},
				{Code: kernels.ParquetKeep, A: 0},
			}, Registers: 3,
		}
		if c.null {
			what.Steps[2] = kernels.ParquetStep{Code: kernels.ParquetIsNull, To: 0, A: 0}
		}
		got, done, err := g.Select(what, func([]uint64) error { return nil })
		r.Do(err)
		if wanted := uint64(1); c.bad {
			if done { // it cannot tell of any group whether it is wanted
				t.Errorf("case %d: %d groups, where none is sure", i, got.Groups)
			}
		} else if !done || got.Groups != wanted {
			t.Errorf("case %d: done %t, %d groups, want one", i, done, got.Groups)
		}
		r.Do(g.Close())
	}
}
