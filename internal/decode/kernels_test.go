package decode

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// draw is n values, each made by f.
func draw[T any](n int, f func() T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = f()
	}
	return values
}

// someFloats has what is special about floats among others.
func someFloats(r *rand.Rand, n int, narrow bool) []float64 {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1.5, math.SmallestNonzeroFloat32, math.MaxFloat32}
	return draw(n, func() float64 {
		switch {
		case r.IntN(4) == 0:
			return special[r.IntN(len(special))]
		case narrow:
			return float64(float32(r.NormFloat64()))
		}
		return r.NormFloat64()
	})
}

// someTexts is strings of min to max bytes, of so many different ones.
func someTexts(r *rand.Rand, n, least, most, different int) []string {
	all := draw(different, func() string {
		b := make([]byte, least+r.IntN(most-least+1))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	})
	return draw(n, func() string { return all[r.IntN(len(all))] })
}

// Columns of all types, as keys and values, in pages of all kinds.
func TestMakeRows(t *testing.T) {
	for _, rows := range []int{0, 1, 7, 31, 33, 500, 4000, 30000} {
		seeds := uint64(3)
		if testing.Short() && rows > 10_000 { // pages of the same kinds come with fewer rows
			continue
		}
		for seed := range seeds {
			t.Run(fmt.Sprintf("rows=%d/seed=%d", rows, seed), func(t *testing.T) {
				d := newDevice(t)
				r := rand.New(rand.NewPCG(seed, uint64(rows)))
				different := 1 + r.IntN(1<<r.IntN(14))
				int64s := func() int64 { return int64(r.Uint64()) >> r.IntN(64) }
				int32s := func() int64 { return int64(int32(r.Uint32())) >> r.IntN(32) }
				few := draw(different, int64s)
				width := 1 + r.IntN(15)
				keys := []source{
					ints(column.Int32, kernels.ParquetInt32, draw(rows, int32s)),
					texts(someTexts(r, rows, 10, 10, different)),
					bools(draw(rows, func() int64 { return int64(r.IntN(3) / 2) })),
					ints(column.Int64, kernels.ParquetInt64, draw(rows, func() int64 { return few[r.IntN(len(few))] })),
					texts(someTexts(r, rows, 0, 15, different)),
					binaries(someTexts(r, rows, 16, 16, different), 16),
					wides(draw(rows, int64s), 8+r.IntN(9)),
					binaries(someTexts(r, rows, width, width, different), width),
					floats(column.Float32, kernels.ParquetFloat, someFloats(r, rows, true)),
					floats(column.Float64, kernels.ParquetDouble, someFloats(r, rows, false)),
				}
				values := []source{
					ints(column.Int64, kernels.ParquetInt64, draw(rows, int64s)),
					ints(column.Int32, kernels.ParquetInt32, draw(rows, int32s)),
					decimals(draw(rows, int64s), 8+r.IntN(9)),
					decimals(draw(rows, int32s), 4+r.IntN(5)),
					times(draw(rows, int64s)),
					bools(draw(rows, func() int64 { return int64(r.IntN(3) / 2) })),
					floats(column.Float64, kernels.ParquetFloat, someFloats(r, rows, true)),
					floats(column.Float64, kernels.ParquetDouble, someFloats(r, rows, false)),
				}
				for _, s := range []*source{&keys[r.IntN(len(keys))], &keys[r.IntN(len(keys))], &values[r.IntN(len(values))]} {
					share := r.Float64() * 1.2 // of rows that are NULL
					*s = nullable(*s, draw(rows, func() bool { return r.Float64() < share }))
				}
				first := r.IntN(len(keys))
				keys = keys[first : first+1+r.IntN(min(len(keys)-first, 4))]
				g := newRig(t, seed, keys, values[r.IntN(len(values)):])
				g.plan.HashWords = r.IntN(2)
				g.units(r, rows)
				p, memory := g.finish()
				got, stop := d.make(t, p, memory)
				if stop != 0 {
					t.Fatalf("stopped: %s", Reason(stop))
				}
				compare(t, g.plan, got, g.rows(0, rows))
			})
		}
	}
}

