package evict

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Buffers are as large as they may be, or smaller where little may be kept.
func TestBufferSize(t *testing.T) {
	for _, c := range []struct{ retain, most, least, want cuda.Size }{
		{1 << 30, 4 << 20, 512 << 10, 4 << 20},
		{32 << 20, 4 << 20, 512 << 10, 4 << 20},
		{32<<20 - 1, 4 << 20, 512 << 10, 2 << 20},
		{1 << 20, 4 << 20, 512 << 10, 512 << 10},
		{512 << 10, 4 << 20, 512 << 10, 512 << 10},
		{512<<10 - 1, 4 << 20, 512 << 10, 0},
	} {
		if got := bufferSize(c.retain, c.most, c.least); got != c.want {
			t.Errorf("%v to retain, buffers of %v to %v: %v, want %v", c.retain, c.least, c.most, got, c.want)
		}
	}
}

// What follows in a buffer of one chain is one span.
func TestNote(t *testing.T) {
	b := &buffer{}
	b.note(1<<63, 1, 0, 24)
	b.note(1<<63, 1, 24, 48)
	b.note(0, 1, 72, 24)
	b.note(0, 2, 96, 24)  // of fewer rows, though they begin alike
	b.note(0, 2, 144, 24) // behind a gap
	want := [][3]cuda.Size{{1, 0, 72}, {1, 72, 96}, {2, 96, 120}, {2, 144, 168}}
	if len(b.spans) != len(want) {
		t.Fatalf("%d spans: %+v", len(b.spans), b.spans)
	}
	for i, s := range b.spans {
		if got := [3]cuda.Size{cuda.Size(s.bits), s.from, s.end}; got != want[i] {
			t.Errorf("span %d: %v, want %v", i, got, want[i])
		}
	}
}
