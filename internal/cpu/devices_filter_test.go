package cpu

import "testing"

// Devices decode small rows although few pass a filter, and rows of any size if many do.
func TestDevicesFilter(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		selectivity, bytes float64
		want               bool
	}{
		{.13, 8, true}, {.13, 26, true}, {.13, 27, false}, {.02, 12, true}, {.02, 30, false}, {.25, 1000, true}, {0, 19, true}, {0, 21, false},
	} {
		if got := devicesFilter(x.selectivity, x.bytes); got != x.want {
			t.Errorf("%v of rows of %v bytes: %v", x.selectivity, x.bytes, got)
		}
	}
}
