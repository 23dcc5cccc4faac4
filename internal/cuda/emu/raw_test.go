//go:build !nogpu && linux && (amd64 || arm64)

package emu_test

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// rawCall calls a function of the driver past package cuda, which does not let
// its callers make the mistakes that are tried here.
//
//go:uintptrescapes
func rawCall(t *testing.T, name string, args ...uintptr) int {
	t.Helper()
	handle, err := purego.Dlopen(os.Getenv("GAGG_CUDA_LIBRARY"), purego.RTLD_NOW|purego.RTLD_LOCAL)
	check(t, err)
	address, err := purego.Dlsym(handle, name)
	check(t, err)
	r, _, _ := purego.SyscallN(address, args...)
	return int(int32(r))
}

const (
	invalidValue   = 1
	invalidContext = 201
	invalidHandle  = 400

	alreadyRegistered = 712
	destroyed         = 709
)

// raw is a value that the driver writes.
type raw struct{ word uintptr }

// Mistakes with handles and addresses get the driver's codes and change
// nothing.
func TestMisuse(t *testing.T) {
	open(t)
	var memory, stream, other, pinned, event raw
	plain := hostmem.Make[byte](1 << 20)
	defer hostmem.Free(plain)
	for _, err := range []int{
		rawCall(t, "cuMemAlloc_v2", uintptr(unsafe.Pointer(&memory)), 100),
		rawCall(t, "cuMemHostAlloc", uintptr(unsafe.Pointer(&pinned)), 100, 0),
		rawCall(t, "cuStreamCreate", uintptr(unsafe.Pointer(&stream)), 1),
		rawCall(t, "cuStreamCreate", uintptr(unsafe.Pointer(&other)), 1),
		rawCall(t, "cuEventCreate", uintptr(unsafe.Pointer(&event)), 0),
		rawCall(t, "cuStreamDestroy_v2", other.word),
	} {
		if err != 0 {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what string
		got  int
		want int
	}{
		{"a stream that was destroyed", rawCall(t, "cuStreamSynchronize", other.word), invalidHandle},
		{"an event as a stream", rawCall(t, "cuStreamSynchronize", event.word), invalidHandle},
		{"the default stream", rawCall(t, "cuStreamSynchronize", 0), invalidHandle},
		{"nothing allocated", rawCall(t, "cuMemAlloc_v2", uintptr(unsafe.Pointer(&other)), 0), invalidValue},
		{"in past the end", rawCall(t, "cuMemcpyHtoDAsync_v2", memory.word+1, pinned.word, 100, stream.word), invalidValue},
		{"in from past the end of pinned memory", rawCall(t, "cuMemcpyHtoDAsync_v2", memory.word, pinned.word+1, 100, stream.word), invalidValue},
		{"out from before the begin", rawCall(t, "cuMemcpyDtoHAsync_v2", pinned.word, memory.word-1, 10, stream.word), invalidValue},
		{"out to past the end of pinned memory", rawCall(t, "cuMemcpyDtoHAsync_v2", pinned.word+99, memory.word, 2, stream.word), invalidValue},
		{"from past the end", rawCall(t, "cuMemcpyDtoDAsync_v2", pinned.word, memory.word+100, 1, stream.word), invalidValue},
		{"fill past the end", rawCall(t, "cuMemsetD8Async", memory.word+100, 0, 1, stream.word), invalidValue},
		{"fill of words past the end", rawCall(t, "cuMemsetD32Async", memory.word, 0, 26, stream.word), invalidValue},
		{"fill of words at an odd place", rawCall(t, "cuMemsetD32Async", memory.word+2, 0, 1, stream.word), invalidValue},
		{"pinned memory freed as the device's", rawCall(t, "cuMemFree_v2", pinned.word), invalidValue},
		{"an address within memory freed", rawCall(t, "cuMemFree_v2", memory.word+8), invalidValue},
		{"memory freed", rawCall(t, "cuMemFree_v2", memory.word), 0},
		{"memory freed twice", rawCall(t, "cuMemFree_v2", memory.word), invalidValue},
		{"freed memory filled", rawCall(t, "cuMemsetD8Async", memory.word, 0, 1, stream.word), invalidValue},
		{"pinned memory freed", rawCall(t, "cuMemFreeHost", pinned.word), 0},
		{"pinned memory freed twice", rawCall(t, "cuMemFreeHost", pinned.word), invalidValue},
		{"plain memory registered", rawCall(t, "cuMemHostRegister_v2", uintptr(unsafe.Pointer(&plain[0])), 64, 0), 0},
		{"a part of it registered again", rawCall(t, "cuMemHostRegister_v2", uintptr(unsafe.Pointer(&plain[0]))+32, 64, 0), alreadyRegistered},
		{"registered memory freed as the driver's", rawCall(t, "cuMemFreeHost", uintptr(unsafe.Pointer(&plain[0]))), invalidValue},
		{"registered memory given back", rawCall(t, "cuMemHostUnregister", uintptr(unsafe.Pointer(&plain[0]))), 0},
		{"registered memory given back twice", rawCall(t, "cuMemHostUnregister", uintptr(unsafe.Pointer(&plain[0]))), invalidValue},
		{"an event without recording", rawCall(t, "cuEventSynchronize", event.word), 0},
		{"an unknown attribute", rawCall(t, "cuDeviceGetAttribute", uintptr(unsafe.Pointer(&other)), 9999, 0), invalidValue},
		{"a device that is not there", rawCall(t, "cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&other)), 99), 101},
	} {
		if c.got != c.want {
			t.Errorf("%s: code %d, not %d", c.what, c.got, c.want)
		}
	}
}

// A thread without a context, or with one that is gone, gets nothing done.
func TestCurrentContext(t *testing.T) {
	_, e := open(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var context, current raw
	if r := rawCall(t, "cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&context)), 0); r != 0 {
		t.Fatal(r)
	}
	var codes []int
	codes = append(codes,
		rawCall(t, "cuCtxSetCurrent", 0), rawCall(t, "cuCtxSynchronize"),
		rawCall(t, "cuCtxSetCurrent", 12345), rawCall(t, "cuCtxSynchronize"),
		rawCall(t, "cuCtxSetCurrent", context.word), rawCall(t, "cuCtxSynchronize"),
		rawCall(t, "cuCtxGetCurrent", uintptr(unsafe.Pointer(&current))))
	e.Reset()
	codes = append(codes, rawCall(t, "cuCtxSynchronize"), rawCall(t, "cuDevicePrimaryCtxRelease_v2", 0))
	want := []int{0, invalidContext, invalidContext, invalidContext, 0, 0, 0, destroyed, invalidContext}
	for i := range want {
		if codes[i] != want[i] {
			t.Errorf("call %d: code %d, not %d", i, codes[i], want[i])
		}
	}
	if current != context {
		t.Errorf("the current context is %x, not %x", current, context)
	}
}

// Every code that means a lost device ends the context for all later calls; a
// reset makes a new one possible.
func TestLost(t *testing.T) {
	for _, code := range []int{214, 700, 702, 719, 999} {
		thread, e := open(t)
		m, err := thread.Alloc(100)
		check(t, err)
		e.Fault("cuMemGetInfo_v2", 1, code, false)
		if _, _, err := thread.MemoryInfo(); !errors.Is(err, cuda.ErrLost) {
			t.Errorf("%d: %v", code, err)
		}
		if r := rawCall(t, "cuCtxSynchronize"); r != code {
			t.Errorf("after %d a call returns %d", code, r)
		}
		if leaks := e.Leaks(); leaks != nil {
			t.Errorf("what a lost context holds counts as leak: %q", leaks)
		}
		check(t, m.Close())
		thread.Unlock()
	}
}

// A context that is released with something in it tells so even afterwards.
func TestLeaksOutliveTheContext(t *testing.T) {
	_, e := open(t)
	var memory raw
	if r := rawCall(t, "cuMemAlloc_v2", uintptr(unsafe.Pointer(&memory)), 64); r != 0 {
		t.Fatal(r)
	}
	if r := rawCall(t, "cuDevicePrimaryCtxRelease_v2", 0); r != 0 {
		t.Fatal(r)
	}
	if leaks := e.Leaks(); !contains(leaks, "left when its context was released", "device memory of 64 bytes") {
		t.Errorf("what the context left is not among %q", leaks)
	}
}
