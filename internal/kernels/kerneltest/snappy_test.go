package kerneltest_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Blocks that encoders make of what columns hold are expanded as the CPU does, many by one launch.
func TestSnappyEncoded(t *testing.T) {
	r := newSnappyRig(t)
	var pages []*snappyPage
	for _, data := range r.columns() {
		pages = append(pages, blockPages(snappy.Encode(nil, data), cutBlock(data), s2.EncodeSnappyBetter(nil, data), s2.EncodeSnappyBest(nil, data))...)
	}
	if stop := r.together(pages); stop != 0 {
		t.Errorf("stop word %d", stop)
	}
	likeCPU(t, pages)
}

// columns is bytes of pages: few, random, equal, strings with their length in
// front, doubles that hardly compress, and small integers, which do.
func (r *snappyRig) columns() [][]byte {
	rows := 20000
	if testing.Short() {
		rows = 2000
	}
	random := fill(rows, func() byte { return byte(r.draws.Uint32()) })
	var codes, doubles, integers []byte
	for range rows {
		codes = binary.LittleEndian.AppendUint32(codes, 12)
		codes = fmt.Appendf(codes, "id%010d", r.draws.IntN(1e6))
		doubles = binary.LittleEndian.AppendUint64(doubles, math.Float64bits(math.Round(r.draws.Float64()*1e8)/1e6))
		integers = binary.LittleEndian.AppendUint64(integers, uint64(r.draws.IntN(15)))
	}
	return [][]byte{{}, {7}, random, random[:100], make([]byte, 3*rows), codes, doubles, integers}
}

// Whether copies of a page stay within 64 KiB, or not, is found out.
func TestSnappyFragments(t *testing.T) {
	r := newSnappyRig(t)
	var codes []byte
	for range 3 * snappyFragment / 16 {
		codes = fmt.Appendf(codes, "\f\x00\x00\x00id%010d", r.draws.IntN(1e6))
	}
	zeros := make([]byte, 2*snappyFragment+1)
	random := fill(snappyFragment+100, func() byte { return byte(r.draws.Uint32()) })
	far := new(snappyBlock).literalOf(len(random), r.draws).copy(3, 8, snappyFragment).copy(3, 50, len(random))
	across := new(snappyBlock).literalOf(snappyFragment-8, r.draws).copy(2, 16, 8) // begins in one, ends in the other
	cases := []struct {
		block  []byte
		across bool
	}{
		{cutBlock(codes), false},
		{cutBlock(zeros), false},
		{cutBlock(random), false},
		{new(snappyBlock).literal(3, random...).bytes(), false},
		{cutBlock(zeros[:snappyFragment]), false},
		{snappy.Encode(nil, codes), true},
		{snappy.Encode(nil, zeros), true},
		{far.bytes(), true},
		{across.bytes(), true},
	}
	var pages []*snappyPage
	for _, c := range cases {
		pages = append(pages, blockPage(c.block))
	}
	if stop := r.together(pages); stop != 0 {
		t.Errorf("stop word %d", stop)
	}
	likeCPU(t, pages)
	for i, page := range pages {
		if page.across != cases[i].across {
			t.Errorf("page %d, %s: copies across fragments: %t", i, brief(page.bytes), page.across)
		}
	}
}

// Copies reach back to bytes that are copies from further back, of literals of any length, over
// many fragments.
func TestSnappyJoin(t *testing.T) {
	r := newSnappyRig(t)
	chain := new(snappyBlock).literalOf(snappyFragment, r.draws)
	for chain.size < 12*snappyFragment {
		chain.copy(3, 1+r.draws.IntN(64), snappyFragment+r.draws.IntN(2)*(r.draws.IntN(100)-50))
	}
	back := new(snappyBlock).literalOf(100, r.draws)
	for back.size < 5*snappyFragment {
		back.copy(3, 1+r.draws.IntN(64), back.size-r.draws.IntN(50))
	}
	blocks := []*snappyBlock{chain, back}
	for _, share := range []int{2, 20, 200} { // one element of so many is a literal, at times a long one
		mixed := new(snappyBlock).literalOf(1000, r.draws)
		for mixed.size < 5*snappyFragment+r.draws.IntN(1000) {
			switch n := r.draws.IntN(share); {
			case n == 0 && r.draws.IntN(3) == 0:
				mixed.literalOf(900+r.draws.IntN(3000), r.draws)
			case n == 0:
				mixed.literalOf(1+r.draws.IntN(60), r.draws)
			case n%2 == 0:
				mixed.copy(3, 1+r.draws.IntN(64), 1+r.draws.IntN(min(mixed.size, 100)))
			default:
				mixed.copy(3, 1+r.draws.IntN(64), 1+r.draws.IntN(mixed.size))
			}
		}
		blocks = append(blocks, mixed)
	}
	var pages []*snappyPage
	for _, b := range blocks {
		pages = append(pages, blockPage(b.bytes()))
	}
	if stop := r.together(pages); stop != 0 {
		t.Errorf("stop word %d", stop)
	}
	likeCPU(t, pages)
	for i, page := range pages {
		if !page.across {
			t.Errorf("page %d: no copies across fragments", i)
		}
	}
}

