package cuda_test

import (
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// contexts opens n contexts of device 0, by a driver that nobody else has.
func contexts(t *testing.T, n int) []*cuda.Context {
	t.Helper()
	driver, err := cuda.OpenAnew()
	must(t, err)
	all := make([]*cuda.Context, n)
	for i := range all {
		all[i], err = driver.Context(0)
		must(t, err)
	}
	return all
}

// fill launches a kernel through a context of its own thread and looks at what it did.
func fill(c *cuda.Context) (err error) {
	thread, err := c.Lock()
	if err != nil {
		return err
	}
	defer thread.Unlock()
	memory, err := thread.Alloc(8)
	if err != nil {
		return err
	}
	defer closing(&err, memory)
	s, err := thread.NewStream()
	if err != nil {
		return err
	}
	defer closing(&err, s)
	got := make([]byte, 8)
	err = errors.Join(kerneltest.NewProbe(c).Fill(s, cuda.Grid{Blocks: 1, Threads: 32}, memory.Span().Ptr, 1, 7), s.Synchronize(), thread.Read(got, memory.Span()))
	if err == nil && got[0] != 7 {
		err = errors.New("the kernel has done nothing")
	}
	return err
}

// What one context of a device has loaded the others get without a call, even after that one is
// closed. The last one unloads it, and the next one begins anew.
func TestModulesStay(t *testing.T) {
	e := emulator(t)
	e.Reset()
	all := contexts(t, 3)
	for i, c := range all[:2] {
		before := e.Calls()
		_, err := c.Function(&empty)
		must(t, err, c.Load(&empty, &empty))
		if calls := e.Calls(); maps.Equal(before, calls) != (i > 0) {
			t.Errorf("context %d: calls %v before, then %v", i, before, calls)
		}
		must(t, fill(c), c.Close())
	}
	if n := e.Calls()["cuModuleLoadDataEx"]; n != 2 {
		t.Errorf("%d modules loaded, want 2", n)
	}
	must(t, fill(all[2]))
	if n := e.Calls()["cuModuleUnload"]; n != 0 {
		t.Errorf("%d modules unloaded while a context is open", n)
	}
	must(t, all[2].Close())
	if n := e.Calls()["cuModuleUnload"]; n != 2 {
		t.Errorf("%d modules unloaded, want 2", n)
	}
	again := contexts(t, 1)[0]
	must(t, fill(again), again.Close())
	if leaks := e.Leaks(); leaks != nil {
		t.Errorf("left: %q", leaks)
	}
}

// Goroutines with contexts of their own load the same kernels at once, each of which is loaded
// once.
func TestLoadAtOnce(t *testing.T) {
	e := emulator(t)
	e.Reset()
	all := contexts(t, 4)
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, c := range all {
		group.Go(func() {
			probe := kerneltest.NewProbe(c)
			errs[i] = errors.Join(c.Load(probe.Parts()...), fill(c))
		})
	}
	bounded.Wait(t, "the goroutines of the test", group.Wait)
	must(t, errs...)
	if n := e.Calls()["cuModuleLoadDataEx"]; n != len(kerneltest.NewProbe(all[0]).Parts()) {
		t.Errorf("%d modules loaded", n)
	}
	for _, c := range all {
		must(t, c.Close())
	}
	if leaks := e.Leaks(); leaks != nil {
		t.Errorf("left: %q", leaks)
	}
}

// Whichever call fails while kernels are loaded, the error says so, nothing is half loaded, and
// another try loads them.
func TestLoadFails(t *testing.T) {
	e := emulator(t)
	for _, name := range []string{"cuCtxSetCurrent", "cuModuleLoadDataEx", "cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute"} {
		e.Reset()
		c := contexts(t, 1)[0]
		parts := kerneltest.NewBlock(c).Parts()
		e.Fault(name, 1, 2, false)
		wantClasses(t, c.Load(parts...), cuda.ErrOutOfMemory)
		loaded, unloaded := e.Calls()["cuModuleLoadDataEx"], e.Calls()["cuModuleUnload"]
		must(t, c.Load(parts...), c.Close())
		calls := e.Calls()
		if n := calls["cuModuleUnload"] - unloaded; n != len(parts) {
			t.Errorf("%s: %d modules at the end, want %d", name, n, len(parts))
		}
		if name != "cuCtxSetCurrent" && loaded == 0 {
			t.Errorf("%s: nothing was loaded at first", name)
		}
		if leaks := e.Leaks(); leaks != nil {
			t.Errorf("%s: left: %q", name, leaks)
		}
	}
}
