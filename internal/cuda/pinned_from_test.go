package cuda_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// Memory that a device pins while it is lost stays pinned, and counted. Memory refused for
// another reason is given back.
func TestAllocPinnedFromFails(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("faults are the emulator's")
	}
	emulator, _ := emu.Control()
	// CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_ILLEGAL_ADDRESS
	const outOfMemory, illegalAddress = 2, 700
	for _, code := range []int{outOfMemory, illegalAddress} {
		driver, err := cuda.Open()
		if err != nil {
			t.Fatal(err)
		}
		c, err := driver.Context(0)
		if err != nil {
			t.Fatal(err)
		}
		thread, err := c.Lock()
		if err != nil {
			t.Fatal(err)
		}
		live, held := hostmem.Live(), budget.New(budget.Memory, 0)
		emulator.Fault("cuMemHostGetDevicePointer_v2", 1, code, false)
		_, err = thread.AllocPinnedFrom(held, 4<<20)
		if err == nil || errors.Is(err, cuda.ErrLost) != (code == illegalAddress) {
			t.Errorf("code %d: %v", code, err)
		}
		if stays := hostmem.Live() - live; stays != held.Reserved() || (stays > 0) != (code == illegalAddress) {
			t.Errorf("code %d: %d bytes stay, %d are counted", code, stays, held.Reserved())
		}
		thread.Unlock()
		if err := c.Close(); err != nil && c.Lost() == nil {
			t.Error(err)
		}
		emulator.Reset()
	}
}

// Pinned memory is drawn from its lender until it is closed, or released to it.
func TestAllocPinnedFrom(t *testing.T) {
	thread := gputest.Open(t)
	b := budget.New(budget.Memory, 2000)
	want := func(step string, bytes int64) {
		t.Helper()
		if n := b.Reserved(); n != bytes {
			t.Errorf("%s: %d bytes are drawn, want %d", step, n, bytes)
		}
	}
	p, err := thread.AllocPinnedFrom(b, 1500)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := thread.AllocPinnedFrom(b, 501); !errors.Is(err, budget.Memory) {
		t.Errorf("more than there is: %v", err)
	}
	want("made", 1500)
	p.Discharge()
	want("discharged", 0)
	if err := b.Draw(501); err != nil {
		t.Error(err)
	}
	if err := p.Charge(b); !errors.Is(err, budget.Memory) {
		t.Errorf("charged beyond the limit: %v", err)
	}
	b.Release(501)
	if err := errors.Join(p.Charge(b), p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	want("closed", 0)
	if p, err = thread.AllocPinnedFrom(nil, 100); err == nil {
		err = p.Close()
	}
	if err != nil {
		t.Error(err)
	}
}