// A block that expands one fragment after the other, as in parcels of many pages, forgets the
// long literal that one ends with.
func TestSnappyOneBlock(t *testing.T) {
	r := newSnappyRig(t)
	b := new(snappyBlock)
	for i := range 3 {
		b.literalOf(100, r.draws)
		for range i {
			b.copy(1, 5, 50).copy(2, 9, 20)
		}
		b.literalOf((i+1)*snappyFragment-b.size, r.draws)
	}
	page := blockPage(b.bytes())
	parcel, descriptors, size := layOut([]*snappyPage{page})
	in, list, work := upload(r.device, parcel), upload(r.device, descriptors), upload(r.device, make([]byte, size))
	stop := upload(r.device, []uint64{0})
	one, walk := cuda.Grid{Blocks: 1, Threads: snappyBatch}, cuda.Grid{Blocks: 1, Threads: snappyBatch / 2}
	r.must(r.kernels.Link(r.stream, one, in, work, list, 1, stop))
	r.must(r.kernels.Walk(r.stream, walk, in, work, list, 1, stop))
	r.must(r.kernels.Find(r.stream, one, in, work, list, 1, stop))
	r.must(r.kernels.Expand(r.stream, one, in, work, list, 1, stop))
	page.stop = download[uint64](r.device, stop, 1)[0]
	page.room = download[byte](r.device, work, size)[descriptors[0].Expanded:][:page.size]
	likeCPU(t, []*snappyPage{page})
}

// A page of a row group's usual size, of more than a megabyte.
func TestSnappyLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second on the emulator")
	}
	r := newSnappyRig(t)
	var codes []byte
	for i := range 122880 {
		codes = binary.LittleEndian.AppendUint32(codes, 12)
		codes = fmt.Appendf(codes, "id%010d", r.draws.IntN(i+1))
	}
	zeros := make([]byte, 1<<20)
	random := fill(1<<20+7, func() byte { return byte(r.draws.Uint32()) })
	many := new(snappyBlock).literalOf(100, r.draws)
	for range snappyTile*snappyWindow/5 + 1000 {
		many.copy(3, 1+r.draws.IntN(4), 1+r.draws.IntN(100))
	}
	pages := blockPages(snappy.Encode(nil, codes), cutBlock(codes), snappy.Encode(nil, zeros), snappy.Encode(nil, random), new(snappyBlock).literal(4, random...).bytes(), many.bytes())
	r.alone(pages)
	likeCPU(t, pages)
}

// Literals of all ways to write their length, around the lengths where the way or the road on the
// device changes.
func TestSnappyLiterals(t *testing.T) {
	r := newSnappyRig(t)
	var pages []*snappyPage
	lengths := []int{1, 2, 59, 60, 61, 255, 256, 257, snappyLong - 4, snappyLong - 3, snappyLong - 2, snappyLong, snappyLong + 1, snappyWindow - 1, snappyWindow, 65535, 65536, 65537}
	if testing.Short() {
		lengths = []int{1, 60, 61, 257, snappyLong - 3, snappyLong - 2, snappyWindow, 65537}
	}
	for _, n := range lengths {
		b := new(snappyBlock).literalOf(n, r.draws)
		pages = append(pages, blockPage(b.bytes()), blockPage(b.copy(2, 5, 1).literalOf(n, r.draws).literalOf(3, r.draws).bytes()))
		b = new(snappyBlock).literal(0, 1)
		for extra := 1; extra <= 4; extra++ {
			if n <= 1<<(8*extra) {
				b.literal(extra, bytes.Repeat([]byte{byte(extra)}, n)...).copy(1, 4, 1)
			}
		}
		pages = append(pages, blockPage(b.bytes()))
	}
	if stop := r.together(pages); stop != 0 {
		t.Errorf("stop word %d", stop)
	}
	likeCPU(t, pages)
}

