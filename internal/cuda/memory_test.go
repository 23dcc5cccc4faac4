package cuda_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// Bytes that are different wherever a copy could go wrong.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

var sizes = []int{0, 1, 31, 32, 33, 4095, 4097, 1 << 20}

func TestWriteRead(t *testing.T) {
	thread := gputest.Open(t)
	memory := alloc(t, thread, 1<<20+100)
	for _, n := range sizes {
		want, got := randomBytes(n), make([]byte, n)
		span := memory.Slice(17, 17+cuda.Size(n))
		must(t, thread.Write(span, want), thread.Read(got, span))
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes come back as others", n)
		}
	}
	for _, err := range []error{thread.Write(memory, []byte{1}), thread.Read(make([]byte, 1), memory)} {
		if err == nil {
			t.Error("a copy of sizes that differ")
		}
	}
}

// Through pinned memory, both ways and on the device, in the order of the stream.
func TestCopies(t *testing.T) {
	thread := gputest.Open(t)
	s := newStream(t, thread)
	a, b := alloc(t, thread, 1<<20), alloc(t, thread, 1<<20)
	in, back := allocPinned(t, thread, 1<<20), allocPinned(t, thread, 1<<20)
	for _, n := range sizes {
		size := cuda.Size(n)
		copy(in.Bytes(), randomBytes(n))
		clear(back.Bytes())
		must(
			t, s.CopyIn(a.Slice(0, size), in.Span(0, size)), s.Copy(b.Slice(0, size), a.Slice(0, size)),
			s.CopyOut(back.Span(0, size), b.Slice(0, size)), s.Synchronize(),
		)
		if !bytes.Equal(back.Bytes()[:n], in.Bytes()[:n]) {
			t.Errorf("%d bytes come back as others", n)
		}
		if n < len(back.Bytes()) && back.Bytes()[n] != 0 {
			t.Errorf("more than %d bytes were copied", n)
		}
	}
}

func TestFill(t *testing.T) {
	thread := gputest.Open(t)
	s := newStream(t, thread)
	memory := alloc(t, thread, 64)
	must(t, s.Fill(memory, 7), s.Fill32(memory.Slice(8, 24), 0x01020304), s.Fill(memory.Slice(9, 9), 1), s.Fill32(memory.Slice(8, 8), 1), s.Synchronize())
	want := bytes.Repeat([]byte{7}, 64)
	for i := 8; i < 24; i += 4 {
		binary.LittleEndian.PutUint32(want[i:], 0x01020304)
	}
	got := make([]byte, 64)
	must(t, thread.Read(got, memory))
	if !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s.Fill32(memory.Slice(0, 6), 1) == nil || s.Fill32(memory.Slice(1, 5), 1) == nil {
		t.Error("parts of words are filled")
	}
}

// Kernels reach pinned memory at its device address.
func TestPinnedOnDevice(t *testing.T) {
	thread := gputest.Open(t)
	s, probe := newStream(t, thread), loadProbe(t, thread)
	for _, size := range []cuda.Size{400, 6<<20 + 4} { // the driver's memory, and ours
		testPinned(t, s, probe, allocPinned(t, thread, size))
	}
}

func testPinned(t *testing.T, s *cuda.Stream, probe *kerneltest.Probe, p *cuda.Pinned) {
	t.Helper()
	size := cuda.Size(len(p.Bytes()))
	words := uint32(size / 4)
	if p.Device().Size != size || p.Span(4, 12).Size() != 8 || len(p.Span(4, 12).Bytes()) != 8 || cap(p.Span(4, 12).Bytes()) != 8 {
		t.Errorf("device %+v, a span of %d bytes", p.Device(), p.Span(4, 12).Size())
	}
	must(t, probe.Fill(s, cuda.Grid{Blocks: 2, Threads: 64}, p.Device().Ptr, words, 5), s.Synchronize())
	for i := range words {
		if got := binary.LittleEndian.Uint32(p.Bytes()[4*i:]); got != 5+i {
			t.Fatalf("word %d is %d, want %d", i, got, 5+i)
		}
	}
	if p.Span(4, 12).Slice(3, 5) != p.Span(7, 9) || !panics(func() { p.Span(4, 12).Slice(3, 9) }) {
		t.Error("a slice of a span is another part, or none of it")
	}
	if !panics(func() { p.Span(0, size+1) }) {
		t.Error("a span out of range")
	}
}

// The context stays usable when there is no memory. For pinned memory see
// TestPinningRefused: a system may fill all of its own before it refuses.
func TestOutOfMemory(t *testing.T) {
	thread := gputest.Open(t)
	_, total, err := thread.MemoryInfo()
	must(t, err)
	_, err = thread.Alloc(2 * total)
	wantClasses(t, err, cuda.ErrOutOfMemory)
	must(t, thread.Context().Lost(), thread.Synchronize())
	m, err := thread.Alloc(256)
	must(t, err)
	must(t, m.Close(), m.Close())
}

func TestMemoryInfo(t *testing.T) {
	thread := gputest.Open(t)
	before, total, err := thread.MemoryInfo()
	must(t, err)
	alloc(t, thread, 64<<20)
	after, again, err := thread.MemoryInfo()
	must(t, err)
	if total != again || after > total || gputest.Emulated() && before-after != 64<<20 {
		t.Errorf("%d of %d free, then %d of %d", before, total, after, again)
	}
}

func TestClosedMemory(t *testing.T) {
	thread := gputest.Open(t)
	s := newStream(t, thread)
	p, err := thread.AllocPinned(100)
	must(t, err)
	span := p.Span(0, 100)
	must(t, p.Close(), p.Close())
	wantClasses(t, s.CopyIn(alloc(t, thread, 100), span), cuda.ErrClosed)
}

// A context counts what is allocated at a time, not in all, and not what was
// refused.
func TestPeak(t *testing.T) {
	thread := gputest.Open(t)
	c := thread.Context()
	for range 2 {
		first, err := thread.Alloc(1 << 20)
		must(t, err)
		must(t, first.Close(), first.Close())
	}
	before := c.Peak()
	alloc(t, thread, before)
	if c.Peak() != before {
		t.Errorf("the peak is %v, want %v", c.Peak(), before)
	}
	alloc(t, thread, 1<<20)
	if want := before + 1<<20; c.Peak() != want {
		t.Errorf("the peak is %v, want %v", c.Peak(), want)
	}
}
