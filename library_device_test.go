package gagg_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// deviceQuery is a query with many groups, some thousand more than a tiny device has room for.
func deviceQuery(t *testing.T, rows int) gagg.Query {
	return gagg.Query{From: gagg.Files(randomFile(t, rows)), By: []string{"i", "s"}, Aggs: exprs("count(*)", "sum(i)", "max(x)")}
}

// settled waits until no more goroutines run and no more buffers are held than before a test's
// run, and nothing is open on a device.
func settled(t *testing.T) (check func()) {
	goroutines, live := runtime.NumGoroutine(), hostmem.Live()
	return func() {
		t.Helper()
		gputest.Closed(t)
		for end := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > goroutines || hostmem.Live() > live; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				stack := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, %d before; %d bytes of buffers\n%s", runtime.NumGoroutine(), goroutines, hostmem.Live()-live, stack[:runtime.Stack(stack, true)])
			}
		}
	}
}

// F72: whenever a run on a device is cancelled, it ends soon, with the context's error or with
// its rows, and leaves nothing.
func TestDeviceCancel(t *testing.T) {
	gputest.Need(t, 1)
	q := deviceQuery(t, 12_000)
	tries := 6
	if testing.Short() {
		tries = 3
	}
	for _, way := range deviceWays {
		for _, device := range []string{"gpu", "auto"} {
			t.Run(way.name+"/"+device, func(t *testing.T) {
				o := gagg.Tuned(way.opt, gagg.DevicePays(), gagg.PassLeast(1))
				o.Device = device
				began := time.Now()
				want := mustAnswer(t, q, o)
				whole := time.Since(began)
				for range tries {
					check := settled(t)
					after := time.Duration(rand.Int64N(int64(whole)))
					got, err := cancelled(t, q, o, after)
					if err == nil && !slices.Equal(got, want) || err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("after %v of %v: %d rows of %d, error %v", after, whole, len(got), len(want), err)
					}
					check()
				}
			})
		}
	}
}

// endWithin is how long a cancelled run may take on a busy machine that emulates its device.
const endWithin = 8 * time.Second

// cancelled runs a query that is cancelled after some time.
func cancelled(t *testing.T, q gagg.Query, o gagg.Options, after time.Duration) (lines []string, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	at := make(chan time.Time, 1)
	timer := time.AfterFunc(after, func() { at <- time.Now(); cancel() })
	o.TempDir = t.TempDir()
	rows, held, err := gagg.RunHeld(ctx, q, o)
	if err == nil {
		for rows.Next() {
			lines = append(lines, linesOf(rows.Record().Columns())...)
		}
		err = rows.Err()
		rows.Release()
	}
	if !timer.Stop() {
		if took := time.Since(bounded.Receive(t, "the end of the context", at)); took > endWithin {
			t.Errorf("it took %v to end", took)
		}
	}
	// a device may still be opened
	for end := time.Now().Add(30 * time.Second); held() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes of the memory limit are still held; error %v", held(), err)
		}
	}
	if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
		t.Errorf("left in the temp folder: %v", left)
	}
	return lines, err
}

// Rows that nobody reads to their end are released with all that a device holds, even while it is
// still opened.
func TestDeviceReleasedEarly(t *testing.T) {
	gputest.Need(t, 1)
	q := deviceQuery(t, 12_000)
	for _, way := range deviceWays {
		for _, device := range []string{"gpu", "auto"} {
			for _, records := range []int{0, 1, 3} {
				check := settled(t)
				o := gagg.Tuned(way.opt, gagg.DevicePays(), gagg.PassLeast(1))
				o.Device = device
				rows, err := gagg.Run(t.Context(), q, o)
				if err != nil {
					t.Fatal(err)
				}
				for range records {
					rows.Next()
				}
				rows.Release()
				if err := rows.Err(); err != nil {
					t.Errorf("%s, %s, released after %d records: %v", way.name, device, records, err)
				}
				check()
			}
		}
	}
}

