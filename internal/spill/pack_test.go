package spill

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// masks of all kinds: none, few bits, runs, digits of text, all.
func randomMask(r *rand.Rand) uint64 {
	switch r.IntN(7) {
	case 0:
		return 0
	case 1:
		return ^uint64(0)
	case 2:
		return (1<<r.IntN(64) - 1) << r.IntN(64)
	case 3:
		return 0x0f0f0f0f0f0f0f0f
	case 4:
		return r.Uint64() & r.Uint64() & r.Uint64()
	case 5:
		return r.Uint64() | r.Uint64() | r.Uint64() // more than a lane may have
	}
	return r.Uint64()
}

// maskedRows makes rows whose columns differ only within masks.
func maskedRows(r *rand.Rand, n, stride int) []byte {
	base, mask := make([]uint64, stride), make([]uint64, stride)
	for c := range stride {
		base[c], mask[c] = r.Uint64(), randomMask(r)
	}
	var rows []byte
	for range n {
		for c := range stride {
			rows = binary.LittleEndian.AppendUint64(rows, base[c]&^mask[c]|r.Uint64()&mask[c])
		}
	}
	return rows
}

// Packed rows are unpacked as they were, and take the bytes that were
// foreseen, at most 1 % more than all bits that differ, frame by frame.
func TestPackRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var f, g frame
	for _, n := range []int{1, 2, 3, frameRows - 1, frameRows, frameRows + 1, 3*frameRows + 7} {
		for range 20 {
			stride := 1 + r.IntN(12)
			rows := maskedRows(r, n, stride)
			limit := len(rows) + (n/frameRows+1)*stride*columnSize
			packed, ok := f.packRows(make([]byte, 5, 5+limit+slack), rows, stride, limit)
			if !ok {
				t.Fatalf("%d rows of %d words do not fit %d bytes", n, stride, limit)
			}
			back := bytes.Repeat([]byte{0xaa}, len(rows))
			if !g.unpackRows(back, packed[5:], stride) || !bytes.Equal(back, rows) {
				t.Fatalf("%d rows of %d words are not as they were", n, stride)
			}
			if len(packed)-5 > 0 && g.unpackRows(back, packed[5:len(packed)-1:len(packed)-1+slack], stride) {
				t.Fatalf("%d rows of %d words without their last byte were accepted", n, stride)
			}
			if _, ok := f.packRows(make([]byte, 0, limit+slack), rows, stride, len(packed)-5-1); ok {
				t.Fatalf("%d rows of %d words fit a byte less than they take", n, stride)
			}
		}
	}
}

// What differs little is small: a row takes the bits that differ, rounded up
// to a byte, and the bits kept for speed.
func TestPackedSize(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		stride := 1 + r.IntN(12)
		rows := maskedRows(r, frameRows, stride)
		var f frame
		f.survey(rows, stride)
		want := 0
		for c := range stride {
			var differ uint64
			for p := c * 8; p < len(rows); p += stride * 8 {
				differ |= binary.LittleEndian.Uint64(rows[p:]) ^ binary.LittleEndian.Uint64(rows[c*8:])
			}
			if n := bits.OnesCount64(differ); n > maxLane {
				want += 64
			} else if n > 0 {
				want += n + loosest
			}
		}
		if f.bytes*8 > want+7 {
			t.Fatalf("%d bytes a row for %d bits", f.bytes, want)
		}
	}
}

func TestGather(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		mask, x := randomMask(r), r.Uint64()
		var want uint64
		for i, n := 0, 0; i < 64; i++ {
			if mask>>i&1 == 1 {
				want |= x >> i & 1 << n
				n++
			}
		}
		g := gatherOf(mask)
		if got := g.gather(x); got != want {
			t.Fatalf("gather(%#x) within %#x = %#x, want %#x", x, mask, got, want)
		}
		noise := uint64(0)
		if n := bits.OnesCount64(mask); n < 64 {
			noise = r.Uint64() << n
		}
		if got := g.scatter(want | noise); got != x&mask {
			t.Fatalf("scatter(%#x) within %#x = %#x, want %#x", want|noise, mask, got, x&mask)
		}
	}
}

