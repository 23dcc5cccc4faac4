package main

import (
	"math"
	"testing"

	"github.com/gagg-dev/gagg/internal/gputest"
)

// Host memory that a device might need does not count as held; pinned memory does.
func TestDevicePeakMemoryIsHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("some runs of whole processes")
	}
	gputest.Need(t, 1)
	checkPeak(t, "gpu", math.MaxInt32) // the driver, and the memory of an emulated device
}