// Pages that begin with long literals of one length, on which tags lie on all places of a window,
// and what may come behind them.
func TestSnappyFronts(t *testing.T) {
	r := newSnappyRig(t)
	var pages []*snappyPage
	fronts := []int{1, 2, 5}
	if testing.Short() {
		fronts = fronts[1:2]
	}
	for _, n := range []int{2*snappyWindow - 4, 2*snappyWindow - 3, 2*snappyWindow - 2, 3*snappyWindow - 3, 2*snappyWindow + 1000, 65536} {
		for _, many := range fronts {
			block := func() *snappyBlock {
				b := new(snappyBlock)
				for range many {
					b.literalOf(n, r.draws)
				}
				return b
			}
			whole, small := block().bytes(), block()
			for len(small.elements) < (many+1)*(n+3) {
				small.copy(3, 5, 9)
			}
			pages = append(pages, blockPages(whole, small.bytes(), whole[:len(whole)-1], whole[:len(whole)-n], block().copy(2, 64, 9).literalOf(n, r.draws).copy(1, 4, 1).bytes(),
				block().literalOf(n+1, r.draws).literalOf(n, r.draws).bytes(), append(block().literalOf(1, r.draws).promising(many*n+n), 61<<2, byte(n-1), byte((n-1)>>8)))...)
		}
	}
	r.alone(pages)
	likeCPU(t, pages)
}

// Copies of all lengths and kinds, from near and far: into themselves, into copies before them,
// and from before the window.
func TestSnappyCopies(t *testing.T) {
	r := newSnappyRig(t)
	var pages []*snappyPage
	offsets := []int{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 65, 1000, 2047, 2048, 4095, 4096, 65535, 65536, 69000}
	for _, offset := range offsets {
		b := new(snappyBlock).literalOf(offset, r.draws)
		for length := 1; length <= 64; length++ {
			if length >= 4 && length <= 11 && offset < 1<<11 {
				b.copy(1, length, offset)
			}
			if offset < 1<<16 {
				b.copy(2, length, offset)
			}
			b.copy(3, length, offset)
		}
		pages = append(pages, blockPage(b.bytes()))
	}
	if stop := r.together(pages); stop != 0 {
		t.Errorf("stop word %d", stop)
	}
	likeCPU(t, pages)
}

// Elements lie in all ways across the ends of windows and pieces: drawn ones; and rows of equal
// ones, as many and as large as can be.
func TestSnappyWindows(t *testing.T) {
	r := newSnappyRig(t)
	var pages []*snappyPage
	drawn, shifts := 20, 6
	if testing.Short() {
		drawn, shifts = 3, 2
	}
	for many := range drawn {
		b := new(snappyBlock).literalOf(1+r.draws.IntN(30), r.draws)
		for len(b.elements) < 3*snappyWindow {
			switch {
			case r.draws.IntN(100) == 0:
				b.literalOf(1+r.draws.IntN(2*snappyWindow), r.draws)
			case r.draws.IntN(20) < many:
				b.literalOf(1+r.draws.IntN(70), r.draws)
			default:
				b.drawCopy(r.draws)
			}
		}
		pages = append(pages, blockPage(b.bytes()))
	}
	for shift := range shifts {
		far := new(snappyBlock).literalOf(100+shift, r.draws)
		for range 2*snappyBatch + 1 {
			far.copy(3, 64, 64+shift)
		}
		small := new(snappyBlock).literalOf(1+shift, r.draws)
		for range 2*snappyWindow + shift {
			small.literalOf(1, r.draws)
		}
		large := new(snappyBlock).literalOf(1+shift, r.draws)
		for range 3 * snappyPiece / snappyLong {
			large.literalOf(snappyLong-3, r.draws)
		}
		pages = append(pages, blockPages(far.bytes(), small.bytes(), large.bytes())...)
	}
	if stop := r.together(pages); stop != 0 {
		t.Errorf("stop word %d", stop)
	}
	likeCPU(t, pages)
}

