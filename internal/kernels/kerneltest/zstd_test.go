package kerneltest_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// columns is bytes of pages, of so many rows: none, one, random, equal, runs, strings with their
// length in front, words, doubles, and small integers.
func (r *zstdRig) columns(rows int) map[string][]byte {
	random := func() byte { return byte(r.draws.Uint32()) }
	var codes, words, doubles, integers, runs, rising []byte
	for i := range rows {
		codes = binary.LittleEndian.AppendUint32(codes, 12)
		codes = fmt.Appendf(codes, "id%010d", r.draws.IntN(1e6))
		words = fmt.Appendf(words, "%s of %s, ", []string{"a lot", "the rest", "some", "nothing"}[r.draws.IntN(4)], []string{"it", "them all", "what there is", "days"}[r.draws.IntN(4)])
		doubles = binary.LittleEndian.AppendUint64(doubles, math.Float64bits(math.Round(r.draws.Float64()*1e8)/1e6))
		integers = binary.LittleEndian.AppendUint64(integers, uint64(r.draws.IntN(15)))
		rising = binary.LittleEndian.AppendUint64(rising, uint64(1e6+i*3+r.draws.IntN(3)))
		if r.draws.IntN(10) == 0 {
			runs = append(runs, bytes.Repeat([]byte{random()}, 1+r.draws.IntN(1<<r.draws.IntN(10)))...)
		}
	}
	return map[string][]byte{
		"nothing": {}, "one": {7}, "three": {1, 2, 3}, "random": fill(8*rows, random), "few random": fill(100, random),
		"zeros": make([]byte, 24*rows), "nibbles": fill(4*rows, func() byte { return random() & 15 }),
		"skewed": fill(4*rows, func() byte { return byte(math.Abs(r.draws.NormFloat64() * 20)) }),
		"codes":  codes, "words": words, "doubles": doubles, "integers": integers, "runs": runs, "rising": rising,
	}
}

// Frames that the encoder makes at all its levels of what columns hold are expanded as the CPU
// does, many by one launch: with checksums and without, with the size in front and as a stream.
func TestZstdEncoded(t *testing.T) {
	sizes := []int{10, 300, 3000, 20000}
	if testing.Short() {
		sizes = []int{10, 3000}
	}
	for _, rows := range sizes {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			r := newZstdRig(t)
			var pages []*zstdPage
			for _, data := range r.columns(rows) {
				for i, level := range zstdLevels {
					frame := zstdEncode(t, data, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(i%2 == 0))
					pages = append(pages, &zstdPage{bytes: frame, size: len(data)})
				}
				var stream bytes.Buffer
				w, err := zstd.NewWriter(&stream, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<15))
				r.must(err)
				for part := range slices.Chunk(data, 50_000) {
					_, err := w.Write(part)
					r.must(err)
				}
				r.must(w.Close())
				pages = append(pages, &zstdPage{bytes: stream.Bytes(), size: len(data)})
			}
			if stop := r.together(pages); stop != 0 {
				t.Errorf("stop word %d", stop)
			}
			asCPU(t, pages, false)
		})
	}
}

// Any level and any shape of data, drawn.
func TestZstdDrawn(t *testing.T) {
	rounds := 300
	switch {
	case testing.Short():
		rounds = 20
	case gputest.Emulated():
		rounds = 100
	}
	r := newZstdRig(t)
	var pages []*zstdPage
	for range rounds {
		var data []byte
		symbols, back := 1+r.draws.IntN(1<<r.draws.IntN(9)), r.draws.IntN(100)
		for n := r.draws.IntN(1 << r.draws.IntN(18)); len(data) < n; {
			if len(data) > 0 && r.draws.IntN(100) < back {
				offset := 1 + r.draws.IntN(min(len(data), 1<<r.draws.IntN(18)))
				for range 3 + r.draws.IntN(1<<r.draws.IntN(12)) {
					data = append(data, data[len(data)-offset])
				}
				continue
			}
			data = append(data, fill(1+r.draws.IntN(1<<r.draws.IntN(8)), func() byte { return byte(r.draws.IntN(symbols)) })...)
		}
		frame := zstdEncode(t, data, zstd.WithEncoderLevel(zstdLevels[r.draws.IntN(len(zstdLevels))]))
		pages = append(pages, &zstdPage{bytes: frame, size: len(data)})
	}
	r.alone(pages)
	asCPU(t, pages, false)
}

