package gagg_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// The faults of devices in docs/faults.md that only a whole run shows.

// codes are what a driver call fails with.
var codes = []struct {
	name string
	code int
	lost bool // the device is
}{
	{"out of memory", 2, false},
	{"an uncorrectable ECC error", 214, true},
	{"an illegal address", 700, true},
	{"a launch failure", 719, true},
	{"something unknown", 999, true},
}

// deviceWays are ways of a query through a device: its groups stay there; they do not, and the
// second pass has them; rows that leave stay in pinned memory until then; writers get such rows
// from there; groups have lists; few of those on the device are wanted; there are no keys;
// groups are regrouped; there are subqueries.
var deviceWays = []struct {
	name   string
	opt    gagg.Options
	kept   int64 // bytes for rows to stay in
	direct bool  // they come back straight from there
	agg    string
	best   int64 // so many groups are wanted, below 0 without an order; 0: all
	noKeys bool
}{
	{"resident", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 8 << 20, Partitions: 4}, 0, false, "max(x)", 0, false},
	{"evicted", gagg.Options{Threads: 2, Streams: 1, GPUMemory: tinyDevice, Partitions: 4}, 0, false, "max(x)", 0, false},
	{"kept", gagg.Options{Threads: 2, Streams: 1, GPUMemory: tinyDevice, Partitions: 4}, 8 << 20, true, "max(x)", 0, false},
	{"kept, then placed", gagg.Options{Threads: 2, Streams: 1, GPUMemory: tinyDevice, MemoryLimit: 24 << 20, Partitions: 64}, 8 << 20, false, "max(x)", 0, false},
	{"lists", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 32 << 20, Partitions: 4}, 0, false, "median(x)", 0, false},
	{"selected", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 1 << 20, Partitions: 4}, 0, false, "max(x)", 5, false},
	{"limited", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 1 << 20, Partitions: 4}, 0, false, "max(x)", -5, false},
	{"no keys", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 8 << 20}, 0, false, "max(x)", 0, true},
	{"distinct", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 24 << 20, Partitions: 4}, 0, false, "count(distinct x)", 0, false},
	{"distinct, selected", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 24 << 20, Partitions: 4}, 0, false, "count(distinct x)", 5, false},
	{"subqueries", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 24 << 20, Partitions: 4}, 0, false, "count(distinct x) + count(distinct x > 1)", 0, false},
	{"distinct, no keys", gagg.Options{Threads: 2, Streams: 1, GPUMemory: 24 << 20, MemoryLimit: 48 << 20}, 0, false, "count(distinct x)", 0, true},
}

// F60: a device takes no decimal that its column does not declare; the run that follows does.
func TestDeviceDecimalsBeyondPrecision(t *testing.T) {
	tuned := tune{gagg.DevicePays()}
	gputest.Need(t, 1)
	decimalsBeyondPrecision(t, tuned.of(gagg.Options{Device: "gpu", GPUMemory: 32 << 20}))
}

// F64, F67, F68: whichever driver call of a query fails, once or from then on, the whole answer
// comes from the CPU if no device was asked for. Else it is right, since a run does with less
// memory, or the error is an ErrDevice. Nothing is left.
func TestDeviceFaults(t *testing.T) {
	gputest.Need(t, 1)
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	q := gagg.Query{From: gagg.Files(randomFile(t, 12_000)), By: []string{"i", "s"}}
	stride := 127 // from anywhere on, and with any code: some runs of the tests have every call
	if testing.Short() {
		stride = 229
	}
	for _, way := range deviceWays {
		q := q
		if q.Aggs = exprs("count(*)", "sum(i)", way.agg); way.noKeys {
			q.By = nil
		}
		if way.best > 0 {
			q.OrderBy, q.Limit = []string{"-" + way.agg}, way.best
		} else if way.best < 0 {
			q.Limit = -way.best
		}
		want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
		for _, device := range []string{"gpu", "auto"} {
			t.Run(way.name+"/"+device, func(t *testing.T) {
				f := deviceTrial{query: q, opt: gagg.Tuned(way.opt, gagg.DevicePays(), gagg.PassLeast(1), gagg.PinnedRetainBytes(way.kept)), want: want, e: e, kept: way.kept > 0, direct: way.direct}
				f.opt.Device = device
				calls, code := f.calls(t), rand.IntN(len(codes))
				for i := rand.IntN(stride); i < len(calls); i += stride {
					code = (code + 1) % len(codes)
					f.failing(t, calls[i], code, rand.IntN(2) == 0)
				}
			})
		}
	}
}

