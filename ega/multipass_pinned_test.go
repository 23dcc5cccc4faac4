package ega_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Rows that are pinned already have the same groups as those that are copied into slots; what is not whole rows, or too many, is
// refused and the pass goes on.
func TestSubmitPinned(t *testing.T) {
	l := passLayouts[0]
	rows := makeRows(rand.New(rand.NewPCG(7, 8)), &l, 10_000, func(i int) uint64 { return uint64(i % 700) })
	r := newRig(t)
	input, err := r.thread.AllocPinned(cuda.Size(8 * len(rows)))
	r.do(err)
	defer func() { r.do(input.Close()) }()
	copy(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(input.Bytes()))), len(rows)), rows)

	p := passRig{config: ega.MultiPassConfig{Layout: l}}
	m, err := ega.StartMultiPass(r.within("the end of a pass"), r.thread.Context(), ega.MultiPassConfig{
		Layout: l, Streams: 2, Depth: 2, SlotBytes: 20_000, Device: 8 << 20, Readers: 2, Place: func(int, []uint64) error { return nil },
	})
	r.do(err)
	defer func() { r.do(m.Close()) }()
	row, end := l.RowBytes(), cuda.Size(8*len(rows))
	for _, wrong := range []cuda.PinnedSpan{input.Span(0, row+8), input.Span(0, 20_000/row*row+row)} {
		if err := m.SubmitPinned(wrong); err == nil {
			t.Errorf("%v of rows of %v are taken", wrong.Size(), row)
		}
	}
	step := 800 * row
	for from := cuda.Size(0); from < end; from += step {
		r.do(m.SubmitPinned(input.Span(from, min(from+step, end))))
	}
	r.do(m.SubmitPinned(input.Span(end, end)))
	g, err := m.Finish(p.bits)
	r.do(err)
	p.stats = m.Stats()
	r.do(errors.Join(p.read(g), g.Close()))
	p.check(t, rows)
}
