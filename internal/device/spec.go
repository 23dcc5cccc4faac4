// Package device says which devices a query may use, finds them and opens them: the text of the
// option, the driver's answer, and sets of open devices. What is computed on them is not its
// concern.
package device

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Spec is which devices a query may use: what the option says.
type Spec struct {
	Kind    Kind
	Numbers []int // of Numbered, as written
	Most    int   // of Numbered, the first so many are used, though all have to be there; 0: all
	Kept    []int // that are open: of the others, the first of these is used (Set.Prefer)
	Text    string
}

// Kind is what kind of devices a query may use.
type Kind int

const (
	Auto     Kind = iota // the CPU or the first usable device: a prediction decides
	CPU                  // no device
	GPU                  // the first usable device
	Numbered             // these devices, all of them
)

// Required reports whether a device must be used. That it cannot be is then an
// error, never a silent fallback to the CPU.
func (d Spec) Required() bool { return d.Kind == GPU || d.Kind == Numbered }

// Parse reads the text of the option.
func Parse(text string) (Spec, error) {
	d := Spec{Text: text}
	switch text {
	case "", "auto":
		return Spec{Text: "auto"}, nil
	case "cpu":
		d.Kind = CPU
		return d, nil
	case "gpu":
		d.Kind = GPU
		return d, nil
	}
	d.Kind = Numbered
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return d, fmt.Errorf("device %q: want auto, cpu, gpu, or different device numbers such as 0,1", text)
		}
		if slices.Contains(d.Numbers, int(n)) {
			return d, fmt.Errorf("device %q: names device %d twice", text, n)
		}
		d.Numbers = append(d.Numbers, int(n))
	}
	return d, nil
}

// pick chooses among all devices that the process sees. The error is why it
// cannot be done.
func (d Spec) pick(devices []cuda.Device) ([]int, error) {
	switch {
	case len(devices) == 0:
		return nil, fmt.Errorf("the driver sees no device: %w", cuda.ErrNoDevice)
	case d.Kind == Numbered:
		if d.Most > 0 {
			return d.Numbers[:min(d.Most, len(d.Numbers))], d.check(devices)
		}
		return d.Numbers, d.check(devices)
	case len(d.Kept) > 0:
		return d.Kept[:1], nil
	}
	for n := range devices {
		if devices[n].Usable() == nil {
			return []int{n}, nil
		}
	}
	return nil, devices[0].Usable()
}

// check is what is wrong with the devices that it names.
func (d Spec) check(devices []cuda.Device) error {
	for _, n := range d.Numbers {
		if n >= len(devices) {
			return fmt.Errorf("there is no device %d; gagg --devices lists those that there are", n)
		}
		if err := devices[n].Usable(); err != nil {
			return err
		}
	}
	return nil
}

// RefusedError says that the devices that were asked for cannot be used, and what to do about it.
type RefusedError struct {
	Asked string // the text of the option
	Why   string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("no usable device for --device %s: %s", e.Asked, e.Why)
}

// Refused is the error of a specification that cannot be met because of err, of the driver or of
// pick.
func (d Spec) Refused(err error) error { return &RefusedError{d.Text, Problem(err)} }

// Problem is what is wrong with devices, and what to do about it.
func Problem(err error) string {
	text := err.Error()
	if advice := cuda.Advice(err); advice != "" {
		text += "; " + advice
	}
	return text
}

// Names is what Stats and QueryPlan call the devices that compute.
func Names(numbers []int) string {
	if len(numbers) == 0 {
		return "cpu"
	}
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = strconv.Itoa(n)
	}
	return "gpu:" + strings.Join(list, ",")
}
