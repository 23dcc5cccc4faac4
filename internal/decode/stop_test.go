package decode

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// sized is levels of a page of the first kind.
func sized(runs ...byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
}

// strs is PLAIN strings.
func strs(values ...string) (b []byte) {
	for _, v := range values {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return b
}

// What stops a batch, and what is just not wrong. Pages of ten rows.
func TestStops(t *testing.T) {
	const (
		good    = 0
		nulls   = kernels.ParquetStopNulls
		long    = kernels.ParquetStopLong
		outside = kernels.ParquetStopRange
		damaged = kernels.ParquetStopDamaged
	)
	zeros := func(n int) []byte { return make([]byte, n) }
	tens := strings.Split("a,bb,ccc,dddd,eeeee,ffffff,ggggggg,hhhhhhhh,iiiiiiiii,jjjjjjjjjj", ",")
	const int32s, bytes, coded, splits, deltas, booleans, truths, fixed = kernels.ParquetInt32, kernels.ParquetBytes, 10, 11, 12, 13, 14, 15
	for _, test := range []struct {
		name   string
		kind   uint8
		levels []byte
		values []byte
		want   uint64
	}{
		{"numbers", int32s, nil, zeros(40), good},
		{"numbers and more", int32s, nil, zeros(57), good},
		{"a number cut", int32s, nil, zeros(39), damaged},
		{"no numbers", int32s, nil, nil, damaged},
		{"all levels in a run", int32s, sized(20, 1), zeros(40), good},
		{"levels of more rows", int32s, sized(22, 1), zeros(40), good},
		{"levels in two runs", int32s, sized(4, 1, 16, 1), zeros(40), good},
		{"levels packed", int32s, sized(5, 0xff, 0xff), zeros(40), good},
		{"levels packed, the rest zeros", int32s, sized(5, 0xff, 0x03), zeros(40), good},
		{"levels packed, a group not there", int32s, sized(7, 0xff, 0x03), zeros(40), good},
		{"a run of no levels", int32s, sized(0, 0, 20, 1), zeros(40), good},
		{"a long head of levels", int32s, sized(0x94, 0x80, 0, 1), zeros(40), good},
		{"NULLs", int32s, sized(20, 0), zeros(40), nulls},
		{"the last is NULL", int32s, sized(18, 1, 2, 0), zeros(40), nulls},
		{"the last is NULL, packed", int32s, sized(5, 0xff, 0xfd), zeros(40), nulls},
		{"the first is NULL, packed", int32s, sized(5, 0xfe, 0xff), zeros(40), nulls},
		{"NULLs, and a number cut", int32s, sized(20, 0), zeros(39), nulls},
		{"a level of 2", int32s, sized(20, 2), zeros(40), damaged},
		{"too few levels", int32s, sized(18, 1), zeros(40), damaged},
		{"too few packed levels", int32s, sized(5, 0xff), zeros(40), damaged},
		{"a run without its level", int32s, sized(20), zeros(40), damaged},
		{"a head without end", int32s, sized(0x80), zeros(40), damaged},
		{"a head of 65 bits", int32s, sized(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 1), zeros(40), damaged},
		{"levels beyond the page", int32s, binary.LittleEndian.AppendUint32(nil, 41), zeros(40), damaged},
		{"levels beyond all", int32s, binary.LittleEndian.AppendUint32(nil, math.MaxUint32), zeros(40), damaged},
		{"a page smaller than a size of levels", int32s, []byte{1, 2, 3}, nil, damaged},
		{"a number above the range", int32s, nil, append(zeros(36), 100, 0, 0, 0), good},
		{"a number too great", int32s, nil, append(zeros(36), 101, 0, 0, 0), outside},
		{"a number too small", int32s, nil, append([]byte{255, 255, 255, 255}, zeros(36)...), outside},

		{"split", splits, sized(20, 1), zeros(40), good},
		{"split and more", splits, nil, zeros(56), good},
		{"split and more than whole values", splits, nil, zeros(41), damaged},
		{"a split number cut", splits, nil, zeros(36), damaged},
		{"a split number too great", splits, nil, slices.Concat(zeros(15), []byte{1}, zeros(24)), outside},
		{"split NULLs, and half a value", splits, sized(20, 0), zeros(2), nulls},

		{"differences", deltas, sized(20, 1), []byte{128, 1, 4, 10, 10, 2, 0, 0, 0, 0}, good},
		{"differences of three bits", deltas, nil, []byte{128, 1, 4, 10, 10, 2, 3, 0, 0, 0, 1, 2, 3, 4}, good},
		{"differences cut", deltas, nil, []byte{128, 1, 4, 10, 10, 2, 3, 0, 0, 0, 1, 2, 3}, damaged},
		{"differences of 65 bits", deltas, nil, append([]byte{128, 1, 4, 10, 10, 2, 65, 0, 0, 0}, zeros(300)...), damaged},
		{"differences of 64 bits", deltas, nil, append([]byte{128, 1, 4, 10, 10, 2, 64, 0, 0, 0}, zeros(300)...), good},
		{"more differences than rows", deltas, nil, []byte{128, 1, 4, 11, 10, 2, 0, 0, 0, 0}, damaged},
		{"too few differences", deltas, nil, []byte{128, 1, 4, 9, 10, 2, 0, 0, 0, 0}, damaged},
		{"too few widths", deltas, nil, []byte{128, 1, 4, 10, 10, 2, 0, 0, 0}, damaged},
		{"blocks of 64", deltas, nil, []byte{64, 2, 10, 10, 2, 0, 0}, damaged},
		{"no miniblocks", deltas, nil, []byte{128, 1, 0, 10, 10, 2, 0, 0, 0, 0}, damaged},
		{"miniblocks of 16", deltas, nil, []byte{128, 1, 8, 10, 10, 2, 0, 0, 0, 0, 0, 0, 0, 0}, damaged},
		{"a header cut", deltas, nil, []byte{128, 1, 4, 10}, damaged},
		{"no differences", deltas, nil, nil, damaged},
		{"a sum too great", deltas, nil, []byte{128, 1, 4, 10, 10, 40, 0, 0, 0, 0}, outside},

		{"booleans", booleans, nil, []byte{2, 0}, good},
		{"booleans and more", booleans, sized(20, 1), []byte{2, 0xff, 0xff}, good},
		{"few booleans", booleans, nil, []byte{2}, damaged},
		{"no booleans", booleans, nil, nil, damaged},
		{"a run of booleans", truths, sized(20, 1), sized(20, 1), good},
		{"a run of 255", truths, nil, sized(20, 255), good},
		{"packed booleans", truths, nil, sized(5, 2, 1), good},
		{"runs and more", truths, nil, append(sized(5, 2, 1), 9, 9), good},
		{"too few in runs", truths, nil, sized(18, 1), damaged},
		{"runs beyond the page", truths, nil, append(sized(5, 2, 1)[:4:4], 5, 2), damaged},
		{"no runs of booleans", truths, nil, sized(), damaged},
		{"a size of runs cut", truths, nil, []byte{0, 0, 0}, damaged},

		{"strings of two lengths", bytes, sized(20, 1), strs("aaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbb", "", "", "", "", "", "", "", ""), good},
		{"empty strings", bytes, nil, zeros(40), good},
		{"strings", bytes, nil, strs(tens...), good},
		{"strings and more", bytes, nil, append(strs(tens...), 255, 255, 255, 255, 255), good},
		{"few even strings", bytes, nil, strs(tens[3], tens[3], tens[3]), damaged},
		{"few strings", bytes, nil, strs(tens[1:]...), damaged},
		{"a string cut", bytes, nil, strs(tens...)[:94], damaged},
		{"a size cut", bytes, nil, strs(tens...)[:83], damaged},
		{"no strings", bytes, nil, nil, damaged},
		{"a long string", bytes, nil, strs(append([]string{"0123456789abcdef"}, tens...)...), long},
		{"the last is long", bytes, nil, strs(append(tens[:9:9], "0123456789abcdef")...), long},
		{"an even one is long", bytes, nil, strs("a", "b", "c", "d", "e", "f", "g", "h", "i", "0123456789abcdef"), long},
		{"a string behind is long", bytes, nil, strs(append(tens[:10:10], "0123456789abcdef")...), good},
		{"a string beyond the page", bytes, nil, append(strs(tens[:9]...), 12, 0, 0, 0, 'x', 'x'), damaged},
		{"the first is beyond the page", bytes, nil, append([]byte{255, 255, 255, 255}, zeros(100)...), damaged},

		{"fixed strings", fixed, nil, zeros(30), good},
		{"fixed strings and more", fixed, sized(20, 1), zeros(31), good},
		{"a fixed string cut", fixed, nil, zeros(29), damaged},
		{"no fixed strings", fixed, nil, nil, damaged},

		{"codes in a run", coded, nil, []byte{2, 20, 2}, good},
		{"codes of no width", coded, nil, []byte{0}, good},
		{"packed codes", coded, sized(20, 1), []byte{2, 5, 0x24, 0x49, 0x92, 0x24}, good},
		{"packed codes, cut", coded, nil, []byte{2, 5, 0x24, 0x49, 0x92}, good},
		{"packed codes, cut too early", coded, nil, []byte{2, 5, 0x24, 0x49}, damaged},
		{"a code too great", coded, nil, []byte{2, 20, 3}, damaged},
		{"a packed code too great", coded, nil, []byte{2, 5, 0x24, 0x49, 0x9e}, damaged},
		{"a great code behind", coded, nil, []byte{2, 5, 0x24, 0x49, 0xf2, 0xff}, good},
		{"a code of more bits", coded, nil, []byte{2, 20, 4}, damaged},
		{"a wide code", coded, nil, []byte{32, 20, 2, 0, 0, 0}, good},
		{"a negative code", coded, nil, []byte{32, 20, 2, 0, 0, 0x80}, damaged},
		{"too wide codes", coded, nil, []byte{33, 20, 2, 0, 0, 0, 0}, damaged},
		{"too few codes", coded, nil, []byte{2, 18, 2}, damaged},
		{"a run without its code", coded, nil, []byte{2, 20}, damaged},
		{"a run of groups that are not there", coded, nil, []byte{2, 5}, damaged},
		{"no runs", coded, nil, []byte{2}, damaged},
		{"no width", coded, nil, nil, damaged},
		{"codes and NULLs", coded, sized(20, 0), []byte{2, 20, 2}, nulls},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDevice(t)
			numbers := ints(column.Int32, kernels.ParquetInt32, make([]int64, 10))
			numbers.output.Lo, numbers.output.Hi = 0, 100
			words := texts(make([]string, 10))
			flags := bools([]int64{0, 1, 0, 0, 0, 0, 0, 0, 0, 0})
			g := newRig(t, 1, []source{numbers}, nil)
			if test.kind == bytes {
				g = newRig(t, 1, []source{words}, nil)
			}
			page := kernels.ParquetPage{Rows: 10}
			if test.levels != nil {
				page.Levels = kernels.ParquetSizedLevels
			}
			switch test.kind {
			case splits:
				page.Encoding = kernels.ParquetSplit
			case deltas:
				page.Encoding = kernels.ParquetDelta
			case fixed:
				g = newRig(t, 1, []source{binaries(slices.Repeat([]string{"abc"}, 10), 3)}, nil)
			case booleans, truths:
				g = newRig(t, 1, []source{flags}, nil)
			}
			var task kernels.ParquetTask
			switch test.kind {
			case truths:
				page.Coded, page.Encoding = 1, kernels.ParquetTruths
				task = g.entries(&flags, 0, dict{rows: []int{0, 1}})
			case coded:
				page.Coded = 1
				task = g.entries(&numbers, 0, dict{rows: []int{0, 1, 2}})
			}
			g.page(page, test.levels, test.values, task)
			g.batch.rows = 10
			p, memory := g.finish()
			rows, stop := d.make(t, p, memory)
			if stop != test.want {
				t.Fatalf("stopped for %d, want %d", stop, test.want)
			}
			if stop == 0 {
				want, _ := twinRows(t, p, memory)
				compare(t, p.plan, rows, want)
			}
		})
	}
}