// The levels in front of a v2 page are not compressed, those of a v1 page are. A page without
// compression is left alone.
func TestSnappyLevels(t *testing.T) {
	r := newSnappyRig(t)
	data := fill(5000, func() byte { return byte(r.draws.IntN(3)) })
	block := snappy.Encode(nil, data)
	pages := []*snappyPage{{bytes: block, size: len(data), levels: kernels.ParquetSizedLevels}}
	want := [][]byte{data}
	for _, levels := range []int{1, 2, 7, 16, 33} {
		page := append(bytes.Repeat([]byte{3}, levels), block...)
		pages = append(pages, &snappyPage{bytes: page, size: levels + len(data), levels: uint32(levels)})
		want = append(want, append(bytes.Repeat([]byte{3}, levels), data...))
	}
	pages = append(pages, &snappyPage{bytes: block, size: 100, plain: true})
	want = append(want, bytes.Repeat([]byte{snappyFill}, 100))
	if stop := r.together(pages); stop != 0 {
		t.Errorf("stop word %d", stop)
	}
	for i, page := range pages {
		if !bytes.Equal(page.room, want[i]) {
			t.Errorf("page %d, %d bytes of levels: %s", i, page.levels, difference(page.room, want[i]))
		}
	}
	wrong := []*snappyPage{
		{bytes: block, size: len(data), levels: uint32(len(block) + 1)},
		{bytes: block, size: 3, levels: 4},
		{bytes: block, size: len(data), levels: 1},
	}
	r.alone(wrong)
	for i, page := range wrong {
		if page.stop != kernels.ParquetStopDamaged {
			t.Errorf("wrong levels %d: stop word %d", i, page.stop)
		}
	}
}

// A parcel that has been stopped is not expanded.
func TestSnappyStopped(t *testing.T) {
	r := newSnappyRig(t)
	broken := []byte{5, 0}
	pages := append(blockPages(broken), blockPages(snappy.Encode(nil, make([]byte, 1000)))...)
	parcel, descriptors, size := layOut(pages)
	work := upload(r.device, make([]byte, size))
	stop := upload(r.device, []uint64{kernels.ParquetStopNulls})
	r.must(r.kernels.ExpandPages(r.stream, upload(r.device, parcel), work, upload(r.device, descriptors), descriptors, stop))
	if got := download[uint64](r.device, stop, 1)[0]; got != kernels.ParquetStopNulls {
		t.Errorf("stop word %d: a page has been looked at", got)
	}
}

