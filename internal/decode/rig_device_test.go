package decode

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// device is where batches are made into rows.
type device struct {
	thread  *cuda.Thread
	stream  *cuda.Stream
	kernels *Kernels
}

func newDevice(tb testing.TB) *device {
	d := &device{thread: gputest.Open(tb)}
	d.stream = gputest.Keep(tb, d.thread.NewStream)
	d.kernels = NewKernels(d.thread.Context(), nil)
	return d
}

// with lends memory with these bytes to use.
func (d *device) with(tb testing.TB, bytes []byte, use func(cuda.Span)) {
	tb.Helper()
	memory, err := d.thread.Alloc(cuda.Size(max(len(bytes), 1)))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := memory.Close(); err != nil {
			tb.Error(err)
		}
	}()
	span := memory.Span().Slice(0, cuda.Size(len(bytes)))
	if err := d.thread.Write(span, bytes); err != nil {
		tb.Fatal(err)
	}
	use(span)
}

// guard is what lies around rows and work memory, to see that nothing is
// written there.
const guard = 64

// make is the rows of a batch, as the device makes them, and the stop word. What the
// kernels note in the batch is in memory then. Of a plan that filters the rows are those that pass.
func (d *device) make(tb testing.TB, p *Batch, memory []byte) (rows []uint64, stop uint64) {
	tb.Helper()
	return d.makeUpTo(tb, p, NoBound, memory)
}

// makeUpTo is make for rows whose hashes are within a bound.
func (d *device) makeUpTo(tb testing.TB, p *Batch, bound uint64, memory []byte) (rows []uint64, stop uint64) {
	tb.Helper()
	guarded := func(n int) []byte { return slices.Repeat([]byte{0xa5}, guard+n+guard) }
	outRows, outWork, outStop := guarded(p.plan.RowBytes(p.rows)), guarded(p.WorkBytes()), make([]byte, 16)
	d.with(tb, memory, func(in cuda.Span) {
		d.with(tb, outRows, func(rows cuda.Span) {
			d.with(tb, outWork, func(work cuda.Span) {
				d.with(tb, outStop, func(stop cuda.Span) {
					inner := func(s cuda.Span) cuda.Span { return s.Slice(guard, s.Size-guard) }
					out := Out{Rows: inner(rows), Made: stop.Slice(8, 16), Stop: stop.Slice(0, 8)}
					must(tb, d.kernels.Make(d.stream, p, bound, in, inner(work), out))
					must(tb, d.stream.Synchronize())
					must(tb, d.thread.Read(outRows, rows))
					must(tb, d.thread.Read(outWork, work))
					must(tb, d.thread.Read(outStop, stop))
					must(tb, d.thread.Read(memory, in))
				})
			})
		})
	})
	for _, b := range [][]byte{outRows, outWork} {
		if around := slices.Concat(b[:guard], b[len(b)-guard:]); !slices.Equal(around, guarded(0)) {
			tb.Error("something was written beside rows or work memory")
		}
	}
	made := p.rows
	if p.plan.Filters || bound != NoBound {
		made = int(binary.LittleEndian.Uint64(outStop[8:]))
	}
	for b := outRows[guard:][:p.plan.RowBytes(made)]; len(b) > 0; b = b[8:] {
		rows = append(rows, binary.LittleEndian.Uint64(b))
	}
	return rows, binary.LittleEndian.Uint64(outStop)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// compare compares rows. In states one NaN is as good as another: devices do not keep its bits.
func compare(tb testing.TB, plan *Plan, got, want []uint64) {
	tb.Helper()
	if slices.Equal(got, want) {
		return
	}
	stride := plan.RowWords()
	if len(got) != len(want) {
		tb.Fatalf("%d rows, want %d", len(got)/stride, len(want)/stride)
	}
	wrong := 0
	for i := range want {
		state := i%stride >= plan.HashWords+plan.KeyWords
		if got[i] == want[i] || state && isNaN(got[i]) && isNaN(want[i]) {
			continue
		}
		if wrong++; wrong <= 5 {
			tb.Errorf("word %d of row %d is %#x, want %#x", i%stride, i/stride, got[i], want[i])
		}
	}
	if wrong > 0 {
		tb.Errorf("%d words of %d are wrong", wrong, len(want))
	}
}

func isNaN(word uint64) bool {
	f := math.Float64frombits(word)
	return f != f
}
