package gagg

import (
	"context"
	"fmt"

	"github.com/gagg-dev/gagg/internal/device"
)

// DeviceReport is what there is of GPUs on this machine, and what is missing.
type DeviceReport struct {
	// Driver: version of the kernel module, such as 580.65.06; empty: none is loaded
	Driver string `json:"driver,omitempty"`
	// CUDA: version that the driver supports, such as 13.0; empty: it could not be opened
	CUDA    string   `json:"cuda,omitempty"`
	Library string   `json:"library"` // that was opened, or tried
	Devices []Device `json:"devices"`
	Problem string   `json:"problem,omitempty"` // why there are no devices
	Advice  string   `json:"advice,omitempty"`  // what to do about it
}

// Device is a GPU that this process sees.
type Device struct {
	Number            int    `json:"number"` // for --device
	Name              string `json:"name"`
	UUID              string `json:"uuid"`
	PCI               string `json:"pci"`
	ComputeCapability string `json:"compute_capability"`
	Multiprocessors   int    `json:"multiprocessors"`
	Memory            int64  `json:"memory"`      // bytes
	FreeMemory        int64  `json:"free_memory"` // bytes, now; 0 where Problem is set
	L2                int64  `json:"l2"`          // bytes
	MemoryBus         int    `json:"memory_bus"`  // bits
	MemoryClock       int    `json:"memory_clock_khz"`
	Clock             int    `json:"clock_khz"`
	CopyEngines       int    `json:"copy_engines"`
	ComputeMode       string `json:"compute_mode"`
	Integrated        bool   `json:"integrated,omitempty"` // its memory is the host's
	MIG               bool   `json:"mig,omitempty"`        // it is a slice of a larger one
	Problem           string `json:"problem,omitempty"`    // why it cannot be used
	Advice            string `json:"advice,omitempty"`     // what to do about it
}

// Devices looks for GPUs: it opens the driver, which the process then keeps, and
// takes each device for a moment, 0.3 s for the first. That there are none is no
// error but a Problem of the report. When ctx ends first, its error is returned
// while the driver is still busy.
func Devices(ctx context.Context) (DeviceReport, error) {
	r, err := device.Describe(ctx)
	if err != nil {
		return DeviceReport{}, err
	}
	report := DeviceReport{Library: r.Library, Devices: []Device{}}
	report.Driver, report.CUDA = device.Versions(r)
	report.Problem, report.Advice = device.Explain(r.Err)
	for _, d := range r.Devices {
		found := Device{
			Number: d.Ordinal, Name: d.Name, UUID: d.UUID, PCI: d.PCI,
			ComputeCapability: fmt.Sprintf("%d.%d", d.Major, d.Minor),
			Multiprocessors:   d.Multiprocessors,
			Memory:            int64(d.Memory), FreeMemory: int64(d.Free), L2: int64(d.L2),
			MemoryBus: d.MemoryBusBits, MemoryClock: d.MemoryClockKHz, Clock: d.ClockKHz,
			CopyEngines: d.CopyEngines, ComputeMode: d.Mode.String(), Integrated: d.Integrated, MIG: d.MIG,
		}
		found.Problem, found.Advice = device.Explain(d.Err)
		report.Devices = append(report.Devices, found)
	}
	return report, nil
}
