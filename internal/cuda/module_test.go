package cuda_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// emptyPTX is the kernel of kerneltest/empty.cu.
const emptyPTX = `.version 6.3
.target sm_70
.address_size 64
.visible .entry empty_launch()
{
	ret;
}
`

var empty = cuda.Source{Kernel: "empty_launch", PTX: []byte(emptyPTX)}

func TestFunction(t *testing.T) {
	thread := gputest.Open(t)
	c := thread.Context()
	f, err := c.Function(&empty)
	must(t, err)
	s := newStream(t, thread)
	must(t, s.Launch(f, cuda.Grid{Blocks: 3, Threads: 32}, nil, 0), s.Synchronize())
	if f.Name() != "empty_launch" {
		t.Error(f.Name())
	}
	if err := s.Launch(f, cuda.Grid{Blocks: 1, Threads: 1}, nil, 5000); err == nil {
		t.Error("more parameters than a kernel may have")
	}
	_, err = c.Function(&cuda.Source{Kernel: "nothing", PTX: []byte(emptyPTX)})
	if err == nil || !strings.Contains(err.Error(), "find nothing in its module (cuModuleGetFunction)") {
		t.Error(err)
	}
}

// Machine code that the driver refuses leaves the PTX, which is told of if it is refused too. Code
// is asked for by the device's compute capability.
func TestCodeRefused(t *testing.T) {
	thread := gputest.Open(t)
	d := thread.Context().Device()
	asked := 0
	code := func(major, minor int) []byte {
		asked++
		if major != d.Major || minor != d.Minor {
			t.Errorf("code for %d.%d on a device of %d.%d", major, minor, d.Major, d.Minor)
		}
		return append([]byte("\x7fELF no code"), make([]byte, 64)...)
	}
	f, err := thread.Context().Function(&cuda.Source{Kernel: "empty_launch", PTX: []byte(emptyPTX), Code: code})
	must(t, err)
	s := newStream(t, thread)
	must(t, s.Launch(f, cuda.Grid{Blocks: 1, Threads: 32}, nil, 0), s.Synchronize())
	newer := strings.Replace(emptyPTX, "6.3", "99.0", 1)
	_, err = thread.Context().Function(&cuda.Source{Kernel: "empty_launch", PTX: []byte(newer), Code: code})
	if wantClasses(t, err, cuda.ErrUnsupported); asked != 2 || !strings.Contains(err.Error(), "99.0") {
		t.Errorf("code was asked for %d times, and %v", asked, err)
	}
	none := func(int, int) []byte { return nil }
	_, err = thread.Context().Function(&cuda.Source{Kernel: "empty_launch", PTX: []byte(emptyPTX), Code: none})
	must(t, err)
}

// The compiler's log is whole in the error, its first line in the text, beside
// the versions that were asked for and that there are.
func TestModuleRefused(t *testing.T) {
	thread := gputest.Open(t)
	for name, ptx := range map[string]string{
		"syntax":       strings.Replace(emptyPTX, "}", "", 1),
		"version":      strings.Replace(emptyPTX, "6.3", "99.0", 1),
		"architecture": strings.Replace(emptyPTX, "sm_70", "sm_999", 1),
		"no PTX":       "rubbish",
	} {
		_, err := thread.Context().Function(&cuda.Source{Kernel: "empty_launch", PTX: []byte(ptx)})
		wantClasses(t, err, cuda.ErrUnsupported)
		var e *cuda.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		if !strings.Contains(e.Text, "the driver supports CUDA ") || !strings.Contains(e.Text, "the device compute capability ") {
			t.Errorf("%s: no versions in %s", name, e.Text)
		}
		if name == "syntax" && (e.Log == "" || !strings.Contains(err.Error(), strings.SplitN(e.Log, "\n", 2)[0])) {
			t.Errorf("%v\nlog: %s", err, e.Log)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is not one line", err.Error())
		}
	}
	must(t, thread.Context().Lost(), thread.Synchronize())
}

func TestFunctionAttributes(t *testing.T) {
	thread := gputest.Open(t)
	for _, source := range loadProbe(t, thread).Parts() {
		f, err := thread.Context().Function(source)
		must(t, err)
		a, err := f.Attributes()
		must(t, err)
		if a.MaxThreads < 32 || a.MaxThreads > 1024 || a.Registers < 1 || a.Registers > 255 || f.Name() == "probe_add" && a.MaxThreads != 256 {
			t.Errorf("%s: %+v", f.Name(), a)
		}
		few, err := f.Occupancy(32, 0)
		must(t, err)
		many, err := f.Occupancy(256, 0)
		must(t, err)
		if many < 1 || few < many {
			t.Errorf("%s: %d blocks of 32 threads, %d of 256", f.Name(), few, many)
		}
	}
}

// A kernel with dynamic shared memory may have all that there is, another one no more than 48 KiB.
func TestDynamicShared(t *testing.T) {
	thread := gputest.Open(t)
	most := uint32(thread.Context().Device().SharedPerBlock)
	f, err := kerneltest.NewBlock(thread.Context()).Kernel(dynamicKernel)
	must(t, err)
	a, err := f.Attributes()
	must(t, err)
	blocks, err := f.Occupancy(32, most-uint32(a.StaticShared))
	must(t, err)
	if blocks < 1 {
		t.Errorf("%d blocks with all of the shared memory", blocks)
	}
	s := newStream(t, thread)
	without, err := loadProbe(t, thread).Kernel(4)
	must(t, err)
	var ticks uint64
	must(t, launchSpin(s, without, cuda.Grid{Blocks: 1, Threads: 1, Shared: 48 << 10}, &ticks), s.Synchronize())
	if err := launchSpin(s, without, cuda.Grid{Blocks: 1, Threads: 1, Shared: most}, &ticks); err == nil && most > 48<<10 {
		t.Error("a launch without leave")
	}
}

// dynamicKernel is the place of block_sum.
const dynamicKernel = 1

func launchSpin(s *cuda.Stream, f *cuda.Function, g cuda.Grid, ticks *uint64) error {
	return s.Launch(f, g, unsafe.Pointer(ticks), unsafe.Sizeof(*ticks))
}
