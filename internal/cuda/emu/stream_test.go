package emu_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// rig is a stream with device and pinned memory of one size.
type rig struct {
	stream *cuda.Stream
	memory *cuda.Memory
	pinned *cuda.Pinned
}

func newRig(t *testing.T, thread *cuda.Thread, size cuda.Size) rig {
	t.Helper()
	stream, err1 := thread.NewStream()
	memory, err2 := thread.Alloc(size)
	pinned, err3 := thread.AllocPinned(size)
	check(t, err1, err2, err3)
	clear(pinned.Bytes())
	return rig{stream, memory, pinned}
}

func (r rig) all() cuda.PinnedSpan { return r.pinned.Span(0, r.memory.Span().Size) }

// What reads a result without waiting gets the old bytes, what overwrites a
// source without waiting spoils it, and Done tells when it is time.
func TestMissingSynchronizationShows(t *testing.T) {
	thread, e := open(t)
	r := newRig(t, thread, 1000)
	check(t, r.stream.Fill(r.memory.Span(), 7), r.stream.Synchronize())

	e.Slow(long, long)
	check(t, r.stream.CopyOut(r.all(), r.memory.Span()))
	if done, err := r.stream.Done(); done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}
	if r.pinned.Bytes()[0] != 0 {
		t.Error("the copy had happened when the call returned")
	}
	check(t, r.stream.Synchronize())
	if !bytes.Equal(r.pinned.Bytes(), bytes.Repeat([]byte{7}, 1000)) {
		t.Error("the copy has not happened when the stream is done")
	}
	if done, err := r.stream.Done(); !done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}

	check(t, r.stream.CopyIn(r.memory.Span(), r.all()))
	r.pinned.Bytes()[0] = 99
	check(t, r.stream.Synchronize())
	got := make([]byte, 1000)
	e.Slow(0, 0)
	check(t, thread.Read(got, r.memory.Span()))
	if got[0] != 99 {
		t.Errorf("the source of a copy was overwritten too early and yet %d arrived", got[0])
	}
}

// Operations of a stream stay in order however long each takes, and pass
// through kernels.
func TestStreamOrder(t *testing.T) {
	thread, e := open(t)
	probe, err := kerneltest.LoadProbe(thread)
	check(t, err)
	e.Slow(0, short)
	const n = 300
	r := newRig(t, thread, 4*n)
	a, err := thread.Alloc(4 * n)
	check(t, err)
	check(t,
		r.stream.Fill32(a.Span(), 1000),
		probe.Fill(r.stream, cuda.Grid{Blocks: 2, Threads: 64}, r.memory.Span().Ptr, n, 5),
		probe.Add(r.stream, cuda.Grid{Blocks: 1, Threads: 32}, a.Span().Ptr, r.memory.Span().Ptr, a.Span().Ptr, n),
		r.stream.Copy(r.memory.Span(), a.Span()),
		r.stream.Fill(a.Span(), 0),
		r.stream.CopyOut(r.all(), r.memory.Span()),
		r.stream.Synchronize())
	for i := range n {
		word := r.pinned.Bytes()[4*i:]
		if got := int(word[0]) | int(word[1])<<8; got != 1005+i {
			t.Fatalf("word %d is %d", i, got)
		}
	}
}

// An event orders two streams, and a later recording does not concern who waits
// already: the first stream would wait for the second and that for the first.
func TestEvent(t *testing.T) {
	thread, e := open(t)
	first, second := newRig(t, thread, 64), newRig(t, thread, 64)
	start, err1 := thread.NewEvent()
	event, err2 := thread.NewEvent()
	copied, err3 := thread.NewEvent()
	check(t, err1, err2, err3)
	if _, err := event.Since(start); err == nil {
		t.Error("events without recording have a time")
	}
	e.Slow(long/4, long/4)
	check(t,
		first.stream.Record(start),
		first.stream.Fill(first.memory.Span(), 1),
		first.stream.Record(event),
		second.stream.Wait(event),
		second.stream.Copy(second.memory.Span(), first.memory.Span()),
		second.stream.Record(copied),
		first.stream.Wait(copied),
		first.stream.Fill(first.memory.Span(), 2),
		first.stream.Record(event),
		second.stream.CopyOut(second.all(), second.memory.Span()))
	if done, err := event.Done(); done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}
	check(t, event.Synchronize(), second.stream.Synchronize())
	if got := second.pinned.Bytes()[0]; got != 1 {
		t.Errorf("the second stream got %d: it has not waited for the first, or that not for the second", got)
	}
	passed, err := event.Since(start)
	if err != nil || passed < long || passed > time.Minute {
		t.Errorf("%v between two events with five operations of %v: %v", passed, long/4, err)
	}
}

// A stream that is closed finishes its work, and the context waits for it.
func TestClosedStreamFinishes(t *testing.T) {
	thread, e := open(t)
	r := newRig(t, thread, 64)
	e.Slow(long/2, long/2)
	check(t, r.stream.Fill(r.memory.Span(), 9), r.stream.CopyOut(r.all(), r.memory.Span()), r.stream.Close(), thread.Synchronize())
	if got := r.pinned.Bytes()[63]; got != 9 {
		t.Errorf("the closed stream left %d", got)
	}
}

// A kernel that fails is noticed by whichever call comes next, events included.
func TestKernelFault(t *testing.T) {
	thread, e := open(t)
	fault, err := kerneltest.LoadFault(thread)
	check(t, err)
	r := newRig(t, thread, 64)
	event, err := thread.NewEvent()
	check(t, err)
	e.Slow(short, short)
	check(t, fault.Trap(r.stream, cuda.Grid{Blocks: 1, Threads: 1}), r.stream.Fill(r.memory.Span(), 9), r.stream.Record(event))
	if err := event.Synchronize(); !errors.Is(err, cuda.ErrLaunch) || !errors.Is(err, cuda.ErrLost) {
		t.Errorf("a trap: %v", err)
	}
	check(t, r.memory.Close(), r.stream.Close())
	if leaks := e.Leaks(); leaks != nil {
		t.Errorf("what a lost context holds counts as leak: %q", leaks)
	}
}
