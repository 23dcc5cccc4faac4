package main

import (
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

func TestWriteDevices(t *testing.T) {
	var text strings.Builder
	err := writeDevices(&text, gagg.DeviceReport{
		Driver: "580.65.06", CUDA: "13.0", Library: "libcuda.so.1",
		Devices: []gagg.Device{
			{
				Number: 0, Name: "NVIDIA H200", UUID: "GPU-0", PCI: "0000:19:00.0", ComputeCapability: "9.0", Multiprocessors: 132,
				Memory: 140 << 30, FreeMemory: 139 << 30, L2: 60 << 20, MemoryBus: 6144, MemoryClock: 3201000, ComputeMode: "default",
			},
			{Number: 1, Name: "an odd\x1bname", Memory: 1 << 30, ComputeMode: "prohibited", Problem: "its compute mode is prohibited", Advice: "set it"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"driver    580.65.06, CUDA 13.0 (libcuda.so.1)\n",
		"device 0  NVIDIA H200, 140 GiB of memory, 139 GiB free\n",
		"          compute capability 9.0, 132 multiprocessors, L2 60 MiB, 6144 bits at 3201 MHz, compute mode default\n",
		"device 1  an odd\\x1bname, 1.0 GiB of memory\n",
		"          not usable: its compute mode is prohibited\n          to do: set it\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}
