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
