package gputest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// recorder stands for the test that opens the device, and notes what it is told.
type recorder struct {
	testing.TB
	cleanups               []func()
	skipped, failed, fatal bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Cleanup(f func())      { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Skipf(string, ...any)  { r.skipped = true }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.fatal = true }

func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}

func TestNothingLeft(t *testing.T) {
	thread := Open(t)
	m, err := thread.Alloc(1000)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a test leaves open fails it.
func TestLeak(t *testing.T) {
	Open(t) // skips without a device
	defer func(before time.Duration) { closedWithin = before }(closedWithin)
	closedWithin = 0
	r := &recorder{TB: t}
	thread := Open(r)
	m, err := thread.Alloc(1000)
	if err != nil {
		t.Fatal(err)
	}
	r.end()
	if !r.failed {
		t.Error("memory was left, and the test has not failed")
	}
	if err := errors.Join(m.Close(), thread.Context().Close()); err != nil {
		t.Error(err)
	}
}

// An absent device skips a test, and fails it where it is required.
func TestAbsent(t *testing.T) {
	for _, c := range []struct {
		require string
		err     error
		skipped bool
	}{
		{"", cuda.ErrNoDriver, true},
		{"", cuda.ErrNoDevice, true},
		{"1", cuda.ErrNoDriver, false},
		{"", os.ErrInvalid, false},
	} {
		t.Setenv(requireVariable, c.require)
		r := &recorder{TB: t}
		giveUp(r, c.err)
		if r.skipped != c.skipped || r.fatal == c.skipped {
			t.Errorf("%v, required %q: skipped %v, failed %v", c.err, c.require, r.skipped, r.fatal)
		}
	}
}

// Each call is there once, but for polls, of which there are few however often a life made them.
func TestCalls(t *testing.T) {
	got := Calls(map[string]int{"cuMemAlloc_v2": 2, "cuEventQuery": 5000, "cuCtxSynchronize": 1})
	want := []Call{{"cuCtxSynchronize", 1}}
	for nth := 1; nth <= pollsFailed; nth++ {
		want = append(want, Call{"cuEventQuery", nth})
	}
	want = append(want, Call{"cuMemAlloc_v2", 1}, Call{"cuMemAlloc_v2", 2})
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A test alone runs in another process, and its failure is taken over.
func TestAlone(t *testing.T) {
	t.Run("a (b) c", func(t *testing.T) {
		if !Alone(t) {
			return
		}
		if os.Getenv(aloneVariable) != t.Name() {
			t.Error("not in a process of its own")
		}
	})
	if os.Getenv(aloneVariable) == "" && os.Getenv("GAGG_TEST_FAIL") == "" {
		t.Setenv("GAGG_TEST_FAIL", "1")
		if output, err := aloneOutput(t, "TestAloneFails"); err == nil || !strings.Contains(output, "on purpose") {
			t.Errorf("a failure alone: %v\n%s", err, output)
		}
	}
}

// TestAloneFails is for TestAlone, and does nothing by itself.
func TestAloneFails(t *testing.T) {
	if os.Getenv("GAGG_TEST_FAIL") == "" {
		t.Skip("run by TestAlone")
	}
	t.Error("on purpose")
}
