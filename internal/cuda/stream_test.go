package cuda_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Work is done later, and the device's clock measures it.
func TestAsynchrony(t *testing.T) {
	thread := gputest.Open(t)
	s, probe := newStream(t, thread), loadProbe(t, thread)
	begin, end := newEvent(t, thread), newEvent(t, thread)
	must(t, s.Record(begin))
	spin(t, probe, s)
	must(t, s.Record(end))
	if done, err := s.Done(); done || err != nil {
		t.Errorf("the stream is done at once: %v, %v", done, err)
	}
	if done, err := end.Done(); done || err != nil {
		t.Errorf("the event is done at once: %v, %v", done, err)
	}
	if _, err := end.Since(begin); err == nil {
		t.Error("the time between events that are not done")
	}
	must(t, end.Synchronize(), s.Synchronize())
	elapsed, err := end.Since(begin)
	must(t, err)
	if elapsed < time.Millisecond || elapsed > patience {
		t.Errorf("it took %v", elapsed)
	}
	for name, done := range map[string]func() (bool, error){"stream": s.Done, "event": end.Done} {
		if ok, err := done(); !ok || err != nil {
			t.Errorf("%s: done %v, %v", name, ok, err)
		}
	}
}

func newEvent(tb testing.TB, thread *cuda.Thread) *cuda.Event {
	tb.Helper()
	e, err := thread.NewEvent()
	return keep(tb, e, err)
}

// A stream that waits for an event sees what was done before it.
func TestWait(t *testing.T) {
	thread := gputest.Open(t)
	first, second, probe := newStream(t, thread), newStream(t, thread), loadProbe(t, thread)
	written := newEvent(t, thread)
	memory, back := alloc(t, thread, 4), allocPinned(t, thread, 4)
	for round := range uint32(3) {
		spin(t, probe, first)
		must(
			t, probe.Fill(first, cuda.Grid{Blocks: 1, Threads: 1}, memory.Ptr, 1, round+1), first.Record(written),
			second.Wait(written), second.CopyOut(back.Span(0, 4), memory), second.Synchronize(),
		)
		if got := binary.LittleEndian.Uint32(back.Bytes()); got != round+1 {
			t.Errorf("the other stream sees %d, want %d", got, round+1)
		}
	}
}

// Close waits for the work of the stream.
func TestCloseOfBusyStream(t *testing.T) {
	thread := gputest.Open(t)
	probe, back := loadProbe(t, thread), allocPinned(t, thread, 4)
	s, err := thread.NewStream()
	must(t, err)
	spin(t, probe, s)
	must(t, probe.Fill(s, cuda.Grid{Blocks: 1, Threads: 1}, back.Device().Ptr, 1, 9), s.Close(), s.Close())
	if got := binary.LittleEndian.Uint32(back.Bytes()); got != 9 {
		t.Errorf("after Close there is %d, want 9", got)
	}
	wantClasses(t, s.Synchronize(), cuda.ErrClosed)
	wantClasses(t, probe.Spin(s, cuda.Grid{Blocks: 1, Threads: 1}, 1), cuda.ErrClosed)
}

// Mistakes in a call are errors of no class, and leave the context usable.
func TestMisuse(t *testing.T) {
	thread := gputest.Open(t)
	s, probe := newStream(t, thread), loadProbe(t, thread)
	memory, pinned := alloc(t, thread, 8), allocPinned(t, thread, 8)
	for name, err := range map[string]error{
		"copy in":    s.CopyIn(memory, pinned.Span(0, 7)),
		"copy out":   s.CopyOut(pinned.Span(0, 7), memory),
		"copy":       s.Copy(memory, memory.Slice(0, 7)),
		"no blocks":  probe.Fill(s, cuda.Grid{Blocks: 0, Threads: 1}, memory.Ptr, 0, 0),
		"no threads": probe.Fill(s, cuda.Grid{Blocks: 1, Threads: 0}, memory.Ptr, 0, 0),
		"threads":    probe.Fill(s, cuda.Grid{Blocks: 1, Threads: 2048}, memory.Ptr, 0, 0),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		wantClasses(t, err)
	}
	must(t, s.Synchronize())
}

// A launch and a copy allocate nothing, so the collector never runs for them.
func TestNoAllocation(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	thread := gputest.Open(t)
	s, probe := newStream(t, thread), loadProbe(t, thread)
	memory, pinned, event := alloc(t, thread, 8), allocPinned(t, thread, 8), newEvent(t, thread)
	for name, do := range map[string]func() error{
		"launch":      func() error { return probe.Fill(s, cuda.Grid{Blocks: 1, Threads: 1}, memory.Ptr, 1, 1) },
		"copy in":     func() error { return s.CopyIn(memory, pinned.Span(0, 8)) },
		"copy out":    func() error { return s.CopyOut(pinned.Span(0, 8), memory) },
		"fill":        func() error { return s.Fill(memory, 1) },
		"record":      func() error { return s.Record(event) },
		"wait":        func() error { return s.Wait(event) },
		"query":       func() error { _, err := s.Done(); return err },
		"synchronize": s.Synchronize,
	} {
		failed := false
		if n := testing.AllocsPerRun(100, func() { failed = do() != nil || failed }); n != 0 || failed {
			t.Errorf("%s allocates %.1f times, failed %v", name, n, failed)
		}
	}
	must(t, s.Synchronize())
}
