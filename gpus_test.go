package gagg_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

func TestDeviceNames(t *testing.T) {
	for _, device := range []string{"", "auto", "cpu", "x", "0,0"} {
		if _, err := gagg.OpenGPUs(t.Context(), device); !errors.Is(err, gagg.ErrUsage) {
			t.Errorf("%q: error %v", device, err)
		}
	}
	if _, err := gagg.OpenGPUs(t.Context(), "60000"); !errors.Is(err, gagg.ErrDevice) {
		t.Errorf("a device that is not there: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if g, err := gagg.OpenGPUs(ctx, "0"); err == nil {
		err = g.Close()
		if err != nil {
			t.Error(err)
		}
	} else if !errors.Is(err, context.Canceled) && !errors.Is(err, gagg.ErrDevice) {
		t.Errorf("cancelled: error %v", err)
	}
}

// Runs use devices that are kept open, and leave them open with the kernels that are loaded and the
// memory that they had.
func TestDeviceStaysOpen(t *testing.T) {
	gputest.Need(t, 1)
	gputest.Closed(t)
	g, err := gagg.OpenGPUs(t.Context(), "gpu")
	if err != nil {
		t.Fatal(err)
	}
	q := gagg.Query{From: gagg.Files("testdata/orders.parquet"), By: []string{"region"}, Aggs: []gagg.Agg{gagg.Expr("count(*)")}}
	loaded, allocated := 0, 0
	for run := range 2 {
		rows, err := gagg.Run(t.Context(), q, gagg.Options{Device: "gpu", GPUs: g, Streams: 1})
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			rows.Record()
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if s := rows.Stats(); s.Device != "gpu:0" {
			t.Errorf("computed on %s", s.Device)
		}
		rows.Release()
		if e, emulated := emu.Control(); emulated {
			n := e.Calls()["cuModuleLoadDataEx"]
			if n == 0 || run > 0 && n != loaded {
				t.Errorf("run %d: %d modules loaded in all, %d before", run, n, loaded)
			}
			if calls := e.Calls()["cuMemAlloc_v2"]; run > 0 && calls != allocated {
				t.Errorf("run %d: device memory allocated %d times in all, %d before", run, calls, allocated)
			}
			loaded, allocated = n, e.Calls()["cuMemAlloc_v2"]
		}
	}
	for range 2 {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A run uses the device that is open, whichever it is, unless it names another; "auto" leaves small
// inputs to the CPU.
func TestDeviceOpenIsUsed(t *testing.T) {
	gputest.Need(t, 2)
	gputest.Closed(t)
	g, err := gagg.OpenGPUs(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	q := gagg.Query{From: gagg.Files(randomFile(t, 2_000)), By: []string{"i", "s"}, Aggs: exprs("count(*)")}
	for _, x := range []struct {
		device, want string
		pays         bool
	}{{"auto", "gpu:1", true}, {"gpu", "gpu:1", true}, {"0", "gpu:0", true}, {"auto", "cpu", false}, {"gpu", "gpu:1", false}} {
		o := gagg.Options{Device: x.device, GPUs: g, Threads: 2, Streams: 1, GPUMemory: 8 << 20}
		if x.pays {
			o = gagg.Tuned(o, gagg.DevicePays())
		}
		if _, s, err := answerStats(t, q, o); err != nil || s.Device != x.want {
			t.Errorf("%+v: computed on %s; %v", x, s.Device, err)
		}
	}
}
