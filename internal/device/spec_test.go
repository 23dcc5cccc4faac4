package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Spec{
		"":     {Kind: Auto},
		"auto": {Kind: Auto},
		"cpu":  {Kind: CPU},
		"gpu":  {Kind: GPU},
		"0":    {Kind: Numbered, Numbers: []int{0}},
		"3,0":  {Kind: Numbered, Numbers: []int{3, 0}},
	} {
		got, err := Parse(text)
		if err != nil || got.Kind != want.Kind || !slices.Equal(got.Numbers, want.Numbers) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"GPU", "tpu", "0,", ",", "-1", "0 1", "0,1,0", "99999999999"} {
		if d, err := Parse(text); err == nil {
			t.Errorf("%q is read as %+v", text, d)
		}
	}
}

// A specification that cannot be met is told with the reason and what to do.
func TestPick(t *testing.T) {
	good := cuda.Device{Name: "A", Major: 9, Minor: 0}
	taken := cuda.Device{Name: "B", Major: 9, Minor: 0, Mode: cuda.ComputeProhibited}
	for _, x := range []struct {
		device  string
		devices []cuda.Device
		open    []int
		want    []int
		refusal string
	}{
		{device: "gpu", devices: []cuda.Device{good, good}, want: []int{0}},
		{device: "auto", devices: []cuda.Device{taken, good}, want: []int{1}},
		{device: "1,0", devices: []cuda.Device{good, good}, want: []int{1, 0}},
		{device: "auto", devices: []cuda.Device{good, good}, open: []int{1, 0}, want: []int{1}},
		{device: "gpu", devices: []cuda.Device{good, good}, open: []int{1}, want: []int{1}},
		{device: "0", devices: []cuda.Device{good, good}, open: []int{1}, want: []int{0}},
		{device: "gpu", refusal: "the driver sees no device: no CUDA device; "},
		{device: "auto", refusal: "the driver sees no device"},
		{device: "gpu", devices: []cuda.Device{taken}, refusal: "its compute mode is prohibited; wait"},
		{device: "0,1", devices: []cuda.Device{good, taken}, refusal: "its compute mode is prohibited; wait"},
		{device: "0,2", devices: []cuda.Device{good, good}, refusal: "there is no device 2; gagg --devices lists"},
	} {
		d, err := Parse(x.device)
		if err != nil {
			t.Fatal(err)
		}
		d = (&Set{numbers: x.open, contexts: make([]*cuda.Context, len(x.open))}).Prefer(d)
		got, err := d.pick(x.devices)
		if (err != nil) != (x.refusal != "") || err == nil && !slices.Equal(got, x.want) {
			t.Errorf("--device %s among %d: %v, %v; want %v", x.device, len(x.devices), got, err, x.want)
		}
		if err == nil {
			continue
		}
		if err = d.Refused(err); !strings.Contains(err.Error(), "--device "+x.device+": ") || !strings.Contains(err.Error(), x.refusal) {
			t.Errorf("--device %s: %v; want %s", x.device, err, x.refusal)
		}
	}
}

func TestNames(t *testing.T) {
	for want, numbers := range map[string][]int{"cpu": nil, "gpu:0": {0}, "gpu:2,1": {2, 1}} {
		if got := Names(numbers); got != want {
			t.Errorf("%v is called %s, want %s", numbers, got, want)
		}
	}
}
