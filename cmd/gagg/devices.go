package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg"
)

// Values of --devices.
const (
	devicesText = "text"
	devicesJSON = "json"
)

// describeDevices prints the GPUs of the machine.
func (c *command) describeDevices(ctx context.Context) error {
	r, err := gagg.Devices(ctx)
	if err != nil {
		return err
	}
	if c.devices == devicesJSON {
		return output(writeJSON(c.out, r))
	}
	return output(writeDevices(c.out, r))
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
	return t.Flush()
}

// freeText is the free memory, where it is known.
func freeText(d gagg.Device) string {
	if !usable(d) {
		return ""
	}
	return ", " + humanize.IBytes(uint64(d.FreeMemory)) + " free"
}

// driverText describes the driver, or says why there is none.
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

func usable(d gagg.Device) bool { return d.Problem == "" }