// The levels in front of a v2 page are not compressed, those of a v1 page are.
func TestZstdLevels(t *testing.T) {
	r := newZstdRig(t)
	data := r.columns(1000)["codes"]
	frame := zstdEncode(t, data)
	pages := []*zstdPage{{bytes: frame, size: len(data), levels: kernels.ParquetSizedLevels}}
	want := [][]byte{data}
	for _, levels := range []int{1, 2, 7, 16, 33} {
		head := bytes.Repeat([]byte{3}, levels)
		pages = append(pages, &zstdPage{bytes: slices.Concat(head, frame), size: levels + len(data), levels: uint32(levels)})
		want = append(want, slices.Concat(head, data))
	}
	if stop := r.together(pages); stop != 0 {
		t.Errorf("stop word %d", stop)
	}
	for i, page := range pages {
		if !bytes.Equal(page.room, want[i]) {
			t.Errorf("page %d, %d bytes of levels: %s", i, page.levels, difference(page.room, want[i]))
		}
	}
	wrong := []*zstdPage{
		{bytes: frame, size: len(data), levels: uint32(len(frame) + 1)},
		{bytes: frame, size: 3, levels: 4},
		{bytes: frame, size: len(data), levels: 1},
	}
	r.alone(wrong)
	for i, page := range wrong {
		if page.stop != kernels.ParquetStopDamaged {
			t.Errorf("wrong levels %d: stop word %d", i, page.stop)
		}
	}
}

// Frames behind one another, and blocks of all kinds made by hand.
func TestZstdFrames(t *testing.T) {
	r := newZstdRig(t)
	one, other := []byte("the first frame, the first frame, the first"), bytes.Repeat([]byte("another"), 5000)
	raw := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 5 << 3, 0, 0, 'h', 'e', 'l', 'l', 'o', 9<<3 | 2, 0, 0, '!', 1, 0, 0}
	cases := map[string]struct {
		page []byte
		size int
		good bool
	}{
		"two":                 {slices.Concat(zstdEncode(t, one), zstdEncode(t, other)), len(one) + len(other), true},
		"twice, no checksums": {slices.Repeat(zstdEncode(t, one, zstd.WithEncoderCRC(false)), 2), 2 * len(one), true},
		"raw, RLE, empty":     {raw, 14, true},
		"no bytes":            {nil, 0, true},
		"no bytes of one":     {nil, 1, false},
		"too much":            {raw, 13, false},
		"too little":          {raw, 15, false},
		"more behind":         {append(slices.Clone(raw), 0), 14, false},
		"a reserved block":    {slices.Concat(raw[:6], []byte{7, 0, 0}), 0, false},
		"a reserved bit":      {slices.Concat(raw[:4], []byte{8}, raw[5:]), 14, false},
		"a dictionary":        {slices.Concat(raw[:4], []byte{1, 0x58, 9}, raw[6:]), 14, false},
		"a skippable frame":   {slices.Concat([]byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9}, raw), 14, false},
		"a large window":      {slices.Concat(raw[:5], []byte{20 << 3}, raw[6:]), 14, false},
		"a wrong magic":       {slices.Concat([]byte{0x29}, raw[1:]), 14, false},
	}
	var names []string
	var pages []*zstdPage
	for name, c := range cases {
		names = append(names, name)
		pages = append(pages, &zstdPage{bytes: c.page, size: c.size})
	}
	r.alone(pages)
	for i, page := range pages {
		if good := page.stop == 0; good != cases[names[i]].good {
			t.Errorf("%s: stop word %d", names[i], page.stop)
		}
	}
	asCPU(t, pages, true)
}

