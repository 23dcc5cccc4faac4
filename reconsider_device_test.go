package gagg_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// A run of which the plan cannot tell what is faster begins on the CPU, and begins anew with a
// device once workers have seen that it pays: the answer is the same, also if that device cannot be
// opened.
func TestDeviceReconsidered(t *testing.T) {
	gputest.Need(t, 1)
	e, emulated := emu.Control()
	q := gagg.Query{From: gagg.Files(randomFile(t, 50_000)), By: []string{"i"}, Aggs: exprs("count(*)", "sum(x)"), Where: "i > -5"}
	want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
	for _, x := range []struct {
		name   string
		tuned  gagg.Change
		fault  string // the driver's call that fails; "": none
		device string
		again  int
	}{
		{"reconsidered", gagg.DeviceReconsidered(), "", "gpu:0", 1},
		{"no context", gagg.DeviceReconsidered(), "cuDevicePrimaryCtxRetain", "cpu", 1},
		{"nearly as fast", gagg.DeviceNear(), "", "gpu:0", 1},
		{"from its beginning", gagg.DevicePays(), "", "gpu:0", 0},
		{"few rows are the CPU's", gagg.FewFrom(0), "", "cpu", 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.fault != "" {
				if !emulated {
					t.Skip("faults are the emulator's")
				}
				defer e.Reset()
				e.Fault(x.fault, 1, 2, true)
			}
			var log bytes.Buffer
			o := gagg.Options{Threads: 1, GPUMemory: 32 << 20, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
			got, s, err := answerStats(t, q, tune{x.tuned}.of(o))
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q, want %q; %v", got, want, err)
			}
			if again := strings.Count(log.String(), "read again"); again != x.again || s.Device != x.device {
				t.Errorf("on %s, %d times anew, want %s, %d; %s", s.Device, again, x.device, x.again, &log)
			}
		})
	}
}