// agree wants the device to make the rows of the twin, or to stop where it does.
func agree(tb testing.TB, d *device, p *Batch, memory []byte, what string) {
	tb.Helper()
	rows, stop := d.make(tb, p, memory)
	want, twin := twinRows(tb, p, memory)
	if (stop == 0) != (twin == 0) {
		tb.Fatalf("%s: stopped for %d, the twin for %d", what, stop, twin)
	}
	if stop == 0 {
		compare(tb, p.plan, rows, want)
	}
}

// waysOf is how pages of a column may lie.
func waysOf(s *source) []kernels.ParquetPage {
	ways := []kernels.ParquetPage{{Coded: 1}}
	if s.output.Physical == kernels.ParquetBool {
		ways = append(ways, kernels.ParquetPage{Coded: 1, Encoding: kernels.ParquetTruths})
	}
	for _, e := range s.encodings() {
		ways = append(ways, kernels.ParquetPage{Encoding: e})
	}
	return ways
}

// damageable is batches of one page for each way to decode one.
func damageable(t *testing.T, seed uint64, rows int, each func(t *testing.T, g *rig)) {
	r := rand.New(rand.NewPCG(seed, 3))
	for _, s := range []source{
		ints(column.Int32, kernels.ParquetInt32, draw(rows, func() int64 { return int64(r.IntN(3)) })),
		nullable(ints(column.Int64, kernels.ParquetInt64, draw(rows, func() int64 { return int64(r.Uint64()) >> r.IntN(64) })), draw(rows, func() bool { return r.IntN(3) == 0 })),
		bools(draw(rows, func() int64 { return int64(r.IntN(3) / 2) })),
		decimals(draw(rows, func() int64 { return int64(r.IntN(1000)) - 500 }), 5),
		decimals(draw(rows, func() int64 { return int64(r.Uint64()) >> r.IntN(64) }), 16),
		times(draw(rows, func() int64 { return int64(r.Uint64()) >> (4 + r.IntN(50)) })),
		floats(column.Float64, kernels.ParquetDouble, someFloats(r, rows, false)),
		texts(someTexts(r, rows, 3, 3, 10)),
		texts(someTexts(r, rows, 0, 15, 10)),
		nullable(texts(someTexts(r, rows, 0, 15, 10)), draw(rows, func() bool { return r.IntN(3) == 0 })),
		binaries(someTexts(r, rows, 7, 7, 10), 7),
		nullable(binaries(someTexts(r, rows, 16, 16, 10), 16), draw(rows, func() bool { return r.IntN(3) == 0 })),
		wides(draw(rows, func() int64 { return int64(r.Uint64()) >> r.IntN(64) }), 16),
	} {
		for _, way := range waysOf(&s) {
			for form := range levelForms {
				if form == noLevels && s.vector.Null != nil {
					continue
				}
				t.Run(fmt.Sprintf("physical=%d/coded=%d/encoding=%d/levels=%d", s.output.Physical, way.Coded, way.Encoding, form), func(t *testing.T) {
					g := newRig(t, seed, []source{s}, nil)
					page := way
					page.Rows = uint32(rows)
					var head []byte
					head, page.Levels = drawLevels(r, form, s.isNull(0, rows))
					dict := dictionary(&s, 0, rows)
					task := g.entries(&s, 0, dict)
					values, codes := s.values(0, rows, dict)
					if page.Coded == 1 {
						values = drawCoded(r, page.Encoding, codes, len(dict.rows))
					} else {
						values = s.encode(r, page.Encoding, values)
					}
					g.page(page, head, values, task)
					g.batch.rows = rows
					each(t, g)
				})
			}
		}
	}
}

