package gagg_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Devices group by the keys and the argument whose values are counted, and the CPU counts them of
// these groups.
func TestDeviceCounted(t *testing.T) {
	gputest.Need(t, 1)
	from := gagg.Files(regroupFile(t, 4_000))
	for i, x := range countedTrials {
		if x.not {
			continue
		}
		q := gagg.Query{
			From: from, By: items(x.by, ";"), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, Having: x.having,
			OrderBy: items(x.order, ","), Limit: x.limit,
		}
		tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1), gagg.CountsValues()}
		want, _, wantErr := answerStats(t, q, tune{gagg.CountsNone()}.of(gagg.Options{Device: "cpu"}))
		for k, o := range []gagg.Options{{}, {MemoryLimit: 64 << 20}, {NoGPUDecoding: true}} {
			if k > 0 && (i+k)%2 == 0 {
				continue
			}
			o.Device, o.Threads, o.Streams, o.GPUMemory = "gpu", 2, 1, 32<<20
			plan, err := gagg.Plan(t.Context(), q, tuned.of(o))
			if err != nil {
				t.Fatal(err)
			}
			got, s, err := answerStats(t, q, tuned.of(o))
			if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
				t.Errorf("%+v: %v, want %v; %q, want %q", x, err, wantErr, got, want)
			}
			if k == 0 && (plan.GPU == nil || len(s.Fallbacks) > 0) != x.workers {
				t.Errorf("%+v: %s, %v", x, plan, s.Fallbacks)
			}
		}
	}
}

// Where a device may be used the CPU still counts values first, where nothing tells how often they
// come; if they come too seldom, the device has the run that begins anew, and keeps lists. If a
// device pays, it goes on counting. One that is asked for has all rows. It counts where it keeps no
// lists in place of it, and else only where keys and values can have no more groups than rows.
func TestDeviceCountedTried(t *testing.T) {
	gputest.Need(t, 1)
	from := gagg.Files(regroupFile(t, 20_000))
	for _, x := range []struct {
		agg     string // of a column with any number of values, or one with few
		option  string
		repeats float64
		pays    gagg.Change
		again   int
		device  string
		counts  bool // on the device, which groups by the keys and the value
	}{
		{"median(i)", "auto", 1, gagg.DevicePays(), 0, "cpu", false},
		{"median(i)", "auto", 1e6, gagg.DevicePays(), 1, "gpu:0", false},
		{"median(i)", "auto", 1, gagg.DeviceNear(), 1, "gpu:0", true},
		{"median(i)", "gpu", 1, gagg.DevicePays(), 0, "gpu:0", false},
		{"entropy(i)", "gpu", 1, gagg.DevicePays(), 0, "gpu:0", true},
		{"approx_count_distinct(i)", "gpu", 1, gagg.DevicePays(), 0, "gpu:0", true},
		{"median(length(s))", "gpu", 1, gagg.DevicePays(), 0, "gpu:0", true},
	} {
		q := gagg.Query{From: from, By: []string{"s"}, Aggs: exprs(x.agg, "count(*)"), Where: "b"}
		want := mustAnswer(t, q, tune{gagg.CountsNone()}.of(gagg.Options{Device: "cpu"}))
		var log bytes.Buffer
		o := tune{x.pays, gagg.CountsTried(x.repeats)}.of(gagg.Options{
			Device: x.option, Threads: 1, BatchRows: 100, GPUMemory: 32 << 20, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		got, s, err := answerStats(t, q, o)
		if again := strings.Count(log.String(), "read again"); err != nil || again != x.again || s.Device != x.device || !slices.Equal(got, want) {
			t.Errorf("%+v: on %s, %d times anew, %v; %q, want %q", x, s.Device, again, err, got, want)
		}
		if s.Device != "cpu" && (len(s.Distinct) > 0) != x.counts {
			t.Errorf("%+v: groups by values: %v", x, s.Distinct)
		}
	}
}