// A run whose device fails goes through the phases of internal/exec/phase.go: the input is read
// again, before anything is put out or after.
func TestDevicePhases(t *testing.T) {
	gputest.Need(t, 1)
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	way := deviceWays[1]
	q := gagg.Query{From: gagg.Files(randomFile(t, 12_000)), By: []string{"i", "s"}, Aggs: exprs("count(*)", "sum(i)", way.agg)}
	f := deviceTrial{query: q, opt: gagg.Tuned(way.opt, gagg.DevicePays(), gagg.PassLeast(1), gagg.PinnedRetainBytes(0)), want: mustAnswer(t, q, gagg.Options{Device: "cpu"}), e: e}
	f.opt.Device = "auto"
	calls, seen := f.calls(t), map[string]bool{}
	const launchFailure, trials = 3, 24
	for i := range trials {
		var log phaseLog
		f.opt.Logger = slog.New(&log)
		f.failing(t, calls[i*len(calls)/trials], launchFailure, true)
		seen[strings.Join(log.names, ", ")] = true
	}
	for _, phases := range []string{"rescanning, output by the CPU", "output, regrouping, output by the CPU"} {
		if !seen[phases] {
			t.Errorf("no run was %s: %v", phases, seen)
		}
		delete(seen, phases)
	}
	delete(seen, "output") // the device failed too late, or was not waited for
	if len(seen) > 0 {
		t.Errorf("phases that do not follow each other: %v", seen)
	}
}

// phaseLog is a log that keeps the phases of a run.
type phaseLog struct {
	mu    sync.Mutex
	names []string
}

func (l *phaseLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *phaseLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *phaseLog) WithGroup(string) slog.Handler            { return l }

func (l *phaseLog) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Message == "phase" {
		r.Attrs(func(a slog.Attr) bool {
			l.names = append(l.names, a.Value.String())
			return true
		})
	}
	return nil
}

// deviceTrial is a query that is run again and again.
type deviceTrial struct {
	query gagg.Query
	opt   gagg.Options
	want  []string
	e     *emu.Emu

	kept, direct bool // rows stay in pinned memory, and come back straight from there
}

// calls are about the driver calls of a run that the device takes part in.
func (f *deviceTrial) calls(t *testing.T) []gputest.Call {
	t.Helper()
	f.e.Reset()
	stats, err := f.run(t, false)
	if err != nil || len(stats.Devices) == 0 || stats.Devices[0].Rows == 0 || stats.Devices[0].InCore != (stats.Devices[0].Evictions == 0) ||
		f.kept != (stats.Devices[0].KeptRows > 0) || (len(stats.Distinct) > 0) != (stats.Devices[0].Regrouped > 0) || f.direct != (stats.Devices[0].DirectRows > 0) {
		t.Fatalf("error %v, devices %+v", err, stats.Devices)
	}
	return gputest.Calls(f.e.Calls())
}

// failing is a run one of whose driver calls fails, or all of that function from it on.
func (f *deviceTrial) failing(t *testing.T, call gputest.Call, code int, forever bool) {
	t.Helper()
	c := codes[code]
	f.e.Reset()
	defer f.e.Reset()       // what a lost device has
	if forever && !c.lost { // it is memory that is out, not the driver
		f.e.Fault("cuMemAlloc_v2", 1+call.Nth%30, c.code, true)
		f.e.Fault("cuMemHostAlloc", 1+call.Nth%30, c.code, true)
	} else {
		f.e.Fault(call.Name, call.Nth, c.code, forever)
	}
	_, err := f.run(t, c.lost)
	switch {
	case err == nil:
	case f.opt.Device == "auto":
		t.Errorf("%s at %v, forever %t: error %v, though the CPU could go on", c.name, call, forever, err)
	case !isKind(err, gagg.ErrDevice):
		t.Errorf("%s at %v, forever %t: error %v", c.name, call, forever, err)
	}
	if t.Failed() {
		t.Fatalf("%s at %v, forever %t", c.name, call, forever)
	}
}

