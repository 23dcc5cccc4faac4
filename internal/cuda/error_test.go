package cuda_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/gagg-dev/gagg/internal/cuda"
)

var classes = []error{
	cuda.ErrNoDriver, cuda.ErrOldDriver, cuda.ErrNotReady, cuda.ErrNoDevice, cuda.ErrBusy, cuda.ErrUnsupported,
	cuda.ErrOutOfMemory, cuda.ErrLaunch, cuda.ErrLost, cuda.ErrClosed, cuda.ErrOpen,
}

// wantClasses wants err to be of these classes and no other.
func wantClasses(t *testing.T, err error, want ...error) {
	t.Helper()
	for _, c := range classes {
		if is := errors.Is(err, c); is != slices.Contains(want, c) {
			t.Errorf("%v: is %q: %v", err, c, is)
		}
	}
}

// The codes that --devices, retries and fallbacks depend on.
func TestErrorClasses(t *testing.T) {
	for _, c := range []struct {
		code           int
		start, running error // nil: no class
	}{
		{code: 1},
		{code: 2, start: cuda.ErrOutOfMemory, running: cuda.ErrOutOfMemory},
		{code: 34, start: cuda.ErrNoDriver},
		{code: 35, start: cuda.ErrOldDriver},
		{code: 46, start: cuda.ErrBusy, running: cuda.ErrBusy},
		{code: 100, start: cuda.ErrNoDevice},
		{code: 101, start: cuda.ErrNoDevice},
		{code: 201, start: cuda.ErrBusy},
		{code: 209, running: cuda.ErrUnsupported},
		{code: 214, start: cuda.ErrLost, running: cuda.ErrLost},
		{code: 218, running: cuda.ErrUnsupported},
		{code: 220, start: cuda.ErrLost, running: cuda.ErrLost},
		{code: 221, running: cuda.ErrUnsupported},
		{code: 222, running: cuda.ErrUnsupported},
		{code: 223, running: cuda.ErrUnsupported},
		{code: 701, running: cuda.ErrLaunch},
		{code: 709, start: cuda.ErrLost, running: cuda.ErrLost},
		{code: 802, start: cuda.ErrNotReady},
		{code: 803, start: cuda.ErrOldDriver},
		{code: 804, start: cuda.ErrOldDriver},
		{code: 999, start: cuda.ErrNotReady, running: cuda.ErrLost},
	} {
		wantClasses(t, cuda.ErrorOf(c.code, false), c.start)
		wantClasses(t, fmt.Errorf("wrapped: %w", cuda.ErrorOf(c.code, true)), c.running)
		if lost := errors.Is(c.running, cuda.ErrLost); lost != cuda.Sticky(c.code) {
			t.Errorf("%d loses the context: %v", c.code, !lost)
		}
	}
}

// A kernel that faulted is both: the kernel failed, and with it the context.
func TestKernelFaults(t *testing.T) {
	for _, c := range []int{700, 702, 710, 714, 715, 716, 717, 718, 719} {
		wantClasses(t, cuda.ErrorOf(c, true), cuda.ErrLost, cuda.ErrLaunch)
	}
}

func TestErrorText(t *testing.T) {
	err := &cuda.Error{Op: "allocate 5.0 GiB of device memory (cuMemAlloc_v2)", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Text: "out of memory", Log: "not shown"}
	if got, want := err.Error(), "allocate 5.0 GiB of device memory (cuMemAlloc_v2): out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// Whatever class keeps a person from using a device has a sentence about it.
func TestAdvice(t *testing.T) {
	for _, c := range []int{2, 34, 35, 46, 100, 214, 999} {
		if err := cuda.ErrorOf(c, false); cuda.Advice(err) == "" {
			t.Errorf("no advice about %d", c)
		}
	}
	if got := cuda.Advice(cuda.ErrorOf(218, true)); got == "" {
		t.Error("no advice about PTX that is not supported")
	}
	if got := cuda.Advice(errors.New("another")); got != "" {
		t.Errorf("advice about an unknown error: %s", got)
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	if got, want := cuda.Advice(cuda.ErrorOf(100, false)), `CUDA_VISIBLE_DEVICES is "", which hides all other devices: change or unset it`; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// Both numbers are in the message about a driver whose halves do not fit.
func TestInstalledVersions(t *testing.T) {
	for _, c := range []struct{ module, maps, want string }{
		{
			"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version:  gcc 12.2.0\n",
			"7f00-7f01 r-xp 00000000 fe:01 123  /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15\n",
			"; the kernel module is 535.183.01, libcuda 550.54.15",
		},
		{
			"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U22)\n",
			"7f00-7f01 r-xp 00000000 fe:01 123  /opt/libcuda-emu.so\n",
			"; the kernel module is 580.65.06, libcuda of an unknown version",
		},
	} {
		got := cuda.VersionsIn(fstest.MapFS{"proc/driver/nvidia/version": {Data: []byte(c.module)}, "proc/self/maps": {Data: []byte(c.maps)}})
		if got != c.want {
			t.Errorf("%s; want %s", got, c.want)
		}
	}
	if got, want := cuda.VersionsIn(fstest.MapFS{}), "; the kernel module is of an unknown version, libcuda of an unknown version"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

func TestPTXVersions(t *testing.T) {
	if got := cuda.PTXVersions("//\n.version 6.0\n.target sm_70, debug\n.address_size 64\n"); got != "PTX 6.0 for sm_70" {
		t.Error(got)
	}
	if got := cuda.PTXVersions("rubbish"); got != "not PTX" {
		t.Error(got)
	}
}
