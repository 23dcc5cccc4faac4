package gagg

import (
	"context"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// DeviceReport is what there is of GPUs on this machine, and what is missing.
type DeviceReport struct {
	Driver  string   `json:"driver,omitempty"` // version of the kernel module, such as 580.65.06; empty: none is loaded
	CUDA    string   `json:"cuda,omitempty"`   // version that the driver supports, such as 13.0; empty: it could not be opened
	Library string   `json:"library"`          // that was opened, or tried
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
	described := make(chan DeviceReport, 1)
	go func() { described <- newDeviceReport(cuda.Describe()) }()
	select {
	case r := <-described:
		return r, nil
	case <-ctx.Done():
		return DeviceReport{}, context.Cause(ctx)
	}
}

func newDeviceReport(r cuda.Report) DeviceReport {
	report := DeviceReport{Driver: cuda.KernelModule(), Library: r.Library, Devices: []Device{}}
	if r.Version != 0 {
		report.CUDA = cuda.VersionText(r.Version)
	}
	report.Problem, report.Advice = problem(r.Err)
	for _, d := range r.Devices {
		report.Devices = append(report.Devices, newDevice(d))
	}
	return report
}

func newDevice(d cuda.DeviceReport) Device {
	device := Device{
		Number: d.Ordinal, Name: d.Name, UUID: d.UUID, PCI: d.PCI,
		ComputeCapability: fmt.Sprintf("%d.%d", d.Major, d.Minor),
		Multiprocessors:   d.Multiprocessors,
		Memory:            int64(d.Memory), FreeMemory: int64(d.Free), L2: int64(d.L2),
		MemoryBus: d.MemoryBusBits, MemoryClock: d.MemoryClockKHz, Clock: d.ClockKHz,
		CopyEngines: d.CopyEngines, ComputeMode: d.Mode.String(), Integrated: d.Integrated, MIG: d.MIG,
	}
	device.Problem, device.Advice = problem(d.Err)
	return device
}

func problem(err error) (text, advice string) {
	if err == nil {
		return "", ""
	}
	return err.Error(), cuda.Advice(err)
}
