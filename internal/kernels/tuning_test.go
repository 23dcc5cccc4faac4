package kernels

import (
	"math"
	"testing"
)

func TestSweep(t *testing.T) {
	for n, blocks := range map[uint64]uint32{
		0: 1, 1: 1, 256: 1, 257: 2, 512: 2, 256 * 1024: 1024, 256*1024 + 1: 1024, math.MaxUint64: 1024,
	} {
		if grid := Sweep(n); grid.Blocks != blocks || grid.Threads != 256 || grid.Shared != 0 {
			t.Errorf("%d elements: %+v, want %d blocks", n, grid, blocks)
		}
	}
}