// Of a damaged page nothing is said but that it is.
func TestSnappyDamaged(t *testing.T) {
	r := newSnappyRig(t)
	block := func() *snappyBlock { return new(snappyBlock).literal(0, 1, 2, 3, 4, 5) }
	long := func() *snappyBlock { return block().literalOf(2*snappyLong, r.draws) }
	cases := map[string][]byte{
		"no bytes":                      {},
		"no end of the size":            {0x80},
		"a size of 6 bytes":             append([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, block().elements...),
		"a size of 35 bits":             append([]byte{0x85, 0x80, 0x80, 0x80, 0x10}, block().elements...),
		"more than promised":            block().promising(4),
		"less than promised":            block().promising(6),
		"nothing, something promised":   {5},
		"something, nothing promised":   block().promising(0),
		"an offset of 0, one byte":      block().copy(1, 4, 0).bytes(),
		"an offset of 0, two bytes":     block().copy(2, 4, 0).bytes(),
		"an offset of 0, four bytes":    block().copy(3, 4, 0).bytes(),
		"a copy from before the start":  block().copy(1, 4, 6).bytes(),
		"a copy from far before":        block().copy(3, 4, -1).bytes(),
		"a copy first":                  new(snappyBlock).copy(2, 4, 1).bytes(),
		"a copy too much":               block().copy(2, 60, 1).promising(64),
		"a literal of 4 GiB":            append(block().promising(5), 63<<2, 0xff, 0xff, 0xff, 0xff),
		"a literal of 2 GiB":            append(block().promising(5), 63<<2, 0xff, 0xff, 0xff, 0x7f),
		"a tag without its literal":     append(block().promising(6), 0),
		"a tag without its length":      append(block().promising(6), 61<<2),
		"a tag without its offset":      append(block().promising(9), 1),
		"a long literal too much":       long().promising(2*snappyLong + 4),
		"a long literal not whole":      long().bytes()[:2*snappyLong],
		"after a long literal too much": long().copy(1, 4, 1).promising(2*snappyLong + 5),
	}
	var names []string
	var pages []*snappyPage
	for name, bytes := range cases {
		names = append(names, name)
		pages = append(pages, blockPage(bytes))
	}
	r.alone(pages)
	for i, page := range pages {
		if page.stop != kernels.ParquetStopDamaged {
			t.Errorf("%s: stop word %d", names[i], page.stop)
		}
	}
	likeCPU(t, pages)
}

// A block that ends early is damaged, wherever it ends.
func TestSnappyTruncated(t *testing.T) {
	r := newSnappyRig(t)
	b := new(snappyBlock).literalOf(30, r.draws).copy(1, 9, 12).literalOf(70, r.draws).copy(2, 64, 100).copy(3, 33, 101).literalOf(300, r.draws).copy(1, 4, 1)
	block := b.bytes()
	var pages []*snappyPage
	for n := range block {
		pages = append(pages, &snappyPage{bytes: block[:n], size: b.size})
	}
	r.alone(pages)
	likeCPU(t, pages)
}

// Whatever a few wrong bits make of a block, the device does as the CPU does, and touches nothing
// else.
func TestSnappyFlipped(t *testing.T) {
	r := newSnappyRig(t)
	blocks := 2000
	switch {
	case testing.Short():
		blocks = 100
	case gputest.Emulated():
		blocks = 800 // some seconds
	}
	data := r.columns()
	var pages []*snappyPage
	for i := range blocks {
		of := data[2+i%(len(data)-2)]
		from := r.draws.IntN(len(of))
		block := snappy.Encode(nil, of[from:min(len(of), from+1+r.draws.IntN(500))])
		size, _ := snappy.DecodedLen(block)
		for range 1 + r.draws.IntN(3) {
			block[r.draws.IntN(len(block))] ^= 1 << r.draws.IntN(8)
		}
		pages = append(pages, &snappyPage{bytes: block, size: size})
	}
	r.alone(pages)
	likeCPU(t, pages)
}

// The same of pages of several fragments.
func TestSnappyFlippedFragments(t *testing.T) {
	r := newSnappyRig(t)
	blocks := 200
	switch {
	case testing.Short():
		blocks = 8
	case gputest.Emulated():
		blocks = 80 // some seconds
	}
	var codes []byte
	for range 2 * snappyFragment / 16 {
		codes = fmt.Appendf(codes, "\f\x00\x00\x00id%010d", r.draws.IntN(1e6))
	}
	whole, cut := snappy.Encode(nil, codes), cutBlock(codes)
	var pages []*snappyPage
	for i := range blocks {
		block := bytes.Clone([][]byte{whole, cut}[i%2])
		block[3+r.draws.IntN(len(block)-3)] ^= 1 << r.draws.IntN(8)
		pages = append(pages, &snappyPage{bytes: block, size: len(codes)})
	}
	r.alone(pages)
	likeCPU(t, pages)
}

// Any bytes are expanded, or refused, as the CPU does.
func FuzzSnappy(f *testing.F) {
	f.Add([]byte{0}, false)
	f.Add(new(snappyBlock).literal(0, 1, 2, 3).copy(1, 8, 2).bytes(), false)
	f.Add(new(snappyBlock).literal(1, make([]byte, 200)...).copy(2, 64, 150).copy(3, 64, 1).bytes(), true)
	f.Fuzz(func(t *testing.T, block []byte, large bool) {
		pages := blockPages(block)
		if large { // across the ends of windows
			ahead := new(snappyBlock).literal(2, make([]byte, snappyLong-10)...)
			for len(ahead.elements) < snappyWindow-20 {
				ahead.copy(2, 7, 300)
			}
			ahead.elements, ahead.size = append(ahead.elements, block...), ahead.size+len(block)
			pages = append(pages, blockPage(ahead.bytes()))
		}
		r := newSnappyRig(t)
		r.alone(pages)
		likeCPU(t, pages)
	})
}