// Pages that end anywhere are never read beyond their end, whatever lies there.
func TestTruncatedPages(t *testing.T) {
	cuts := uint32(200) // of a page, about
	if testing.Short() {
		cuts = 20
	}
	damageable(t, 4, 6, func(t *testing.T, g *rig) {
		d := newDevice(t)
		page := &g.batch.pages[0]
		step := 1 + page.Bytes/cuts
		for page.Bytes > 0 {
			cut := min(step, page.Bytes)
			page.Bytes -= cut
			page.Size -= cut
			if page.Levels != kernels.ParquetSizedLevels && page.Levels > page.Bytes {
				break // which the host has seen
			}
			p, memory := g.finish()
			agree(t, d, p, memory, fmt.Sprintf("cut to %d bytes", page.Bytes))
		}
	})
}

// Pages with wrong bits come to what the twin makes of them, or stop the batch.
func TestFlippedBits(t *testing.T) {
	flips := 20
	if testing.Short() {
		flips = 4
	}
	damageable(t, 5, 300, func(t *testing.T, g *rig) {
		d, page := newDevice(t), g.batch.pages[0]
		for range flips {
			p, memory := g.finish()
			for range 1 + g.draws.IntN(4) {
				// Most of them in front, where sizes and widths are.
				bit := g.draws.IntN(1 + g.draws.IntN(int(page.Bytes)*8))
				memory[int(page.At)+bit/8] ^= 1 << (bit % 8)
			}
			agree(t, d, p, memory, "flipped")
		}
	})
}
