package emu_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// Memory comes with rubbish in it, of device and host: also a large block, which is mappings of one
// pattern, and one that is made after another was written to.
func TestFreshMemoryIsNotZero(t *testing.T) {
	thread, _ := open(t)
	for _, size := range []cuda.Size{100_000, 100_000, 5<<20 + 3, 5<<20 + 3} {
		m, err1 := thread.Alloc(size)
		p, err2 := thread.AllocPinned(size)
		check(t, err1, err2)
		got := make([]byte, size)
		check(t, thread.Read(got, m.Span()))
		if bytes.IndexByte(got, 0) >= 0 {
			t.Errorf("fresh memory of %d bytes has zeros", size)
		}
		if size < 1<<20 && bytes.IndexByte(p.Bytes(), 0) >= 0 { // more is registered
			t.Errorf("fresh pinned memory of %d bytes has zeros", size)
		}
		clear(got)
		check(t, thread.Write(m.Span(), got), m.Close(), p.Close())
	}
}

// The device has a size, and what was freed counts again.
func TestMemoryInfo(t *testing.T) {
	thread, _ := open(t)
	_, total, err := thread.MemoryInfo()
	check(t, err)
	for range 3 {
		m, err := thread.Alloc(total/8 + 1)
		check(t, err)
		if free, _, err := thread.MemoryInfo(); err != nil || free != total-total/8-1 {
			t.Errorf("%v free of %v, %v", free, total, err)
		}
		if _, err := thread.Alloc(total - total/8); !errors.Is(err, cuda.ErrOutOfMemory) {
			t.Errorf("more than is free: %v", err)
		}
		check(t, m.Close())
	}
}

// A copy to memory that was freed in the meantime loses the context.
func TestFreedBeforeUse(t *testing.T) {
	thread, e := open(t)
	r := newRig(t, thread, 64)
	e.Slow(long, long)
	check(t, r.stream.CopyOut(r.all(), r.memory.Span()), r.pinned.Close())
	if err := r.stream.Synchronize(); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("a copy to freed memory: %v", err)
	}
	if leaks := e.Leaks(); !contains(leaks, "cuMemcpyDtoHAsync_v2", "freed before the stream came to it") {
		t.Errorf("it is not among %q", leaks)
	}
}

// Freeing device memory waits for its use.
func TestFreeWaits(t *testing.T) {
	thread, e := open(t)
	r := newRig(t, thread, 64)
	e.Slow(long/2, long/2)
	check(t, r.stream.Fill(r.memory.Span(), 3), r.stream.CopyOut(r.all(), r.memory.Span()), r.memory.Close(), r.stream.Synchronize())
	if got := r.pinned.Bytes()[0]; got != 3 {
		t.Errorf("%d was copied out", got)
	}
}

// A kernel that writes past the end of memory is found out: by the guard zones,
// or by AddressSanitizer, which stops the process.
func TestOutOfBounds(t *testing.T) {
	open(t)
	output, err := again(t, "TestWriteOutOfBounds")
	if sanitized() {
		if err == nil || !strings.Contains(output, "AddressSanitizer: heap-buffer-overflow") {
			t.Errorf("%v\n%s", err, output)
		}
	} else if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestWriteOutOfBounds(t *testing.T) {
	inAgain(t)
	thread, e := open(t)
	fault, err := kerneltest.LoadFault(thread)
	check(t, err)
	small, large := newRig(t, thread, 64), newRig(t, thread, 5<<20)
	for _, r := range []rig{small, large} {
		size := r.memory.Span().Size
		past := uint64(r.memory.Span().Ptr) + uint64(size)
		check(t, fault.Write(r.stream, cuda.Grid{Blocks: 1, Threads: 1}, past), r.stream.Synchronize())
		if leaks := e.Leaks(); !contains(leaks, fmt.Sprintf("device memory of %d bytes", size), "written to outside its bounds") {
			t.Errorf("it is not among %q", leaks)
		}
	}
	if err := errors.Join(small.memory.Close(), large.memory.Close()); err != nil {
		t.Errorf("the context is lost, so Close has nothing to say, yet: %v", err)
	}
	if err := thread.Synchronize(); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("after freeing what was damaged: %v", err)
	}
}

// A kernel that writes to freed memory is found by AddressSanitizer only.
func TestUseAfterFree(t *testing.T) {
	if !sanitized() {
		t.Skip("the plain build cannot find it")
	}
	open(t)
	output, err := again(t, "TestWriteAfterFree")
	if err == nil || !strings.Contains(output, "AddressSanitizer: heap-use-after-free") {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestWriteAfterFree(t *testing.T) {
	inAgain(t)
	thread, _ := open(t)
	fault, err := kerneltest.LoadFault(thread)
	check(t, err)
	r := newRig(t, thread, 64)
	check(t, r.memory.Close(), fault.Write(r.stream, cuda.Grid{Blocks: 1, Threads: 1}, uint64(r.memory.Span().Ptr)), r.stream.Synchronize())
}
