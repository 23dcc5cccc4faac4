package emu_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

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
		{"no end", noKernels + ".visible .entry probe_spin(.param .u64 p)\n{ ret;", 218, "line 5"},
		{"no body", noKernels + ".visible .entry probe_spin(.param .u64 p)", 218, "line 4"},
		{"an unknown kernel", noKernels + ".visible .entry nobody(.param .u64 p)\n{ ret; }\n", 218, "without the kernel nobody"},
		{"other parameters", noKernels + ".visible .entry probe_spin(.param .u64 p, .param .u32 q)\n{ ret; }\n", 218, "8 bytes of parameters of probe_spin, not 12"},
	} {
		_, err := thread.Context().Function(&cuda.Source{Kernel: "probe_spin", PTX: []byte(c.ptx)})
		var e *cuda.Error
		if !errors.As(err, &e) || e.Code != c.code || !errors.Is(err, cuda.ErrUnsupported) || !strings.Contains(e.Log, c.log) {
			t.Errorf("%s: %v, log %q", c.name, err, e.Log)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	thread, _ := open(t)
	var e *cuda.Error
	if _, err := thread.Context().Function(&cuda.Source{Kernel: "nobody", PTX: []byte(noKernels)}); !errors.As(err, &e) || e.Code != 500 {
		t.Errorf("a function that the module has not: %v", err)
	}
}

// spin is a module with a kernel that the library has, and all that the text of
// a module tells of one. The kernel uses the first and the last of the shared
// variables; the last is sized by the launch.
const spin = noKernels + `
.shared .align 8 .f64 table[10][3]; // 240 bytes
.shared .align 4 .b8 other[4000];
.extern .shared .align 16 .b8 dynamic[];
.visible .entry probe_spin(
	.param .u64 .ptr .global .align 16 probe_spin_param_0
)
.maxntid 512, 1, 1
{
	.shared .align 4 .u32 local;
	mov.u64 %rd1, table+16;
	{ st.shared.u32 [local], %r1; }
	mov.u64 %rd2, dynamic;
	ret;
}
`

func TestFunctionAttributes(t *testing.T) {
	thread, _ := open(t)
	function, err := thread.Context().Function(&cuda.Source{Kernel: "probe_spin", PTX: []byte(spin)})
	check(t, err)
	a, err := function.Attributes()
	check(t, err)
	if a.StaticShared != 244 || a.MaxThreads != 512 {
		t.Errorf("%+v, not 244 bytes of static shared memory and at most 512 threads", a)
	}
	for _, c := range []struct {
		threads, shared uint32
		blocks          int
	}{{32, 0, 32}, {33, 0, 32}, {128, 0, 16}, {512, 0, 4}, {512, 40 << 10, 2}, {513, 0, 0}} {
		if n, err := function.Occupancy(c.threads, c.shared); err != nil || n != c.blocks {
			t.Errorf("%d blocks of %d threads and %d bytes, not %d: %v", n, c.threads, c.shared, c.blocks, err)
		}
	}
	stream, err := thread.NewStream()
	check(t, err)
	ticks := uint64(0)
	for shared, good := range map[uint32]bool{64 << 10: true, 96<<10 - 244: true, 96<<10 - 243: false} {
		grid := cuda.Grid{Blocks: 1, Threads: 1, Shared: shared}
		if err := stream.Launch(function, grid, unsafe.Pointer(&ticks), 8); (err == nil) != good {
			t.Errorf("%d bytes of dynamic shared memory: %v", shared, err)
		}
	}
	check(t, stream.Close())
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
