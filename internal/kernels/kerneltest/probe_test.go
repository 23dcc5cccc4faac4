package kerneltest_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// probeRig is a device with the kernels of probe.cu and layout.cu.
type probeRig struct {
	tb     testing.TB
	thread *cuda.Thread
	stream *cuda.Stream
	probe  *kerneltest.Probe
	layout *kerneltest.Layout
}

func newProbeRig(tb testing.TB) *probeRig {
	tb.Helper()
	r := &probeRig{tb: tb, thread: gputest.Open(tb)}
	r.stream = gputest.Keep(tb, r.thread.NewStream)
	r.probe = gputest.Make(tb, func() (*kerneltest.Probe, error) { return kerneltest.LoadProbe(r.thread) })
	r.layout = gputest.Make(tb, func() (*kerneltest.Layout, error) { return kerneltest.LoadLayout(r.thread) })
	return r
}

// one is a grid of one thread.
var one = cuda.Grid{Blocks: 1, Threads: 1}

// room is device memory for n values.
func room[T any](r *probeRig, n int) cuda.Span {
	r.tb.Helper()
	var zero T
	memory := gputest.Keep(r.tb, func() (*cuda.Memory, error) { return r.thread.Alloc(cuda.Size(n) * cuda.Size(unsafe.Sizeof(zero))) })
	return memory.Span()
}

// raw is the bytes of values.
func raw[T any](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

// fetch waits for the stream and reads n values.
func fetch[T any](r *probeRig, span cuda.Span, n int) []T {
	r.tb.Helper()
	values := make([]T, n)
	r.must(r.stream.Synchronize())
	r.must(r.thread.Read(raw(values), span))
	return values
}

func (r *probeRig) must(err error) {
	r.tb.Helper()
	if err != nil {
		r.tb.Fatal(err)
	}
}

func TestFillAndAdd(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 1000, 1 << 16} {
		r := newProbeRig(t)
		a, b, sum := room[uint32](r, n), room[uint32](r, n), room[uint32](r, n+1)
		r.must(r.stream.Fill32(sum, 7))
		grid := cuda.Grid{Blocks: 3, Threads: 96}
		r.must(r.probe.Fill(r.stream, grid, a.Ptr, uint32(n), 5))
		r.must(r.probe.Fill(r.stream, grid, b.Ptr, uint32(n), 1<<31))
		r.must(r.probe.Add(r.stream, grid, a.Ptr, b.Ptr, sum.Ptr, uint32(n)))
		for i, got := range fetch[uint32](r, sum, n+1) {
			want := uint32(5 + 1<<31 + 2*i)
			if i == n {
				want = 7 // behind the end
			}
			if got != want {
				t.Fatalf("n=%d: sum[%d] is %d, want %d", n, i, got, want)
			}
		}
	}
}

// Parameters of every type arrive, whatever lies before them.
func TestParameters(t *testing.T) {
	r := newProbeRig(t)
	pair := kerneltest.ProbePair{Small: 201, Large: 1 << 30, Three: [3]uint16{1, 2, 65535}}
	want := kerneltest.ProbeTypes{
		Truth: true, Real: -1.5e300, I8: -128, I64: -1 << 63, U8: 255, I16: -32768, U16: 65535, Single: 0.1,
		U64: 1<<64 - 1, I32: -1 << 31, Pointer: 1<<48 - 8, U32: 1<<32 - 1,
		Pairs: [2]kerneltest.ProbePair{pair, {Small: 9, Large: 8, Three: [3]uint16{7, 6, 5}}}, Last: 77,
	}
	out := room[kerneltest.ProbeTypes](r, 2)
	r.must(r.stream.Fill(out, 0))
	size := cuda.Ptr(unsafe.Sizeof(want))
	r.must(r.probe.Echo(
		r.stream, one, want.Truth, want.Real, want.I8, want.I64, want.U8, pair, want.I16, want.U16, want.Single, want.U64,
		want.I32, want.Pointer, want, want.U32, out.Ptr, out.Ptr+size, want.Last,
	))
	got := fetch[kerneltest.ProbeTypes](r, out, 2)
	for i, how := range []string{"by themselves", "in a struct"} {
		if got[i] != want {
			t.Errorf("%s: got %+v\nwant %+v", how, got[i], want)
		}
	}
}

// Of all that threads report, the gravest stays.
func TestStatusWord(t *testing.T) {
	r := newProbeRig(t)
	word := room[kernels.Status](r, 1)
	for n := range uint32(kernels.StatusInvariant) + 1 {
		r.must(r.stream.Fill32(word, uint32(kernels.StatusOk)))
		r.must(r.probe.Report(r.stream, cuda.Grid{Blocks: 2, Threads: 32}, word.Ptr, n+1))
		if got := fetch[kernels.Status](r, word, 1)[0]; got != kernels.Status(n) || errors.Is(got.Err(), kernels.StatusOk) {
			t.Errorf("of statuses 0 to %d, %v stays", n, got)
		}
	}
}

// The device lays out every shared struct as Go does.
func TestLayout(t *testing.T) {
	r := newProbeRig(t)
	var want []uint32
	var names []string
	for _, s := range sharedStructs {
		want, names = append(want, uint32(s.Size())), append(names, s.Name())
		for _, f := range reflect.VisibleFields(s) {
			if f.Name != "_" {
				want, names = append(want, uint32(f.Offset)), append(names, s.Name()+"."+f.Name)
			}
		}
	}
	out := room[uint32](r, len(want)+1)
	r.must(r.stream.Fill32(out, 12345))
	r.must(r.layout.Report(r.stream, one, out.Ptr))
	got := fetch[uint32](r, out, len(want)+1)
	if got[len(want)] != 12345 || slices.Contains(got[:len(want)], 12345) {
		t.Fatalf("the device reports another number of members than %d", len(want))
	}
	for i, name := range names {
		if got[i] != want[i] {
			t.Errorf("%s: %d on the device, %d in Go", name, got[i], want[i])
		}
	}
}

// A kernel that spins is still at work when its launch returns, and done after
// a wait.
func TestSpin(t *testing.T) {
	r := newProbeRig(t)
	r.must(r.probe.Spin(r.stream, one, 200e6)) // a tenth of a second at 2 GHz
	if done, err := r.stream.Done(); done || err != nil {
		t.Errorf("right after the launch the stream is done: %v, %v", done, err)
	}
	r.must(r.stream.Synchronize())
	if done, err := r.stream.Done(); !done || err != nil {
		t.Errorf("after a wait the stream is done: %v, %v", done, err)
	}
}

// Kernels are in the order of the source. They are loaded when they are asked for.
func TestFamily(t *testing.T) {
	c := gputest.Open(t).Context()
	probe := kerneltest.NewProbe(c)
	for i, name := range []string{"probe_fill", "probe_add", "probe_echo", "probe_report", "probe_spin"} {
		f, err := probe.Kernel(i)
		if err != nil {
			t.Fatal(err)
		}
		again, err := probe.Kernel(i)
		if f.Name() != name || f != again || err != nil {
			t.Errorf("kernel %d is %s, want %s; error %v", i, f.Name(), name, err)
		}
	}
	if parts := probe.Parts(4, 1); len(parts) != 2 || parts[0].Kernel != "probe_spin" || parts[1].Kernel != "probe_add" {
		t.Errorf("parts %v", parts)
	}
}
