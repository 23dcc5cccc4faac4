package cuda_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Every fact is there, and of a size that a device can have.
func TestDevices(t *testing.T) {
	thread := gputest.Open(t)
	driver, err := cuda.Open()
	must(t, err)
	if driver.Version() < 11040 || driver.Library() == "" {
		t.Errorf("version %d of %q", driver.Version(), driver.Library())
	}
	devices, err := driver.Devices()
	must(t, err)
	d := devices[0]
	if d != thread.Context().Device() {
		t.Errorf("%+v in the list, %+v in its context", d, thread.Context().Device())
	}
	must(t, d.Usable())
	if d.Name == "" || len(d.UUID) != len("GPU-01234567-89ab-cdef-0123-456789abcdef") || strings.Count(d.PCI, ":") != 2 {
		t.Errorf("name %q, UUID %q, PCI %q", d.Name, d.UUID, d.PCI)
	}
	for fact, ok := range map[string]bool{
		"memory":        d.Memory >= 1<<20,
		"capability":    d.Major >= 7 && d.Minor < 20,
		"warp":          d.WarpSize == 32,
		"threads":       d.ThreadsPerBlock >= 1024 && d.ThreadsPerMultiprocessor >= d.ThreadsPerBlock,
		"units":         d.Multiprocessors > 0 && d.BlocksPerMultiprocessor > 0 && d.RegistersPerMultiprocessor > 0,
		"shared memory": d.SharedPerBlock >= 48<<10 && d.SharedPerMultiprocessor >= d.SharedPerBlock,
		"L2":            d.L2 > 0,
		"bus":           d.MemoryBusBits > 0,
		"mode":          d.Mode != cuda.ComputeProhibited,
	} {
		if !ok {
			t.Errorf("%s: %+v", fact, d)
		}
	}
	if got, want := cuda.Exclusive(), slices.ContainsFunc(devices, cuda.Device.Exclusive); got != want {
		t.Errorf("one process at a time: %t; %+v", got, devices)
	}
}

func TestExclusive(t *testing.T) {
	for mode, want := range map[cuda.ComputeMode]bool{cuda.ComputeDefault: false, cuda.ComputeExclusive: true} {
		if d := (cuda.Device{Mode: mode}); d.Exclusive() != want {
			t.Errorf("%+v: %t", d, !want)
		}
	}
}

func TestUsable(t *testing.T) {
	volta := cuda.Device{Major: 7}
	wantClasses(t, volta.Usable())
	wantClasses(t, cuda.Device{Major: 6, Minor: 1}.Usable(), cuda.ErrUnsupported)
	volta.Mode = cuda.ComputeProhibited
	wantClasses(t, volta.Usable(), cuda.ErrBusy)
}

func TestDescribe(t *testing.T) {
	gputest.Open(t)
	r := cuda.Describe()
	must(t, r.Err, r.Devices[0].Err)
	if r.Version == 0 || r.Devices[0].Free == 0 || r.Devices[0].Free > r.Devices[0].Memory {
		t.Errorf("%+v", r)
	}
}

func TestNoSuchDevice(t *testing.T) {
	gputest.Open(t)
	driver, err := cuda.Open()
	must(t, err)
	for _, ordinal := range []int{-1, 1000} {
		_, err := driver.Context(ordinal)
		wantClasses(t, err, cuda.ErrNoDevice)
	}
}

// A device is not initialized while the kernel module does not know the version of its firmware.
func TestInitialized(t *testing.T) {
	const file = "proc/driver/nvidia/gpus/0000:%s:00.0/information"
	information := func(bios string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("Model: \t\t NVIDIA H200\nIRQ:   \t\t 142\nVideo BIOS: \t " + bios + "\nBus Type: \t PCIe\n")}
	}
	for _, x := range []struct {
		bios []string
		want bool
	}{
		{nil, true},
		{[]string{"96.00.a5.00.01"}, true},
		{[]string{"??.??.??.??.??"}, false},
		{[]string{"96.00.a5.00.01", "??.??.??.??.??"}, false},
	} {
		root := fstest.MapFS{"proc/driver/nvidia/version": {}}
		for i, bios := range x.bios {
			root[fmt.Sprintf(file, fmt.Sprintf("%02x", i))] = information(bios)
		}
		if got := cuda.InitializedIn(root); got != x.want {
			t.Errorf("%q: %t", x.bios, got)
		}
	}
}
