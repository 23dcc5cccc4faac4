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
			return d, fmt.Errorf("device %q: want auto, cpu, gpu, or different device numbers such as 0,1", text)
		}
		if slices.Contains(d.numbers, int(n)) {
			return d, fmt.Errorf("device %q: names device %d twice", text, n)
		}
		d.numbers = append(d.numbers, int(n))
	}
	return d, nil
}

// pick chooses among all devices that the process sees. The error is why it
// cannot be done.
func (d demand) pick(devices []cuda.Device) ([]int, error) {
	switch {
	case len(devices) == 0:
		return nil, fmt.Errorf("the driver sees no device: %w", cuda.ErrNoDevice)
	case d.kind == demandNumbers:
		return d.numbers, d.check(devices)
	}
	for n := range devices {
		if devices[n].Usable() == nil {
			return []int{n}, nil
		}
	}
	return nil, devices[0].Usable()
}

// check is what is wrong with the devices that the demand names.
func (d demand) check(devices []cuda.Device) error {
	for _, n := range d.numbers {
		if n >= len(devices) {
			return fmt.Errorf("there is no device %d; gagg --devices lists those that there are", n)
		}
		if err := devices[n].Usable(); err != nil {
			return err
		}
	}
	return nil
}

// find opens the driver and picks devices.
func (d demand) find() (*cuda.Driver, []int, error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, nil, err
	}
	devices, err := driver.Devices()
	if err != nil {
		return nil, nil, err
	}
	numbers, err := d.pick(devices)
	return driver, numbers, err
}

// refused is the error of a demand that cannot be met because of err, of the
// driver or of pick: an ErrDevice, with what to do about it.
func (d demand) refused(err error) error {
	return &kindError{ErrDevice, fmt.Errorf("no usable device for --device %s: %s", d.text, deviceProblem(err))}
}

// deviceProblem is what is wrong with devices, and what to do about it.
func deviceProblem(err error) string {
	text := err.Error()
	if advice := cuda.Advice(err); advice != "" {
		text += "; " + advice
	}
	return text
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
