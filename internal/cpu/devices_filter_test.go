package cpu

import "testing"

// Devices decode small rows although few pass a filter, and rows of any size if many do.
func TestDevicesFilter(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		selectivity, bytes float64
		want               bool
	}{
		{.13, 8, true}, {.13, 20, false}, {.02, 3, true}, {.02, 12, false}, {.25, 1000, true}, {0, 5, true}, {0, 7, false},
	} {
		if got := devicesFilter(x.selectivity, x.bytes); got != x.want {
			t.Errorf("%v of rows of %v bytes: %v", x.selectivity, x.bytes, got)
		}
	}
}
