package gagg

import (
	"context"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/trace/tracetest"
)

// onDevice runs a query on the bundled orders with --device gpu to its end.
func onDevice(t *testing.T, q Query, o Options) Stats {
	t.Helper()
	gputest.Need(t, 1)
	q.From, o.Device = Files("testdata/orders.parquet"), "gpu"
	rows, err := Run(context.Background(), q, o)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	stats := rows.Stats()
	rows.Release()
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return stats
}

// A run on a device tells what it did there, and when.
func TestDeviceTold(t *testing.T) {
	var timeline strings.Builder
	s := onDevice(t, Query{By: []string{"price"}, Aggs: []Agg{Sum("quantity")}}, Options{Threads: 3, Trace: &timeline})
	if s.Device != "gpu:0" || len(s.Devices) != 1 || len(s.Fallbacks) != 0 {
		t.Fatalf("%+v", s)
	}
	d := s.Devices[0]
	if d.Number != 0 || d.Name == "" || d.Start <= 0 || d.PeakMemory <= 0 || d.PeakMemory > d.Memory || d.Rows < s.Groups || d.Groups != s.Groups || !d.InCore {
		t.Errorf("%d groups: %+v", s.Groups, d)
	}
	jobs := 0
	for _, stream := range d.Streams {
		jobs += stream.Jobs
		if stream.Jobs > 0 && (stream.BytesIn <= 0 || stream.CopyIn <= 0 || stream.Kernels <= 0) {
			t.Errorf("%+v", stream)
		}
	}
	if jobs == 0 || int64(jobs) != d.Tiles {
		t.Errorf("%d jobs, %d tiles", jobs, d.Tiles)
	}
	rows := tracetest.Rows(t, timeline.String())
	kernels, seen := 0, map[string]bool{}
	for name, list := range rows {
		seen[strings.Fields(name)[0]] = true
		if strings.HasSuffix(name, ": kernels") {
			kernels += len(list)
		}
	}
	// one of them: others may have had nothing to do
	for _, name := range []string{"run", "worker", "output"} {
		if !seen[name] {
			t.Errorf("the timeline has nothing of any %s", name)
		}
	}
	if kernels != jobs {
		t.Errorf("%d jobs, but kernels of %d in the timeline", jobs, kernels)
	}
}

// What no device can do is told, not hidden.
func TestDeviceFallbackTold(t *testing.T) {
	s := onDevice(t, Query{By: []string{"region"}, Aggs: []Agg{Expr("mode(price)")}}, Options{})
	if s.Device != "cpu" || len(s.Devices) != 0 || len(s.Fallbacks) != 1 || !strings.Contains(s.Fallbacks[0].Why, "mode(") {
		t.Errorf("%+v", s)
	}
}

// So are grouping sets and samples of rows; a sample of row groups is read by the device.
func TestDeviceSetsTold(t *testing.T) {
	for why, q := range map[string]Query{
		"several grouping sets": {Sets: Rollup}, "grouping sets": {Totals: true}, "a sample is taken": {Sample: Sample{Percent: 10}},
	} {
		q.By, q.Aggs = []string{"price"}, []Agg{Sum("quantity")}
		s := onDevice(t, q, Options{})
		if s.Device != "cpu" || len(s.Fallbacks) != 1 || !strings.Contains(s.Fallbacks[0].Why, why) {
			t.Errorf("%s: %+v", why, s)
		}
	}
	groups := Query{By: []string{"price"}, Aggs: []Agg{Sum("quantity")}, Sample: Sample{Percent: 50, Groups: true}}
	if s := onDevice(t, groups, Options{}); s.Device != "gpu:0" || s.GroupsSkipped != 1 || s.Rows != 8000 {
		t.Errorf("%+v", s)
	}
}