// run runs the query and checks what holds in any case. Pinned memory of a device that is lost
// stays where it is, and counted.
func (f *deviceTrial) run(t *testing.T, lost bool) (stats gagg.Stats, err error) {
	t.Helper()
	goroutines, live := runtime.NumGoroutine(), hostmem.Live()
	o := f.opt
	o.TempDir = t.TempDir()
	var got []string
	rows, held, err := gagg.RunAwaiting(t.Context(), f.query, o)
	if err == nil {
		for rows.Next() {
			got = append(got, linesOf(rows.Record().Columns())...)
		}
		stats = rows.Stats()
		err = rows.Err()
		rows.Release()
		err = errors.Join(err, releaseError(rows, err))
	}
	if err == nil && !slices.Equal(got, f.want) {
		t.Errorf("%d rows that are wrong, %d wanted, and no error", len(got), len(f.want))
	}
	if !lost { // what belongs to a lost device stays there
		gputest.Closed(t)
	}
	for end := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stack := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), goroutines, stack[:runtime.Stack(stack, true)])
		}
	}
	left, _ := os.ReadDir(o.TempDir)
	if n, buffers := held(), hostmem.Live()-live; !lost && n+buffers != 0 || buffers > n || len(left) > 0 {
		t.Errorf("%d bytes of the memory limit are still held, %d of buffers, and files %v; error %v", n, buffers, left, err)
	}
	return stats, err
}

// F69: rows that are lost or doubled on their way to a device, on it, or on their way back are
// found by a count: a bit of it that flips is an ErrDevice, or, if no group was put out before,
// the answer is the CPU's. For groups that stay on a device, and rows that are kept there, that
// is known at the end. A bit of another word is not found, but a bit of a column chunk is if its
// page makes no sense any more: the host has checked the checksum.
func TestDeviceFlippedBits(t *testing.T) {
	gputest.Need(t, 1)
	q := deviceQuery(t, 12_000)
	q.Aggs = exprs("count(*)")
	want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
	const key, count = 1, 3 // words of a row, behind its hash
	for _, x := range []struct {
		way    int
		device string
		word   int
		found  bool
		redone bool
	}{
		{0, "gpu", count, true, false},
		{1, "gpu", count, true, false},
		{0, "auto", count, true, false},
		{1, "auto", count, true, true},
		{2, "gpu", count, true, false},
		{2, "auto", count, true, false},
		{0, "gpu", key, false, false},
	} {
		t.Run(fmt.Sprintf("%s/%s/%d", deviceWays[x.way].name, x.device, x.word), func(t *testing.T) {
			way := deviceWays[x.way]
			tuned := tune{gagg.DevicePays(), gagg.PassLeast(1), gagg.PinnedRetainBytes(way.kept), gagg.FlipBit(x.word)}
			f := deviceTrial{query: q, opt: tuned.of(way.opt), want: want}
			f.opt.Device, f.opt.NoGPUDecoding = x.device, true
			rows, _, err := gagg.RunAwaiting(t.Context(), q, f.opt)
			var got []string
			if err == nil {
				for rows.Next() {
					got = append(got, linesOf(rows.Record().Columns())...)
				}
				err = rows.Err()
				rows.Release()
			}
			switch {
			case !x.found || x.redone:
				if err != nil || slices.Equal(got, want) != x.redone {
					t.Errorf("%d rows of %d, error %v", len(got), len(want), err)
				}
			case !errors.Is(err, gpu.ErrRows) || !isKind(err, gagg.ErrDevice):
				t.Errorf("error %v", err)
			}
		})
	}
}