// Runs in one process share a device, each with memory of its own.
func TestDeviceRunsAtOnce(t *testing.T) {
	gputest.Need(t, 1)
	q := deviceQuery(t, 12_000)
	want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
	check := settled(t)
	var runs sync.WaitGroup
	for i := range 4 {
		o := gagg.Tuned(deviceWays[i%len(deviceWays)].opt, gagg.PassLeast(1))
		o.Device = "gpu"
		runs.Go(func() {
			if got, err := answer(t, q, o); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d rows of %d, error %v", len(got), len(want), err)
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", runs.Wait)
	check()
}

// If a device has no room for a partition in the memory of each merger's pass, fewer mergers have
// a pass.
func TestDevicePassesHaveRoom(t *testing.T) {
	gputest.Need(t, 1)
	tr := &trial{table: datagen.New(datagen.Spec{Rows: 40_000, Columns: []datagen.Column{{Name: "k", Type: column.Type{Kind: column.Int64}}}})}
	q := func() gagg.Query {
		return gagg.Query{From: parquetAs(datagen.Layout{RowGroup: 500})(t, tr), By: []string{"k"}, Aggs: exprs("count(*)")}
	}
	want := mustAnswer(t, q(), gagg.Options{Device: "cpu"})
	for _, kept := range []int64{0, 8 << 20} {
		tuned := tune{gagg.PassLeast(1), gagg.PinnedRetainBytes(kept)}
		got, stats, err := answerStats(t, q(), tuned.of(gagg.Options{Device: "gpu", Threads: 8, Streams: 1, GPUMemory: 1200 << 10, Partitions: 2}))
		d := stats.Devices
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d rows, %d wanted, or others; %v", len(got), len(want), err)
		}
		if len(d) != 1 || d[0].BucketRows < 10_000 || d[0].FullBuckets > 0 {
			t.Errorf("%+v", d)
		}
	}
}

// The groups of several devices meet on the first one, unless it has no room for them or they
// have lists. In each case they are put out once.
func TestDeviceGroupsMeet(t *testing.T) {
	tuned := tune{gagg.PassLeast(1)}
	gputest.Need(t, 2)
	tr := &trial{table: datagen.New(datagen.Spec{Rows: 12_000, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.Int64}, Distinct: 9000}, {Name: "i", Type: column.Type{Kind: column.Int32}},
	}})}
	for _, x := range []struct {
		name   string
		agg    string
		device string
		memory int64
		meet   []bool // what may be
	}{
		{"room", "sum(i)", "0,1", 32 << 20, []bool{true}},
		{"in another order", "sum(i)", "1,0", 32 << 20, []bool{true}},
		{"room for few", "sum(i)", "0,1", tinyDevice, []bool{false}},
		// one of them may have all rows
		{"lists", "median(i)", "0,1", 48 << 20, []bool{false, true}},
	} {
		for _, o := range []gagg.Options{{}, {NoGPUDecoding: x.agg != "median(i)"}} {
			o = tuned.of(o)
			q := gagg.Query{From: parquetAs(datagen.Layout{RowGroup: 500})(t, tr), By: []string{"k"}, Aggs: exprs("count(*)", x.agg)}
			o.Device, o.GPUMemory, o.Threads, o.Streams = x.device, x.memory, 3, 1
			want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
			check := settled(t)
			got, stats, err := answerStats(t, q, o)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %d rows, %d wanted, or others; %v", x.name, len(got), len(want), err)
			}
			d := stats.Devices
			if len(d) != 2 || d[0].Rows+d[1].Rows == 0 || d[0].Rows+d[1].Rows > 12_000 {
				t.Fatalf("%s: %+v", x.name, d)
			}
			first := &d[slices.IndexFunc(d, func(s gagg.DeviceStats) bool { return strings.HasPrefix(x.device, fmt.Sprint(s.Number)) })]
			if met := first.InCore && first.Groups == int64(len(want)); !slices.Contains(x.meet, met) {
				t.Errorf("%s: the groups meet on a device: %t\n%+v", x.name, met, d)
			} else if d[0].InCore != met || d[1].InCore != met {
				t.Errorf("%s: where groups are is not what is said of each device\n%+v", x.name, d)
			}
			check()
		}
	}
}

// Rows that have left a device come back to it if that gains something. Else the CPU aggregates
// them.
func TestDeviceBucketGain(t *testing.T) {
	gputest.Need(t, 1)
	q := gagg.Query{From: gagg.Files(randomFile(t, 12_000)), By: []string{"i", "s"}, Aggs: exprs("count(*)", "sum(i)")}
	want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
	for _, gain := range []float64{0, 1e9} {
		tuned := tune{gagg.PassLeast(1), gagg.BucketGain(gain)}
		got, stats, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice, Partitions: 4}))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("gain %g: %d rows, %d wanted, or others; %v", gain, len(got), len(want), err)
		}
		if d := stats.Devices; len(d) != 1 || d[0].EvictedRows == 0 || (d[0].Buckets > 0) != (gain == 0) {
			t.Errorf("gain %g: %+v", gain, d)
		}
	}
}