// Rows whose hashes are beyond a bound are passed over, with a filter and without.
func TestMakeLimitedRows(t *testing.T) {
	const rows = 5000
	d := newDevice(t)
	r := rand.New(rand.NewPCG(18, 1))
	few := draw(700, func() int64 { return r.Int64N(1000) })
	k := ints(column.Int64, kernels.ParquetInt64, draw(rows, func() int64 { return few[r.IntN(len(few))] }))
	k = nullable(k, draw(rows, func() bool { return r.IntN(50) == 0 }))
	v := ints(column.Int32, kernels.ParquetInt32, draw(rows, func() int64 { return r.Int64N(2) }))
	for _, filters := range []bool{false, true} {
		g := newRig(t, 18, []source{k, texts(someTexts(r, rows, 0, 15, 3))}, []source{v})
		g.plan.Limited = true
		if filters { // v = 1
			g.plan.Filters, g.plan.Registers = true, 2
			g.plan.Steps = []kernels.ParquetStep{
				{Code: kernels.ParquetLoad, Constant: 2}, {Code: kernels.ParquetKeep, A: 0},
			}
		}
		g.unit(0, rows/3)
		g.unit(rows/3, rows)
		p, memory := g.finish()
		all := g.rows(0, rows)
		stride := g.plan.RowWords()
		for _, bound := range []uint64{0, 1 << 58, 1 << 63, all[0], NoBound - 1, NoBound} {
			var want [][]uint64
			for row := range slices.Chunk(all, stride) {
				if row[0] <= bound && (!filters || row[1+g.plan.KeyWords+1] == 1) {
					want = append(want, row)
				}
			}
			made, stop := d.makeUpTo(t, p, bound, memory)
			got := slices.Collect(slices.Chunk(made, stride))
			slices.SortFunc(want, slices.Compare)
			slices.SortFunc(got, slices.Compare)
			if stop != 0 || !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("filters %t, hashes up to %#x: %d rows, want %d, or others; stopped: %s", filters, bound, len(got), len(want), Reason(stop))
			}
		}
	}
}

// Whatever driver call fails while the kernels are loaded, used and closed, it is told, and nothing
// is left behind.
func TestKernelFaults(t *testing.T) {
	thread := gputest.Open(t)
	g := newRig(t, 1, []source{texts(someTexts(rand.New(rand.NewPCG(1, 1)), 100, 0, 15, 10))}, nil)
	g.unit(0, 100)
	p, memory := g.finish()
	stream := gputest.Keep(t, thread.NewStream)
	room := gputest.Keep(t, func() (*cuda.Memory, error) { return thread.Alloc(1 << 20) })
	in, rest := room.Span().Slice(0, cuda.Size(len(memory))), room.Span().Slice(1<<18, 1<<20)
	gputest.FailCalls(t, 1, func() error {
		if err := thread.Write(in, memory); err != nil {
			return err
		}
		err := NewKernels(thread.Context(), nil).Make(stream, p, NoBound, in, rest.Slice(1<<18, 2<<18), Out{Rows: rest.Slice(16, 1<<18), Made: rest.Slice(8, 16), Stop: rest.Slice(0, 8)})
		return errors.Join(err, stream.Synchronize())
	}, nil)
}

// A batch without rows, and reasons for people.
func TestNothingToMake(t *testing.T) {
	d := newDevice(t)
	must(t, d.kernels.Make(d.stream, &Batch{plan: new(Plan)}, NoBound, cuda.Span{}, cuda.Span{}, Out{}))
	seen := map[string]bool{}
	for stop := range uint64(kernels.ParquetStopDamaged + 1) {
		seen[Reason(stop)] = true
	}
	if len(seen) != kernels.ParquetStopDamaged+1 || !seen[""] {
		t.Errorf("reasons %v", seen)
	}
}

// Codes of each width, the greatest that there is among them, with as many
// entries as the width allows or the test can bear.
func TestCodeWidths(t *testing.T) {
	const rows = 700
	d := newDevice(t)
	for width := 1; width <= 32; width++ {
		count := min(1<<width, 3000)
		r := rand.New(rand.NewPCG(uint64(width), 1))
		s := ints(column.Int64, kernels.ParquetInt64, draw(count, func() int64 { return int64(r.Uint64()) }))
		g := newRig(t, uint64(width), []source{s}, []source{s})
		all := draw(count, func() int { return 0 })
		for i := range all {
			all[i] = i
		}
		codes := draw(rows, func() uint32 { return uint32(count - 1 - r.IntN(count)/(1+r.IntN(8))) })
		for i, s := range g.sources() {
			task := g.entries(&s, i, dict{rows: all})
			g.page(kernels.ParquetPage{Rows: rows, Coded: 1}, nil, append([]byte{byte(width)}, drawRuns(r, codes, width)...), task)
		}
		g.batch.rows = rows
		p, memory := g.finish()
		agree(t, d, p, memory, fmt.Sprintf("width %d", width))
	}
}