// Blocks of every shape come back through a file, and coded where that pays.
func TestBlockShapes(t *testing.T) {
	t.Parallel()
	f := openFile(t, openSpace(t, Config{}))
	rows := func(shape string) ([]byte, int, int) {
		b, stride := rowsOf(shape, 1000)
		return b, 1000, stride
	}
	plain := func(b []byte) ([]byte, int, int) { return b, 0, 0 }
	both := func(shape, rest string) ([]byte, int, int) {
		b, n, stride := rows(shape)
		return append(b, behind(rest, 50_000)...), n, stride
	}
	for _, c := range []struct {
		name  string
		block func() ([]byte, int, int)
		front codec
		back  codec
		ratio float64 // at least
	}{
		{"rows", func() ([]byte, int, int) { return rows("mixed") }, codecBits, codecRaw, 3},
		{"rows that fill their words", func() ([]byte, int, int) { return rows("random") }, codecRaw, codecRaw, 0.99},
		{"rows and text", func() ([]byte, int, int) { return both("mixed", "urls") }, codecBits, codecS2, 2.5},
		{"rows and numbers", func() ([]byte, int, int) { return both("mixed", "values") }, codecBits, codecBits, 2.5},
		{"rows and hexadecimal digits", func() ([]byte, int, int) { return both("mixed", "hex") }, codecBits, codecRaw, 1.3},
		{"plain zeros of any length", func() ([]byte, int, int) { return plain(make([]byte, 12345)) }, codecRaw, codecS2, 50},
		{"plain and short", func() ([]byte, int, int) { return plain([]byte("abcabcabc")) }, codecRaw, codecRaw, 0.1},
		{"one row", func() ([]byte, int, int) { return make([]byte, 72), 1, 9 }, codecRaw, codecRaw, 0.5},
		{"rows of no words", func() ([]byte, int, int) { return nil, 10, 0 }, codecRaw, codecRaw, 0},
	} {
		block, n, stride := c.block()
		f.encoder.backoff = 0
		_, h := f.encoder.encode(make([]byte, 0, len(block)+codedRoom), block, n, stride)
		if h.rowCodec != c.front || h.tailCodec != c.back {
			t.Errorf("%s: codecs %d and %d, want %d and %d", c.name, h.rowCodec, h.tailCodec, c.front, c.back)
		}
		f.encoder.backoff = 0
		e, err := f.Append(block, n, stride)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := float64(e.Raw) / float64(e.Stored); ratio < c.ratio {
			t.Errorf("%s: ratio %.2f, want %.2f", c.name, ratio, c.ratio)
		}
		if got, err := f.Read(e, nil); err != nil || !bytes.Equal(got, block) {
			t.Errorf("%s: not as it was: %v", c.name, err)
		}
	}
}

// After a block that s2 did not make smaller, s2Backoff blocks do not try.
func TestRest(t *testing.T) {
	t.Parallel()
	hex, text := behind("hex", 8192), behind("urls", 8192)
	var c encoder
	coded := func(b []byte) codec {
		_, h := c.encode(make([]byte, 0, len(b)+codedRoom), b, 0, 0)
		return h.tailCodec
	}
	if got := coded(hex); got != codecRaw {
		t.Fatalf("codec %d", got)
	}
	for i := range s2Backoff {
		if got := coded(text); got != codecRaw {
			t.Errorf("block %d after: codec %d", i, got)
		}
	}
	if got := coded(text); got != codecS2 {
		t.Errorf("at the end of the rest: codec %d", got)
	}
}

// A block that does not match its rows is a mistake of the caller, and an
// error.
func TestWrongShape(t *testing.T) {
	t.Parallel()
	f := openFile(t, openSpace(t, Config{}))
	for _, c := range []struct{ n, rows, stride int }{{71, 1, 9}, {72, -1, 9}, {72, 1, -9}, {72, 2, 9}, {72, math.MaxInt / 2, 2}, {1 << 20, 1, 1 << 16}} {
		if _, err := f.Append(make([]byte, c.n), c.rows, c.stride); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// Appending and reading allocate nothing once the buffers are there.
func TestNoAllocations(t *testing.T) {
	f := openFile(t, openSpace(t, Config{}))
	for _, shape := range []string{"random", "mixed"} {
		block, stride := rowsOf(shape, 1000)
		block = append(block, behind("urls", 20_000)...)
		dst := make([]byte, len(block))
		e, err := f.Append(block, 1000, stride)
		if err != nil {
			t.Fatal(err)
		}
		// The garbage collector may empty the pools of s2 once.
		if n := testing.AllocsPerRun(100, func() { _, err = f.Append(block, 1000, stride) }); n >= 1 || err != nil {
			t.Errorf("%s: Append allocates %.0f times, %v", shape, n, err)
		}
		if n := testing.AllocsPerRun(100, func() { _, err = f.Read(e, dst) }); n >= 1 || err != nil {
			t.Errorf("%s: Read allocates %.0f times, %v", shape, n, err)
		}
		if got, most := f.MemoryBytes(), 2*BufferBytes(len(block)); got > most {
			t.Errorf("%s: %d bytes of buffers, more than %d", shape, got, most)
		}
	}
}

func BenchmarkFile(b *testing.B) {
	for _, shape := range []string{"mixed", "random"} {
		block, stride := rowsOf(shape, (256<<10)/72)
		n := len(block) / 8 / stride
		s, err := Open(Config{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		f, err := s.File()
		if err != nil {
			b.Fatal(err)
		}
		e, err := f.Append(block, n, stride)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("rows=%s/op=append", shape), func(b *testing.B) {
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				e, _ := f.Append(block, n, stride)
				f.Free(e) // so that the disk is not measured, or filled
			}
		})
		e, _ = f.Append(block, n, stride)
		dst := make([]byte, len(block))
		b.Run(fmt.Sprintf("rows=%s/op=read", shape), func(b *testing.B) {
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Read(e, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
