package gagg

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
)

func TestParseDevice(t *testing.T) {
	for text, want := range map[string]demand{
		"":     {kind: demandAuto},
		"auto": {kind: demandAuto},
		"cpu":  {kind: demandCPU},
		"gpu":  {kind: demandGPU},
		"0":    {kind: demandNumbers, numbers: []int{0}},
		"3,0":  {kind: demandNumbers, numbers: []int{3, 0}},
	} {
		got, err := parseDevice(text)
		if err != nil || got.kind != want.kind || !slices.Equal(got.numbers, want.numbers) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"GPU", "tpu", "0,", ",", "-1", "0 1", "0,1,0", "99999999999"} {
		if d, err := parseDevice(text); err == nil {
			t.Errorf("%q is read as %+v", text, d)
		}
	}
}

// A demand that cannot be met is told with the reason and what to do.
func TestPickDevice(t *testing.T) {
	good := cuda.Device{Name: "A", Major: 9, Minor: 0}
	taken := cuda.Device{Name: "B", Major: 9, Minor: 0, Mode: cuda.ComputeProhibited}
	for _, x := range []struct {
		device  string
		devices []cuda.Device
		want    []int
		refusal string
	}{
		{device: "gpu", devices: []cuda.Device{good, good}, want: []int{0}},
		{device: "auto", devices: []cuda.Device{taken, good}, want: []int{1}},
		{device: "1,0", devices: []cuda.Device{good, good}, want: []int{1, 0}},
		{device: "gpu", refusal: "the driver sees no device: no CUDA device; "},
		{device: "auto", refusal: "the driver sees no device"},
		{device: "gpu", devices: []cuda.Device{taken}, refusal: "its compute mode is prohibited; wait"},
		{device: "0,1", devices: []cuda.Device{good, taken}, refusal: "its compute mode is prohibited; wait"},
		{device: "0,2", devices: []cuda.Device{good, good}, refusal: "there is no device 2; gagg --devices lists"},
	} {
		d, err := parseDevice(x.device)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.pick(x.devices)
		if (err != nil) != (x.refusal != "") || err == nil && !slices.Equal(got, x.want) {
			t.Errorf("--device %s among %d: %v, %v; want %v", x.device, len(x.devices), got, err, x.want)
		}
		if err == nil {
			continue
		}
		if err = d.refused(err); !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), "--device "+x.device+": ") || !strings.Contains(err.Error(), x.refusal) {
			t.Errorf("--device %s: %v; want %s", x.device, err, x.refusal)
		}
	}
}

func TestDeviceNames(t *testing.T) {
	for want, numbers := range map[string][]int{"cpu": nil, "gpu:0": {0}, "gpu:2,1": {2, 1}} {
		if got := deviceNames(numbers); got != want {
			t.Errorf("%v is called %s, want %s", numbers, got, want)
		}
	}
}

func TestDeviceOptions(t *testing.T) {
	withEngine(t)
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
