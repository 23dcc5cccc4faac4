package exec

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/gpu"
)

// Devices have groups of an attempt in which they take part, until these are regrouped.
func TestDevicesHaveGroupsUntilRegrouped(t *testing.T) {
	for _, x := range []struct {
		devices *gpu.Devices
		by      grouping
		want    bool
	}{
		{nil, byKeys, false},
		{&gpu.Devices{}, byKeys, true},
		{&gpu.Devices{}, byOther, true},
		{&gpu.Devices{}, regrouped, false},
	} {
		if a := (&attempt{devices: x.devices, grouping: x.by}); a.onDevices() != x.want {
			t.Errorf("devices %t, grouping %d: they have groups: %t, want %t", x.devices != nil, x.by, a.onDevices(), x.want)
		}
	}
}
