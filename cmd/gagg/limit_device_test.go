package main

import (
	"math"
	"testing"

	"github.com/gagg-dev/gagg/internal/gputest"
)

// Memory of the host that a device might need is not held, but what is pinned is.
func TestDevicePeakMemoryIsHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("some runs of whole processes")
	}
	gputest.Need(t, 1)
	checkPeak(t, "gpu", math.MaxInt32) // the driver, and the memory of an emulated device
}
