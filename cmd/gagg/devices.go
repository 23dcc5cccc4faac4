package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg"
)

// Values of --devices.
const (
	devicesText = "text"
	devicesJSON = "json"
)

// noEngine is what this version does with a device.
const noEngine = "this build has no GPU engine yet"

// describeDevices prints the GPUs of the machine.
func (c *command) describeDevices(ctx context.Context) error {
	r, err := gagg.Devices(ctx)
	if err != nil {
		return err
	}
	if c.devices == devicesJSON {
		return output(writeJSON(c.stdout, r))
	}
	return output(writeDevices(c.stdout, r))
}

func writeDevices(w io.Writer, r gagg.DeviceReport) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(label, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", label, oneLine(fmt.Sprintf(format, args...)))
	}
	complain := func(problem, advice string) {
		if problem != "" {
			line("", "not usable: %s", problem)
		}
		if advice != "" {
			line("", "to do: %s", advice)
		}
	}
	line("driver", "%s", driverText(r))
	for _, d := range r.Devices {
		line(fmt.Sprintf("device %d", d.Number), "%s, %s of memory%s", d.Name, humanize.IBytes(uint64(d.Memory)), freeText(d))
		line("", "compute capability %s, %d multiprocessors, L2 %s, %d bits at %d MHz, compute mode %s", d.ComputeCapability, d.Multiprocessors,
			humanize.IBytes(uint64(d.L2)), d.MemoryBus, d.MemoryClock/1000, d.ComputeMode)
		line("", "%s, %s", d.PCI, d.UUID)
		complain(d.Problem, d.Advice)
	}
	if len(r.Devices) == 0 {
		line("devices", "none")
	}
	complain(r.Problem, r.Advice)
	line("gagg", "computes on the CPU: %s", noEngine)
	return t.Flush()
}

// freeText is the free memory, where it could be asked for.
func freeText(d gagg.Device) string {
	if !usable(d) {
		return ""
	}
	return ", " + humanize.IBytes(uint64(d.FreeMemory)) + " free"
}

// driverText says what there is of a driver.
func driverText(r gagg.DeviceReport) string {
	switch {
	case r.Driver == "" && r.CUDA == "":
		return "none"
	case r.CUDA == "":
		return "kernel module " + r.Driver + ", not opened"
	case r.Driver == "":
		return "CUDA " + r.CUDA + " (" + r.Library + ")"
	}
	return r.Driver + ", CUDA " + r.CUDA + " (" + r.Library + ")"
}

// deviceError is a demand for a device that cannot be met.
type deviceError struct {
	device string // as demanded
	reason string
}

func (e *deviceError) Error() string {
	return "no usable device for --device " + e.device + ": " + e.reason
}

func (e *deviceError) Is(target error) bool { return target == gagg.ErrDevice }

// checkDevice refuses what is no device.
func (s *settings) checkDevice() error {
	switch s.device {
	case "auto", "cpu", "gpu":
		return nil
	}
	if _, ok := deviceNumbers(s.device); !ok {
		return usagef("--device %s: want auto, cpu, gpu, or different device numbers such as 0,1", s.device)
	}
	return nil
}

// deviceNumbers reads a list such as 0,1, each number once.
func deviceNumbers(list string) (numbers []int, ok bool) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || slices.Contains(numbers, int(n)) {
			return nil, false
		}
		numbers = append(numbers, int(n))
	}
	return numbers, true
}

// chooseDevice looks for a device where one was demanded. A demand that cannot
// be met is an error, never a silent fallback to the CPU. With auto only a log
// that is read, by --verbose, is told what becomes of it: a line in every run on
// every machine without a GPU would be noise.
func (c *command) chooseDevice(ctx context.Context) error {
	demanded := c.device != "auto" && c.device != "cpu"
	if !demanded && (c.device == "cpu" || !c.verbose) {
		return nil
	}
	r, err := gagg.Devices(ctx)
	if err != nil {
		return err
	}
	reason := unusable(c.device, r)
	if !demanded {
		message := "no GPU: using CPU"
		if slices.ContainsFunc(r.Devices, usable) {
			message = "using CPU"
		}
		c.logger(c.stderr).Debug(message, "reason", reason)
		return nil
	}
	return &deviceError{device: c.device, reason: reason}
}

// unusable is why this build does not compute on the devices asked for: what is
// wrong with them, else with itself.
func unusable(device string, r gagg.DeviceReport) string {
	if len(r.Devices) == 0 {
		return complaint(r.Problem, r.Advice)
	}
	numbers, _ := deviceNumbers(device)
	for _, n := range numbers {
		switch {
		case n >= len(r.Devices):
			return fmt.Sprintf("there is no device %d; gagg --devices lists those that there are", n)
		case r.Devices[n].Problem != "":
			return complaint(r.Devices[n].Problem, r.Devices[n].Advice)
		}
	}
	if i := slices.IndexFunc(r.Devices, usable); i >= 0 {
		return fmt.Sprintf("device %d (%s) could be used, but %s; use --device cpu or auto", i, r.Devices[i].Name, noEngine)
	}
	return complaint(r.Devices[0].Problem, r.Devices[0].Advice)
}

func usable(d gagg.Device) bool { return d.Problem == "" }

func complaint(problem, advice string) string {
	if advice == "" {
		return problem
	}
	return problem + "; " + advice
}
