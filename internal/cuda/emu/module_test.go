package emu_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

const noKernels = ".version 6.0\n.target sm_70\n.address_size 64\n"

// A module that a driver would refuse is refused with its code and with a log.
func TestModuleErrors(t *testing.T) {
	thread, _ := open(t)
	for _, c := range []struct {
		name, ptx string
		code      int
		log       string
	}{
		{"no PTX", "int main() {}", 218, "no .version"},
		{"a version that is none", ".version six\n.target sm_70\n", 218, ".version six"},
		{"a target that is none", ".version 6.0\n.target volta\n", 218, ".target volta"},
		{"a newer language", ".version 9.9\n.target sm_70\n", 222, "9.9"},
		{"a newer device", ".version 8.0\n.target sm_90\n", 209, "sm_90"},
		{"no end", noKernels + ".visible .entry probe_spin(.param .u64 p)\n{ ret;", 218, "line 4"},
		{"an unknown kernel", noKernels + ".visible .entry nobody(.param .u64 p)\n{ ret; }\n", 218, "without the kernel nobody"},
		{"other parameters", noKernels + ".visible .entry probe_spin(.param .u64 p, .param .u32 q)\n{ ret; }\n", 218, "8 bytes of parameters of probe_spin, not 12"},
	} {
		_, err := thread.LoadModule(c.name, []byte(c.ptx))
		var e *cuda.Error
		if !errors.As(err, &e) || e.Code != c.code || !errors.Is(err, cuda.ErrUnsupported) || !strings.Contains(e.Log, c.log) {
			t.Errorf("%s: %v, log %q", c.name, err, e.Log)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	thread, _ := open(t)
	module, err := thread.LoadModule("none", []byte(noKernels))
	check(t, err)
	var e *cuda.Error
	if _, err := module.Function("nobody"); !errors.As(err, &e) || e.Code != 500 {
		t.Errorf("a function that the module has not: %v", err)
	}
}

// A grid that the device does not take is refused, by the kernel's launch
// bounds too.
func TestLaunchErrors(t *testing.T) {
	thread, _ := open(t)
	probe, err := kerneltest.LoadProbe(thread)
	check(t, err)
	r := newRig(t, thread, 64)
	p := r.memory.Span().Ptr
	for _, c := range []struct {
		grid cuda.Grid
		good bool
	}{
		{cuda.Grid{Blocks: 1, Threads: 256}, true},
		{cuda.Grid{Blocks: 1, Threads: 256, Shared: 48 << 10}, true},
		{cuda.Grid{Blocks: 0, Threads: 1}, false},
		{cuda.Grid{Blocks: 1, Threads: 0}, false},
		{cuda.Grid{Blocks: 1, Threads: 257}, false}, // __launch_bounds__(256)
		{cuda.Grid{Blocks: 1, Threads: 1, Shared: 48<<10 + 1}, false},
	} {
		if err := probe.Add(r.stream, c.grid, p, p, p, 0); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.grid, err)
		}
	}
	if err := probe.Fill(r.stream, cuda.Grid{Blocks: 1, Threads: 1024}, p, 16, 0); err != nil {
		t.Errorf("without launch bounds: %v", err)
	}
	check(t, r.stream.Synchronize())
}
