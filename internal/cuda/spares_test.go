package cuda_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// use makes and closes a stream, an event that it records, and pinned memory of two sizes: some
// that the driver makes, and some that it only pins.
func use(c *cuda.Context) error {
	return c.OnStream(func(t *cuda.Thread, s *cuda.Stream) error {
		e, err := t.NewEvent()
		if err != nil {
			return err
		}
		for _, size := range []cuda.Size{64, 5 << 20} {
			p, err := t.AllocPinned(size)
			if err != nil {
				return err
			}
			p.Bytes()[size-1] = 1
			if err := p.Close(); err != nil {
				return err
			}
		}
		return errors.Join(s.Record(e), e.Synchronize(), e.Close())
	})
}

// What was closed is there for the next that is made, in any context of the device, as long as one
// keeps it; else it is made and freed each time. Nothing is left at the end.
func TestSpares(t *testing.T) {
	e := emulator(t)
	made := func() (n int) {
		for _, call := range []string{"cuStreamCreate", "cuEventCreate", "cuMemHostAlloc", "cuMemHostRegister_v2"} {
			n += e.Calls()[call]
		}
		return n
	}
	for _, x := range []struct {
		keepers int
		free    bool // the pinned memory, each time
		want    int  // made in three times
	}{{0, false, 12}, {1, false, 4}, {2, false, 4}, {1, true, 8}} {
		e.Reset()
		all := contexts(t, 3)
		for _, c := range all[:x.keepers] {
			c.KeepSpares()
		}
		for range 3 {
			must(t, use(all[2]))
			if x.free {
				must(t, all[0].FreePinnedSpares())
			}
		}
		if n := made(); n != x.want {
			t.Errorf("%+v: %d were made", x, n)
		}
		for i, c := range all {
			must(t, c.Close())
			if before := made(); i < len(all)-1 { // all[1] keeps them yet, or nobody does
				must(t, use(all[2]))
				if kept := made() == before; kept != (i < x.keepers-1) {
					t.Errorf("%+v: with %d contexts closed spares are kept: %t", x, i+1, kept)
				}
			}
		}
		if leaks := e.Leaks(); leaks != nil {
			t.Errorf("%+v: left: %q", x, leaks)
		}
	}
}

// A lost context keeps nothing, and says nothing of it.
func TestSparesLost(t *testing.T) {
	e := emulator(t)
	e.Reset()
	all := contexts(t, 2)
	all[0].KeepSpares()
	must(t, use(all[1]))
	e.Fault("cuEventRecord", 1, 700, true)
	wantClasses(t, use(all[1]), cuda.ErrLost, cuda.ErrLaunch)
	must(t, all[0].FreePinnedSpares(), all[1].Close(), all[0].Close())
}

// Device memory that was closed is given again for the same size or a little less, counts as free,
// and is freed for an allocation that does not fit beside it.
func TestSpareMemory(t *testing.T) {
	e := emulator(t)
	e.Reset()
	all := contexts(t, 2)
	all[0].KeepSpares()
	thread, err := all[1].Lock()
	must(t, err)
	info := func() cuda.Size {
		free, _, err := thread.MemoryInfo()
		must(t, err)
		return free
	}
	alloc := func(n cuda.Size) {
		t.Helper()
		m, err := thread.Alloc(n)
		must(t, err)
		if m.Span().Size != n {
			t.Errorf("%v bytes, want %v", m.Span().Size, n)
		}
		must(t, m.Close())
	}
	before := info()
	for _, x := range []struct {
		size cuda.Size
		made int // by the driver, so far
	}{{8000, 1}, {8000, 1}, {7500, 1}, {7000, 2}, {9000, 3}, {8000, 3}} {
		if alloc(x.size); e.Calls()["cuMemAlloc_v2"] != x.made || e.Calls()["cuMemFree_v2"] > 0 {
			t.Errorf("%+v: calls %v", x, e.Calls())
		}
	}
	if after := info(); after != before {
		t.Errorf("%v are free, before %v", after, before)
	}
	e.Fault("cuMemAlloc_v2", 1, 2, false) // no memory is left
	if alloc(100); e.Calls()["cuMemFree_v2"] != 3 {
		t.Errorf("spares are in the way: calls %v", e.Calls())
	}
	alloc(all[0].Device().Memory/4 + 1) // too large to be kept
	if e.Calls()["cuMemFree_v2"] != 4 {
		t.Errorf("calls %v", e.Calls())
	}
	thread.Unlock()
	must(t, all[1].FreeMemorySpares())
	must(t, all[0].Close(), all[1].Close())
	if leaks := e.Leaks(); leaks != nil {
		t.Errorf("left: %q", leaks)
	}
}
