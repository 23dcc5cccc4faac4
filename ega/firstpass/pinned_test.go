package firstpass_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Rows that are pinned already make the same groups as rows that are copied into slots. Input that
// is not whole rows, or too long, is refused and the pass goes on.
func TestSubmitPinned(t *testing.T) {
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(7, 8)), &l, 10_000, func(i int) uint64 { return uint64(i % 700) })
	r := newRig(t)
	input, err := r.Thread.AllocPinned(cuda.Size(8 * len(rows)))
	r.Do(err)
	defer func() { r.Do(input.Close()) }()
	copy(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(input.Bytes()))), len(rows)), rows)

	p := passRig{config: firstpass.Config{Layout: l}}
	m, err := firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), firstpass.Config{
		Layout: l, Streams: 2, Depth: 2, SlotBytes: 20_000, Device: 8 << 20, Readers: 2, Write: func(int, []uint64) error { return nil },
	})
	r.Do(err)
	defer func() { r.Do(m.Close()) }()
	row, end := l.RowBytes(), cuda.Size(8*len(rows))
	for _, wrong := range []cuda.PinnedSpan{input.Span(0, row+8), input.Span(0, 20_000/row*row+row)} {
		if err := m.SubmitPinned(wrong); err == nil {
			t.Errorf("%v of rows of %v are taken", wrong.Size(), row)
		}
	}
	step := 800 * row
	for from := cuda.Size(0); from < end; from += step {
		r.Do(m.SubmitPinned(input.Span(from, min(from+step, end))))
	}
	r.Do(m.SubmitPinned(input.Span(end, end)))
	g, err := m.Finish(p.bits)
	r.Do(err)
	p.stats = m.Stats()
	r.Do(errors.Join(p.read(g), g.Close()))
	p.check(t, rows)
}
