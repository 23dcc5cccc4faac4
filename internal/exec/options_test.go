package exec

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestDeviceOptions(t *testing.T) {
	for _, x := range []struct {
		o    Options
		want string // "": valid
	}{
		{Options{}, ""},
		{Options{Device: "0,1", GPUMemory: 1 << 30, Streams: 64, LoadFactor: [2]float64{0, 1}}, ""},
		{Options{Device: "tpu"}, `device "tpu"`},
		{Options{GPUMemory: -1}, "GPU memory: -1 is negative"},
		{Options{Streams: 65}, "streams: 65"},
		{Options{Streams: -1}, "streams: -1"},
		{Options{LoadFactor: [2]float64{0.75, 0.5}}, "load factor: 0.75,0.5"},
		{Options{LoadFactor: [2]float64{0.5, 1.5}}, "load factor: 0.5,1.5"},
		{Options{LoadFactor: [2]float64{0.5, 0.5}}, "load factor: 0.5,0.5"},
		{Options{LoadFactor: [2]float64{-0.1, 0.5}}, "load factor: -0.1,0.5"},
		{Options{LoadFactor: [2]float64{0, math.NaN()}}, "load factor: 0,NaN"},
	} {
		err := x.o.validate()
		if (err == nil) != (x.want == "") || err != nil && (!errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%+v: %v, want %s", x.o, err, x.want)
		}
	}
}

// A device is opened beside workers where the process is about to end, and has memory for a driver.
func TestOpensBeside(t *testing.T) {
	t.Parallel()
	const asleep = "not initialized"
	for _, x := range []struct {
		o    Options
		want bool
	}{
		{Options{LastRun: true}, true},
		{Options{LastRun: true, Device: asleep}, false},
		{Options{LastRun: true, MemoryLimit: driverMemory}, true},
		{Options{LastRun: true, MemoryLimit: driverMemory - 1}, false},
		{Options{}, false},
	} {
		if got := x.o.opensBeside(func() bool { return x.o.Device != asleep }); got != x.want {
			t.Errorf("%+v: %t", x.o, got)
		}
	}
}
