package pinned

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// Memory that a device pins while it is lost stays pinned, and counted; one that is refused for another reason is given back.
func TestAllocFails(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("faults are the emulator's")
	}
	emulator, _ := emu.Control()
	const outOfMemory, illegalAddress = 2, 700 // CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_ILLEGAL_ADDRESS
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
		live, held := hostmem.Live(), int64(0)
		emulator.Fault("cuMemHostGetDevicePointer_v2", 1, code, false)
		_, err = Alloc(thread, func(n int64) error {
			held += n
			return nil
		}, 4<<20)
		if err == nil || errors.Is(err, cuda.ErrLost) != (code == illegalAddress) {
			t.Errorf("code %d: %v", code, err)
		}
		if stays := hostmem.Live() - live; stays != held || (stays > 0) != (code == illegalAddress) {
			t.Errorf("code %d: %d bytes stay, %d are counted", code, stays, held)
		}
		thread.Unlock()
		if err := c.Close(); err != nil && c.Lost() == nil {
			t.Error(err)
		}
		emulator.Reset()
	}
}
