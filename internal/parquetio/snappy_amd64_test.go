//go:build unix

package parquetio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"golang.org/x/sys/unix"
)

// fenced is memory behind which, or before which, nothing may be touched.
type fenced struct{ b []byte }

const fencedBytes = 1 << 20

func newFenced(t *testing.T) fenced {
	page := unix.Getpagesize()
	all, err := unix.Mmap(-1, 0, fencedBytes+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(all) })
	for _, fence := range [][]byte{all[:page], all[page+fencedBytes:]} {
		if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return fenced{all[page : page+fencedBytes]}
}

// last and first are n bytes at an edge.
func (f fenced) last(n int) []byte { return f.b[fencedBytes-n:] }

func (f fenced) first(n int) []byte { return f.b[:n] }

// snappyRig decodes at the edges of memory, and compares with another decoder.
type snappyRig struct {
	src, dst fenced
	bad      int // blocks that were damaged
}

func newSnappyRig(t *testing.T) *snappyRig {
	return &snappyRig{src: newFenced(t), dst: newFenced(t)}
}

func (r *snappyRig) compare(t *testing.T, what string, block []byte) {
	t.Helper()
	n, err := snappy.DecodedLen(block)
	if err != nil || n > fencedBytes {
		return
	}
	want, wrong := snappy.DecodeStrict(nil, block)
	if wrong != nil {
		r.bad++
	}
	src := r.src.last(len(block))
	copy(src, block)
	for _, dst := range [][]byte{r.dst.last(n), r.dst.first(n)} {
		for i := range dst {
			dst[i] = byte(i) | 1
		}
		err := decodeSnappy(dst, src)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%s: %v, want %v", what, err, wrong)
		}
		if err == nil && !bytes.Equal(dst, want) {
			t.Fatalf("%s: other bytes", what)
		}
	}
}

// snappyText is n bytes of one of several kinds.
func snappyText(r *rand.Rand, kind, n int) []byte {
	out := make([]byte, 0, n+64)
	for len(out) < n {
		switch kind {
		case 0: // nothing to compress
			out = append(out, byte(r.Uint32()))
		case 1: // words, near and far
			out = fmt.Appendf(out, "http://%x/", r.IntN(1+r.IntN(1+r.IntN(40000))))
		case 2: // runs with all short periods
			period := 1 + r.IntN(40)
			for k := range r.IntN(200) {
				out = append(out, byte(k%period))
			}
		case 3: // digits, as of a UUID
			out = fmt.Appendf(out, "\x24\x00\x00\x00%08x-%04x-%04x-%04x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<16), r.IntN(1<<16), r.Uint64()>>16)
		default: // literals of all lengths between copies
			for range r.IntN(300) {
				out = append(out, byte(r.Uint32()))
			}
			out = append(out, "what was there before, and again"...)
		}
	}
	return out[:n]
}

// TestSnappyDecoder compares with DecodeStrict: blocks that three encoders make, parts of them,
// and mutants.
func TestSnappyDecoder(t *testing.T) {
	t.Parallel()
	rig, r := newSnappyRig(t), rand.New(rand.NewPCG(9, 9))
	sizes := []int{0, 1, 59, 60, 61, 64, 191, 192, 193, 255, 256, 257, 300, 1000, 4096, 70000, 300000}
	for kind := range 5 {
		for _, n := range sizes {
			text := snappyText(r, kind, n)
			for level, encode := range []func(dst, src []byte) []byte{snappy.Encode, s2.EncodeSnappyBest, s2.EncodeSnappyBetter} {
				block := encode(nil, text)
				what := fmt.Sprintf("kind %d, %d bytes, level %d", kind, n, level)
				rig.compare(t, what, block)
				for range 40 {
					if cut := r.IntN(len(block)); n < 5000 {
						rig.compare(t, fmt.Sprint(what, ", cut at ", cut), block[:cut])
					}
					mutant := bytes.Clone(block)
					for range 1 + r.IntN(3) {
						mutant[r.IntN(min(len(mutant), 3000))] = byte(r.Uint32())
					}
					rig.compare(t, what+", a mutant", mutant)
				}
			}
		}
	}
	if rig.bad < 1000 {
		t.Errorf("%d damaged blocks are too few", rig.bad)
	}
}

// snappyElement appends an element that stands for n bytes: a literal, or a
// copy of the given kind and offset.
func snappyElement(b []byte, kind, n, offset int, text []byte) []byte {
	switch kind {
	case 0:
		switch {
		case n <= 60:
			b = append(b, byte(n-1)<<2)
		case n <= 256:
			b = append(b, 60<<2, byte(n-1))
		default:
			b = append(b, 61<<2, byte(n-1), byte((n-1)>>8))
		}
		return append(b, text[:n]...)
	case 1:
		return append(b, byte(offset>>8)<<5|byte(n-4)<<2|1, byte(offset))
	case 2:
		return append(b, byte(n-1)<<2|2, byte(offset), byte(offset>>8))
	}
	return append(b, byte(n-1)<<2|3, byte(offset), byte(offset>>8), byte(offset>>16), byte(offset>>24))
}

// TestSnappyElements compares rows of random elements, among them what no encoder makes:
// copies of all kinds with all offsets, 0 and ones that reach too far among them.
func TestSnappyElements(t *testing.T) {
	t.Parallel()
	rig, r := newSnappyRig(t), rand.New(rand.NewPCG(7, 7))
	text := snappyText(r, 0, 1000)
	for round := range 4000 {
		var elements []byte
		size := 0
		for range r.IntN(150) {
			kind, n := r.IntN(4), 1+r.IntN(64)
			if round%3 == 0 { // what reaches furthest
				kind, n = kind&2|kind>>1, 64
			}
			most := size // offsets may reach so far
			switch kind {
			case 0:
				n = min(n, 60) + r.IntN(1+r.IntN(1+r.IntN(400)))
			case 1:
				n, most = 4+r.IntN(8), min(size, 2047)
			case 2:
				most = min(size, 65535)
			}
			if kind > 0 && size == 0 {
				continue
			}
			offset := 1 + r.IntN(1+r.IntN(min(1+r.IntN(100), max(most, 1))))
			if r.IntN(2) == 0 {
				offset = 1 + r.IntN(max(most, 1))
			}
			if round%4 == 0 && r.IntN(60) == 0 {
				offset = []int{0, size + 1, size + 100}[r.IntN(3)]
			}
			elements = snappyElement(elements, kind, n, offset, text)
			size += n
		}
		switch round % 8 {
		case 1:
			size = max(size+r.IntN(3)-1, 0)
		case 2, 3, 4: // dst ends before src
			size -= r.IntN(min(size, 400) + 1)
		}
		block := append(binary.AppendUvarint(nil, uint64(size)), elements...)
		rig.compare(t, fmt.Sprint("round ", round), block)
	}
	if rig.bad < 100 {
		t.Errorf("%d damaged blocks are too few", rig.bad)
	}
}
