package gagg

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// demand is what Options.Device says.
type demand struct {
	kind    demandKind
	numbers []int // of demandNumbers, as written
	text    string
}

type demandKind int

const (
	demandAuto    demandKind = iota // the CPU or the first usable device: a prediction decides
	demandCPU                       // no device
	demandGPU                       // the first usable device
	demandNumbers                   // these devices, all of them
)

// required reports whether a device must be used. That it cannot be is then an
// ErrDevice, never a silent fallback to the CPU.
func (d demand) required() bool { return d.kind == demandGPU || d.kind == demandNumbers }

// parseDevice reads Options.Device.
func parseDevice(text string) (demand, error) {
	d := demand{text: text}
	switch text {
	case "", "auto":
		return demand{text: "auto"}, nil
	case "cpu":
		d.kind = demandCPU
		return d, nil
	case "gpu":
		d.kind = demandGPU
		return d, nil
	}
	d.kind = demandNumbers
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return d, fmt.Errorf("device %q: want auto, cpu, gpu, or device numbers such as 0,1", text)
		}
		if slices.Contains(d.numbers, int(n)) {
			return d, fmt.Errorf("device %q: names device %d twice", text, n)
		}
		d.numbers = append(d.numbers, int(n))
	}
	return d, nil
}

// pick chooses among all devices that the process sees. The error is an
// ErrDevice, with the reason and what to do about it, also where the demand is
// auto: it says then why the CPU computes.
func (d demand) pick(devices []cuda.Device) ([]int, error) {
	if len(devices) == 0 {
		return nil, d.refused(fmt.Errorf("count the devices: the driver sees none: %w", cuda.ErrNoDevice))
	}
	if d.kind == demandNumbers {
		for _, n := range d.numbers {
			if n >= len(devices) {
				return nil, d.refused(fmt.Errorf("there is no device %d; gagg --devices lists those that there are", n))
			}
			if err := devices[n].Usable(); err != nil {
				return nil, d.refused(err)
			}
		}
		return d.numbers, nil
	}
	for n := range devices {
		if devices[n].Usable() == nil {
			return []int{n}, nil
		}
	}
	return nil, d.refused(devices[0].Usable())
}

// refused is the error of a demand that cannot be met because of err, which comes
// from the driver or from pick.
func (d demand) refused(err error) error {
	reason := err.Error()
	if advice := cuda.Advice(err); advice != "" {
		reason += "; " + advice
	}
	return &kindError{ErrDevice, fmt.Errorf("no usable device for --device %s: %s", d.text, reason)}
}

// deviceNames is what Stats and QueryPlan call the devices that compute.
func deviceNames(numbers []int) string {
	if len(numbers) == 0 {
		return deviceCPU
	}
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = strconv.Itoa(n)
	}
	return "gpu:" + strings.Join(list, ",")
}
