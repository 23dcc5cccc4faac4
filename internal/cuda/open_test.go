package cuda_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// keep makes a handle that is closed at the end of the test.
func keep[H io.Closer](tb testing.TB, h H, err error) H {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := h.Close(); err != nil {
			tb.Error(err)
		}
	})
	return h
}

func loadProbe(tb testing.TB, thread *cuda.Thread) *kerneltest.Probe {
	tb.Helper()
	probe, err := kerneltest.LoadProbe(thread)
	must(tb, err)
	return probe
}

func newStream(tb testing.TB, thread *cuda.Thread) *cuda.Stream {
	tb.Helper()
	s, err := thread.NewStream()
	return keep(tb, s, err)
}

func alloc(tb testing.TB, thread *cuda.Thread, n cuda.Size) cuda.Span {
	tb.Helper()
	m, err := thread.Alloc(n)
	return keep(tb, m, err).Span()
}

func allocPinned(tb testing.TB, thread *cuda.Thread, n cuda.Size) *cuda.Pinned {
	tb.Helper()
	p, err := thread.AllocPinned(n)
	return keep(tb, p, err)
}

// must ends the test at the first of the errors that is one.
func must(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// emulator is the control of the emulator, which has nothing open; elsewhere the
// test skips. It ends with an emulator that does nothing wrong any more.
func emulator(tb testing.TB) *emu.Emu {
	tb.Helper()
	if !gputest.Emulated() {
		tb.Skip("only the emulator fails on demand")
	}
	e, _ := emu.Control()
	tb.Cleanup(e.Reset)
	return e
}

// spin keeps a stream busy for some milliseconds at least.
func spin(tb testing.TB, probe *kerneltest.Probe, s *cuda.Stream) {
	tb.Helper()
	must(tb, probe.Spin(s, cuda.Grid{Blocks: 1, Threads: 1}, 50_000_000))
}

const patience = 20 * time.Second
