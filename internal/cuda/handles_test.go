package cuda_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// handles is one of each.
type handles struct {
	memory   *cuda.Memory
	pinned   *cuda.Pinned
	stream   *cuda.Stream
	event    *cuda.Event
	function *cuda.Function
}

func newHandles(t *testing.T, thread *cuda.Thread) handles {
	t.Helper()
	var h handles
	var errs [5]error
	h.memory, errs[0] = thread.Alloc(8)
	h.pinned, errs[1] = thread.AllocPinned(8)
	h.stream, errs[2] = thread.NewStream()
	h.event, errs[3] = thread.NewEvent()
	h.function, errs[4] = thread.Context().Function(&empty)
	must(t, errs[:]...)
	return h
}

// methods are all that ask something of the driver.
func (h handles) methods(thread *cuda.Thread) map[string]func() error {
	device, pinned := h.memory.Span(), h.pinned.Span(0, 8)
	return map[string]func() error{
		"Lock":        func() error { _, err := thread.Context().Lock(); return err },
		"MemoryInfo":  func() error { _, _, err := thread.MemoryInfo(); return err },
		"Synchronize": thread.Synchronize,
		"Alloc":       func() error { _, err := thread.Alloc(8); return err },
		"AllocPinned": func() error { _, err := thread.AllocPinned(8); return err },
		"Write":       func() error { return thread.Write(device, make([]byte, 8)) },
		"Read":        func() error { return thread.Read(make([]byte, 8), device) },
		"NewStream":   func() error { _, err := thread.NewStream(); return err },
		"NewEvent":    func() error { _, err := thread.NewEvent(); return err },
		"CopyIn":      func() error { return h.stream.CopyIn(device, pinned) },
		"CopyOut":     func() error { return h.stream.CopyOut(pinned, device) },
		"Copy":        func() error { return h.stream.Copy(device, device) },
		"Fill":        func() error { return h.stream.Fill(device, 1) },
		"Fill32":      func() error { return h.stream.Fill32(device, 1) },
		"Launch":      func() error { return h.stream.Launch(h.function, cuda.Grid{Blocks: 1, Threads: 1}, nil, 0) },
		"Record":      func() error { return h.stream.Record(h.event) },
		"Wait":        func() error { return h.stream.Wait(h.event) },
		"Stream.Done": func() error { _, err := h.stream.Done(); return err },
		"Stream.Sync": h.stream.Synchronize,
		"Event.Sync":  h.event.Synchronize,
		"Event.Done":  func() error { _, err := h.event.Done(); return err },
		"Since":       func() error { _, err := h.event.Since(h.event); return err },
		"Function":    func() error { _, err := thread.Context().Function(&empty); return err },
		"Load":        func() error { return thread.Context().Load(&empty) },
		"Attributes":  func() error { _, err := h.function.Attributes(); return err },
		"Occupancy":   func() error { _, err := h.function.Occupancy(32, 0); return err },
	}
}

func (h handles) close() error {
	return errors.Join(h.event.Close(), h.stream.Close(), h.pinned.Close(), h.memory.Close())
}