// Pages of many windows: short runs of wide codes, strings of one length but for one far
// behind, and strings of any; levels of many runs.
func TestLongPages(t *testing.T) {
	const rows = 60_000
	r := rand.New(rand.NewPCG(8, 8))
	wide := ints(column.Int64, kernels.ParquetInt64, draw(rows, func() int64 { return int64(r.IntN(1 << 16)) }))
	nearly := someTexts(r, rows, 12, 12, 1<<16)
	nearly[rows-3] = "short"
	pairs := draw(rows, func() int64 { return 0 })
	for i := range pairs {
		pairs[i] = int64(i / 8 % 3) // runs of 8 codes
	}
	for name, s := range map[string]source{
		"wide":   wide,
		"pairs":  ints(column.Int32, kernels.ParquetInt32, pairs),
		"nearly": texts(nearly),
		"any":    texts(someTexts(r, rows, 0, 15, 1<<16)),
		"empty":  texts(make([]string, rows)),
		"nulls":  nullable(texts(nearly), draw(rows, func() bool { return r.IntN(3) == 0 })),
		"rare":   nullable(wide, draw(rows, func() bool { return r.IntN(1000) == 0 })),
	} {
		for coded := range uint8(2) {
			t.Run(fmt.Sprintf("%s/coded=%d", name, coded), func(t *testing.T) {
				d := newDevice(t)
				g := newRig(t, 1, []source{s}, nil)
				dict := dictionary(&s, 0, rows)
				task := g.entries(&s, 0, dict)
				values, codes := s.values(0, rows, dict)
				if coded == 1 {
					values = drawCodes(r, codes, len(dict.rows))
				}
				page := kernels.ParquetPage{Rows: rows, Coded: coded}
				var head []byte
				if s.vector.Null != nil {
					head, page.Levels = drawLevels(r, v2Levels, s.vector.Null)
				}
				g.page(page, head, values, task)
				g.batch.rows = rows
				p, memory := g.finish()
				got, stop := d.make(t, p, memory)
				if stop != 0 {
					t.Fatalf("stopped: %s", Reason(stop))
				}
				compare(t, g.plan, got, g.rows(0, rows))
			})
		}
	}
}

