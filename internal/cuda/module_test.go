package cuda_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
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

func TestModule(t *testing.T) {
	thread := gputest.Open(t)
	m, err := thread.LoadModule("empty", []byte(emptyPTX))
	must(t, err)
	f, err := m.Function("empty_launch")
	must(t, err)
	s := newStream(t, thread)
	must(t, s.Launch(f, cuda.Grid{Blocks: 3, Threads: 32}, nil, 0), s.Synchronize())
	if f.Name() != "empty_launch" {
		t.Error(f.Name())
	}
	if err := s.Launch(f, cuda.Grid{Blocks: 1, Threads: 1}, nil, 5000); err == nil {
		t.Error("more parameters than a kernel may have")
	}
	_, err = m.Function("nothing")
	if err == nil || !strings.Contains(err.Error(), "find nothing in empty (cuModuleGetFunction)") {
		t.Error(err)
	}
	must(t, m.Close(), m.Close())
	wantClasses(t, s.Launch(f, cuda.Grid{Blocks: 1, Threads: 1}, nil, 0), cuda.ErrClosed)
	_, err = f.Attributes()
	wantClasses(t, err, cuda.ErrClosed)
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
		_, err := thread.LoadModule(name, []byte(ptx))
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
	for _, f := range loadProbe(t, thread).Functions() {
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

// More than 48 KiB of shared memory needs leave, up to what the device has.
func TestDynamicShared(t *testing.T) {
	thread := gputest.Open(t)
	s, f := newStream(t, thread), loadProbe(t, thread).Functions()[4]
	most := uint32(thread.Context().Device().SharedPerBlock)
	grid := cuda.Grid{Blocks: 1, Threads: 1, Shared: most}
	var ticks uint64
	if err := launchSpin(s, f, grid, &ticks); err == nil && most > 48<<10 {
		t.Error("a launch without leave")
	}
	if err := f.SetDynamicShared(most + 1); err == nil {
		t.Errorf("leave for %d bytes, of %d", most+1, most)
	}
	must(t, f.SetDynamicShared(most), launchSpin(s, f, grid, &ticks), s.Synchronize())
	blocks, err := f.Occupancy(1, most)
	must(t, err)
	if blocks < 1 {
		t.Errorf("%d blocks", blocks)
	}
}

func launchSpin(s *cuda.Stream, f *cuda.Function, g cuda.Grid, ticks *uint64) error {
	return s.Launch(f, g, unsafe.Pointer(ticks), unsafe.Sizeof(*ticks))
}