// A page of some megabytes, of many blocks.
func TestZstdLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds on the emulator")
	}
	r := newZstdRig(t)
	columns := r.columns(100_000)
	var pages []*zstdPage
	for i, name := range []string{"codes", "doubles", "words", "skewed", "rising"} {
		frame := zstdEncode(t, columns[name], zstd.WithEncoderLevel(zstdLevels[i%len(zstdLevels)]))
		pages = append(pages, &zstdPage{bytes: frame, size: len(columns[name])})
	}
	r.alone(pages)
	asCPU(t, pages, false)
}

// A parcel that has been stopped is not expanded.
func TestZstdStopped(t *testing.T) {
	r := newZstdRig(t)
	parcel, descriptors, size := layOutZstd([]*zstdPage{{bytes: []byte{1}, size: 1}})
	work := upload(r.device, make([]byte, size))
	stop := upload(r.device, []uint64{kernels.ParquetStopNulls})
	r.must(r.kernels.ExpandPages(r.stream, upload(r.device, parcel), work, upload(r.device, descriptors), descriptors, stop))
	if got := download[uint64](r.device, stop, 1)[0]; got != kernels.ParquetStopNulls {
		t.Errorf("stop word %d: a page has been looked at", got)
	}
}

// A frame that ends early is damaged, wherever it ends.
func TestZstdTruncated(t *testing.T) {
	r := newZstdRig(t)
	data := r.columns(100)["words"]
	var pages []*zstdPage
	for _, crc := range []bool{false, true} {
		frame := zstdEncode(t, data, zstd.WithEncoderCRC(crc))
		for n := range frame {
			pages = append(pages, &zstdPage{bytes: frame[:n], size: len(data)})
		}
	}
	r.alone(pages)
	for i, page := range pages {
		if page.stop != kernels.ParquetStopDamaged {
			t.Errorf("page %d: stop word %d", i, page.stop)
		}
	}
}

// Whatever wrong bits make of a frame, the device refuses it or makes of it what the CPU does, and
// touches nothing else.
func TestZstdFlipped(t *testing.T) {
	r := newZstdRig(t)
	frames := 4000
	switch {
	case testing.Short():
		frames = 200
	case gputest.Emulated():
		frames = 1500
	}
	columns := r.columns(3000)
	var names []string
	for name, data := range columns {
		if len(data) > 100 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var pages []*zstdPage
	for i := range frames {
		of := columns[names[i%len(names)]]
		from := r.draws.IntN(len(of))
		data := of[from:min(len(of), from+1+r.draws.IntN(1<<(4+r.draws.IntN(11))))]
		level := zstdLevels[r.draws.IntN(len(zstdLevels))]
		frame := zstdEncode(t, data, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(i%8 == 0), zstd.WithSingleSegment(i%3 == 0))
		for range 1 + r.draws.IntN(3) {
			frame[r.draws.IntN(1+r.draws.IntN(len(frame)))] ^= 1 << r.draws.IntN(8)
		}
		pages = append(pages, &zstdPage{bytes: frame, size: len(data)})
	}
	r.alone(pages)
	asCPU(t, pages, true)
	good := 0
	for _, page := range pages {
		if page.stop == 0 {
			good++
		}
	}
	if good == 0 || good == len(pages) {
		t.Errorf("%d of %d frames were expanded", good, len(pages))
	}
}

// Any bytes behind a head are expanded as the CPU does, or refused.
func FuzzZstd(f *testing.F) {
	f.Add([]byte{0, 0x58, 5 << 3, 0, 0, 'h', 'e', 'l', 'l', 'o', 1, 0, 0}, uint32(5))
	text := bytes.Repeat([]byte("some text, and more of it; "), 30)
	f.Add(zstdEncode(f, text)[4:], uint32(len(text)))
	f.Add(zstdEncode(f, text, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderCRC(false))[4:], uint32(len(text)))
	f.Fuzz(func(t *testing.T, rest []byte, size uint32) {
		r := newZstdRig(t)
		page := append([]byte{0x28, 0xb5, 0x2f, 0xfd}, rest...)
		pages := []*zstdPage{{bytes: page, size: int(size % (1 << 20))}}
		r.alone(pages)
		asCPU(t, pages, true)
	})
}