// Runs that are all alike, such as are nearly, and such as are not at all; and damage far behind in
// a page.
func TestRuns(t *testing.T) {
	const rows, width, count = 20_000, 7, 100
	d := newDevice(t)
	r := rand.New(rand.NewPCG(9, 9))
	codes := draw(rows, func() uint32 { return uint32(r.IntN(count)) })
	s := ints(column.Int64, kernels.ParquetInt64, draw(count, func() int64 { return int64(r.Uint64()) }))
	all := make([]int, count)
	for i := range all {
		all[i] = i
	}
	even, uneven := packedRuns(codes, width, 63), packedRuns(codes, width, 1, 2, 1, 3)
	short := func(n int) []byte { return bytes.Repeat([]byte{4, 7, 17 << 1, 9}, n) } // runs of 2 and 17
	const run = 1 + 63*width                                                         // bytes
	changed := func(change func(b []byte) []byte) []byte { return change(slices.Clone(even)) }
	for name, values := range map[string][]byte{
		"even":             even,
		"cut":              even[:len(even)-140],
		"cut too early":    even[:len(even)-141],
		"and more":         append(even[:len(even):len(even)], even...),
		"of one group":     packedRuns(codes, width, 1),
		"of two bytes":     packedRuns(codes, width, 100),
		"of four bytes":    packedRuns(codes, width, 1<<21),
		"turns":            packedRuns(codes, width, 63, 63, 62),
		"later":            append(packedRuns(codes[:504*30], width, 63), packedRuns(codes[504*30:], width, 64)...),
		"a long head":      changed(func(b []byte) []byte { b[run*25] |= 0x80; return slices.Insert(b, run*25+1, 0) }),
		"the longest head": changed(func(b []byte) []byte { b[0] |= 0x80; return slices.Insert(b, 1, longHead...) }),
		"too long a head":  changed(func(b []byte) []byte { b[0] |= 0x80; return slices.Insert(b, 1, slices.Concat(longHead, longHead)...) }),
		"an empty run":     changed(func(b []byte) []byte { return slices.Insert(b, run*25, 1) }),
		"empty runs":       changed(func(b []byte) []byte { return slices.Insert(b, run*25, bytes.Repeat([]byte{1}, 3000)...) }),
		"a code beyond":    changed(func(b []byte) []byte { b[run*25+1] = 0xff; return b }),
		"a run of one":     changed(func(b []byte) []byte { return slices.Replace(b, run*25, run*26, 0xf0, 7, 5) }),
		"the last one":     append(even[:39*run:39*run], 0xf0, 7, 5),
		"nothing behind":   even[: 39*run : 39*run],
		"uneven":           uneven,
		"uneven, cut":      uneven[:len(uneven)-20],
		"short":            short(2000),
		"short, too few":   short(1000),
		"short, long head": slices.Concat(short(500), []byte{4 | 0x80}, longHead, []byte{7}, short(2000)),
		"short, too wide":  slices.Concat(short(500), []byte{4, 0x80}, short(2000)),
		"too wide, alike":  slices.Concat(short(500), bytes.Repeat([]byte{4, 7}, 1500), []byte{4, 0x80}, short(2000)),
		"short, then even": slices.Concat(short(700), even[:run*20], short(2000)),
		"DuckDB":           slices.Concat(packedRuns(codes[:256*30], width, 32), []byte{8, 7}, packedRuns(codes[:256*40], width, 32), []byte{10, 8}, packedRuns(codes, width, 32)),
	} {
		g := newRig(t, 1, []source{s}, nil)
		g.page(kernels.ParquetPage{Rows: rows, Coded: 1}, nil, append([]byte{width}, values...), g.entries(&s, 0, dict{rows: all}))
		g.batch.rows = rows
		p, memory := g.finish()
		agree(t, d, p, memory, name)
	}
}

// longHead, behind a byte, makes the longest varint of the same number.
var longHead = append(bytes.Repeat([]byte{0x80}, 8), 0)

// Positions are those of the rows of each unit in the input, but for NULLs, and where another
// output is NULL.
func TestMakePositions(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 21))
		cuts := []int{0}
		for range 1 + r.IntN(5) {
			cuts = append(cuts, cuts[len(cuts)-1]+1+r.IntN(300))
		}
		rows := cuts[len(cuts)-1]
		values := func() source {
			s := ints(column.Int32, kernels.ParquetInt32, draw(rows, func() int64 { return int64(r.IntN(9)) }))
			return nullable(s, draw(rows, func() bool { return r.IntN(4) == 0 }))
		}
		g := newRig(t, seed, []source{values()}, []source{values(), values()})
		own := kernels.ParquetState{Place: 1, Word: kernels.ParquetPosition, Null: 77}
		both := own
		both.Other = 3
		g.plan.States, g.plan.Nulls = []kernels.ParquetState{own, both}, nil
		positions := []uint64{}
		for i, end := range cuts[1:] {
			first := r.Uint64N(1 << 40)
			g.batch.places = append(g.batch.places, kernels.ParquetUnit{Position: first, First: uint64(cuts[i])})
			g.unit(cuts[i], end)
			for k := range end - cuts[i] {
				positions = append(positions, first+uint64(k))
			}
		}
		p, memory := g.finish()
		got, stop := newDevice(t).make(t, p, memory)
		if stop != 0 {
			t.Fatalf("stopped: %s", Reason(stop))
		}
		stride := g.plan.RowWords()
		for i, position := range positions {
			want := []uint64{position, position}
			if g.values[0].vector.IsNull(i) {
				want = []uint64{77, 77}
			} else if g.values[1].vector.IsNull(i) {
				want[1] = 77
			}
			if words := got[(i+1)*stride-2 : (i+1)*stride]; !slices.Equal(words, want) {
				t.Fatalf("seed %d: row %d has %v, want %v", seed, i, words, want)
			}
		}
	}
}
