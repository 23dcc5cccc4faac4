package plan

import (
	"cmp"
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/query"
)

// orders is the bundled orders.
var orders = input.Files("../../testdata/orders.parquet")

// grouped is a query by keys, of aggregates.
func grouped(by string, aggs ...string) query.Query {
	q := query.Query{By: []string{by}}
	for _, a := range aggs {
		q.Aggs = append(q.Aggs, query.Agg{Text: a})
	}
	return q
}

// planning has a query planned as far as to its keys: where a device would be there. No sample is
// taken.
func planning(t *testing.T, from input.Source, q query.Query, o Options) *planner {
	t.Helper()
	in, err := from.Open(context.Background(), input.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	compiled, err := query.Compile(in, q)
	if err != nil {
		t.Fatal(err)
	}
	scan, err := in.Scan(Scan(compiled, o))
	if err != nil {
		t.Fatal(err)
	}
	o.Tuning, o.Load = DefaultTuning(), feedback.DefaultLoadConfig
	o.Tuning.Sampling.From = math.MaxInt64
	p := newPlanner(Inputs{Query: compiled, Input: in, Scan: scan, Options: o})
	if err := p.planThreads(); err != nil {
		t.Fatal(err)
	}
	p.placeKeys()
	return p
}

// spec is a specification of devices.
func spec(t *testing.T, text string) device.Spec {
	t.Helper()
	d, err := device.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Whether CPU or device computes is decided before a device is looked for, and once more by the
// same facts if there is none.
func TestDecideDevice(t *testing.T) {
	t.Parallel()
	const sum, mode = "sum(quantity)", "mode(quantity)"
	for _, x := range []struct {
		device string
		rows   int64
		agg    string
		use    bool
		reason string
	}{
		{"auto", 12_000, sum, false, "predicted: CPU "},
		{"auto", 1e9, sum, true, "predicted: CPU "},
		{"", 1e9, sum, true, "predicted: CPU "},
		{"auto", 1e9, mode, false, "mode("},
		{"cpu", 1e9, sum, false, "as asked for"},
		{"gpu", 1e9, mode, false, "mode("},
		{"gpu", 12_000, sum, true, "as asked for"},
		{"0,1", 12_000, sum, true, "as asked for"},
	} {
		p := planning(t, orders, grouped("ordered_at", x.agg), Options{Device: spec(t, x.device), DevicePresent: true, Threads: 4})
		p.Facts.Rows, p.Facts.Bytes = x.rows, 10*x.rows
		d := p.decideDevice()
		if d.Use != x.use || !strings.Contains(d.Reason, x.reason) {
			t.Errorf("%q, %d rows: %+v; want %t since %s", x.device, x.rows, d.Choice, x.use, x.reason)
		}
		if d.Facts.Spec.Required() || !x.use {
			continue
		}
		if none := d.Without("no GPU: gone"); none.Use || none.Reason != "no GPU: gone" {
			t.Errorf("%q without a device: %+v", x.device, none.Choice)
		}
		p.Options.DevicePresent = false
		if none := p.decideDevice(); none.Use || none.Reason != "there is no NVIDIA driver" {
			t.Errorf("%q without a driver: %+v", x.device, none.Choice)
		}
	}
}

// Where the caller keeps a device open, what opening takes is not counted, so that it pays from
// fewer rows on. Few rows are the CPU's, and so are a limit without an order, of which the CPU's
// tables stay small, and what devices cannot do.
func TestDecideDeviceKept(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		by, agg    string
		rows       int64
		limit      int64
		kept, open bool // a device is used where one is kept, or is to be opened
	}{
		{by: "ordered_at", agg: "sum(quantity)", rows: 12_000},
		{by: "ordered_at", agg: "sum(quantity)", rows: 2e5},
		{by: "ordered_at", agg: "sum(quantity)", rows: 3e6, kept: true},
		{by: "ordered_at", agg: "sum(quantity)", rows: 1e8, kept: true, open: true},
		{by: "ordered_at", agg: "count(*)", rows: 5e6, limit: 10},
		{by: "ordered_at", agg: "count(*)", rows: 3e6, limit: 1 << 20, kept: true}, // no limit for workers
		{by: "ordered_at", agg: "mode(quantity)", rows: 1e8},
	} {
		q := grouped(x.by, x.agg)
		q.Limit = x.limit
		for _, kept := range []bool{true, false} {
			p := planning(t, orders, q, Options{Device: spec(t, "auto"), DevicePresent: true, DeviceKept: kept, Threads: 4})
			p.Facts.Rows, p.Facts.Bytes = x.rows, 4*x.rows
			d := p.decideDevice()
			if want := kept && x.kept || !kept && x.open; d.Use != want {
				t.Errorf("%+v, kept %t: %+v", x, kept, d.Choice)
			}
			if first := x.limit > 0 && x.limit <= mostLimit; first != strings.HasSuffix(d.Reason, "for the first 10 groups") {
				t.Errorf("%+v: %s", x, d.Reason)
			}
		}
	}
}

// While the input is read, a device pays as long as enough of it is left.
func TestDevicePays(t *testing.T) {
	t.Parallel()
	p := planning(t, orders, grouped("ordered_at", "sum(quantity)"), Options{DevicePresent: true, Threads: 4})
	p.Facts.Rows, p.Facts.Bytes = 1e9, 1e10
	d := p.decideDevice()
	all := int64(1e9) / int64(d.Facts.Threads)
	for _, x := range []struct {
		read    int64   // by each worker
		seconds float64 // the time that they took
		want    bool
	}{
		{1e6, 0, true},
		{all / 100, 1, true},     // 99 s to come
		{all / 100, .001, false}, // .1 s
		{all, 10, false},         // none left
		{2 * all, 10, false},
	} {
		seen := cpu.Sample{Seconds: x.seconds}
		seen.Read, seen.Selected, seen.Rows, seen.Groups = x.read, x.read, 1e6, 5e5
		if got := d.Anew(seen, true, 0).Use; got != x.want {
			t.Errorf("%+v: %t", x, got)
		}
	}
	few := cpu.Sample{Seconds: .001}
	few.Read, few.Selected, few.Rows, few.Groups = all/100, all/1e4, 1e4, 100 // a selective filter
	if d.Anew(few, true, 0).Use {
		t.Error("a device pays where the CPU takes .2 s")
	}
	// All groups have one row, of the rows that pass.
	sparse := cpu.Sample{Seconds: .004, Read: all / 100, Selected: all / 1000, Seen: cpu.Seen{Rows: all / 1000, Groups: all / 1000}}
	if choice := d.Anew(sparse, true, 0); choice.CPU > 8 {
		t.Errorf("%+v for 1e8 groups of 1e9 rows at a pace of .4 s", choice)
	}
}

// A pace that has not settled opens a device only where that gains much.
func TestDeviceAnewEarly(t *testing.T) {
	t.Parallel()
	p := planning(t, orders, grouped("price", "sum(quantity)"), Options{DevicePresent: true, Threads: 4})
	p.Facts.Rows, p.Facts.Bytes, p.Facts.Plain = 1e8, 1e8, 1e8
	d := p.decideDevice()
	d.Facts.Encoded, d.Facts.Crossing = 1, 1e8
	all := int64(1e8) / int64(d.Facts.Threads)
	for _, x := range []struct {
		seconds        float64 // for one row of a hundred
		early, settled bool
	}{
		{.004, false, false}, // .4 s to come, where a device takes that too
		{.0055, false, true},
		{.012, true, true},
	} {
		seen := cpu.Sample{Seconds: x.seconds, Read: all / 100, Selected: all / 100, Seen: cpu.Seen{Rows: all / 100, Groups: 5}}
		if early, settled := d.Anew(seen, false, 0), d.Anew(seen, true, 0); early.Use != x.early || settled.Use != x.settled {
			t.Errorf("%+v: %+v, %+v", x, early, settled)
		}
	}
}

// A device that is being opened beside the workers is ready sooner, but never at once; one that is
// left to the driver does not have to be closed.
func TestDeviceOpening(t *testing.T) {
	t.Parallel()
	f := question(1e6, 14e8)
	closed := defaultCosts.device(f)
	f.Left = true
	if gained := closed - defaultCosts.device(f); math.Abs(gained-defaultCosts.Exit) > 1e-9 {
		t.Errorf("left to the driver it gains %v s", gained)
	}
	for _, x := range []struct{ opening, want float64 }{
		{0, defaultCosts.Start},
		{defaultCosts.Start / 2, defaultCosts.Start / 2},
		{defaultCosts.Start, defaultCosts.Ready},
		{1, defaultCosts.Ready},
	} {
		f.Opening = x.opening
		if got := defaultCosts.start(f); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%v s after it began to be opened it is ready in %v s, not %v", x.opening, got, x.want)
		}
	}
	p := planning(t, orders, grouped("price", "sum(quantity)"), Options{DevicePresent: true, DeviceLeft: true, Threads: 4})
	p.Facts.Rows, p.Facts.Bytes = 1e8, 1e9
	d := p.decideDevice()
	seen := cpu.Sample{Seconds: .01, Read: 1e6, Selected: 1e6, Seen: cpu.Seen{Rows: 1e6, Groups: 5}}
	late, now := d.Anew(seen, true, 0), d.Anew(seen, true, time.Second)
	if now.Device >= late.Device || late.CPU != now.CPU {
		t.Errorf("%+v, and %+v of a device that is ready", late, now)
	}
}

// Where both are predicted to be about as fast, the CPU begins in the last run of a process, and
// workers tell.
func TestDeviceNear(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		times      float64 // as long as the CPU the device is predicted to take
		left, kept bool
		want       bool
	}{
		{1, true, false, true},
		{defaultCosts.Near + .01, true, false, false},
		{1, false, false, false},
		{1, true, true, false},
	} {
		p := planning(t, orders, grouped("region", "sum(quantity)"), Options{DevicePresent: true, DeviceLeft: x.left, DeviceKept: x.kept, Threads: 4})
		p.Facts.Rows, p.Facts.Bytes = 1e9, 1e10
		d := p.decideDevice()
		d.Use, d.Choice.CPU = false, d.Choice.Device/x.times
		if got := d.near(); got != x.want {
			t.Errorf("%+v: %t; %+v", x, got, d.Choice)
		}
	}
	p := planning(t, orders, grouped("price", "sum(quantity)"), Options{DevicePresent: true, Threads: 4})
	p.Facts.Rows, p.Facts.Bytes, p.Facts.Plain = 1e8, 1e8, 1e8
	byDevice := p.decideDevice()
	byDevice.Facts.Encoded, byDevice.Facts.Crossing = 1, 1e8
	byWorkers := byDevice
	byWorkers.Facts.Encoded, byWorkers.Facts.Crossing = 0, 0
	byWorkers.costs.Pack, byWorkers.costs.Link = 0, math.Inf(1) // as fast as the other
	all, switched := int64(1e8)/int64(byDevice.Facts.Threads), 0
	for seconds := .002; seconds < .1; seconds *= 1.1 {
		seen := cpu.Sample{Seconds: seconds, Read: all / 100, Selected: all / 100, Seen: cpu.Seen{Rows: all / 100, Groups: 5}}
		settled, early := byWorkers.Anew(seen, true, 0), byWorkers.Anew(seen, false, 0)
		if settled.Use != early.Use {
			t.Errorf("%v s: %+v, %+v where workers make the rows", seconds, settled, early)
		}
		if byDevice.Anew(seen, true, 0).Use {
			switched++
		}
	}
	if switched == 0 {
		t.Error("no pace is slow enough")
	}
}

// The pace of a worker counts for less while its table is small.
func TestSlower(t *testing.T) {
	t.Parallel()
	f := question(1e6, 14e8)
	now, same := defaultCosts.slower(f, 1e4), defaultCosts.slower(f, 1e6)
	if now < 3 || now > 10 || same != 1 {
		t.Errorf("%v times as slow with 1e6 groups as with 1e4, and %v as with as many", now, same)
	}
	few := question(1e4, 14e8)
	if slower := defaultCosts.slower(few, 1e6); slower != 1 {
		t.Errorf("%v times where fewer groups are expected than there are", slower)
	}
	f.Selectivity = .01
	if filtered := defaultCosts.slower(f, 1e4); filtered > 1.5 || filtered < 1 {
		t.Errorf("%v times where one row of a hundred passes", filtered)
	}
}

// A device is opened only when it is known to pay, where the plan does not know how many rows pass
// and how many groups they make, or the CPU may be as fast, and opening takes time.
func TestDeviceUnsure(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		by, of, where string
		times         float64 // as long as a device the CPU is predicted to take
		kept          bool
		want          bool
	}{
		{by: "region", times: 3},
		{by: "region", times: 1.5, want: true},
		{by: "region", times: 3, where: "price > 5", want: true},
		{by: "region", times: 3, where: "price > 5", kept: true},
		{by: "ordered_at", times: 3, want: true}, // has no dictionary
		{by: "ordered_at", of: "count(distinct quantity)", times: 1.5},
		{by: "ordered_at", of: "count(distinct quantity)", times: 3, where: "price > 5", want: true},
	} {
		q := grouped(x.by, cmp.Or(x.of, "sum(quantity)"))
		q.Where = x.where
		p := planning(t, orders, q, Options{DevicePresent: true, DeviceKept: x.kept, Threads: 4})
		p.Facts.Rows, p.Facts.Bytes = 1e9, 1e10
		d := p.decideDevice()
		d.Use, d.Choice.CPU = true, x.times*d.Choice.Device
		if got := d.unsure(); got != x.want {
			t.Errorf("%+v: %t; %+v", x, got, d.Facts)
		}
	}
}

// Who wants to know that a device is likely to be used is told before rows are looked at; not where
// one is asked for or kept open, or the CPU is faster.
func TestLikely(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		device string
		rows   int64
		kept   bool
		want   bool
	}{
		{device: "auto", rows: 1e9, want: true},
		{device: "auto", rows: 1e9, kept: true},
		{device: "auto", rows: 12_000},
		{device: "gpu", rows: 1e9},
		{device: "cpu", rows: 1e9},
	} {
		p := planning(t, orders, grouped("ordered_at", "sum(quantity)"), Options{Device: spec(t, x.device), DevicePresent: true, DeviceKept: x.kept, Threads: 4})
		p.Facts.Rows, p.Facts.Bytes = x.rows, 10*x.rows
		told := false
		p.likely = func(d device.Spec) { told = d.Kind == device.Auto && p.sampled.by == nil }
		p.Options.Tuning.Sampling.From = 1
		if d := p.decideDevice(); told != x.want {
			t.Errorf("%+v: told %t; %+v", x, told, d.Choice)
		}
	}
}

// Where a device pays with as many groups by the keys and a distinct value as rows, and not with
// the usual number, the CPU begins. Workers that see many groups open the device.
func TestDeviceDoubtful(t *testing.T) {
	t.Parallel()
	p := planning(t, orders, grouped("ordered_at", "count(distinct quantity)"), Options{Device: spec(t, "auto"), DevicePresent: true, Threads: 4})
	doubtful := 0
	for rows := int64(1e5); rows < 1e9; rows += rows / 4 {
		p.Facts.Rows, p.Facts.Bytes = rows, 4*rows
		p.Learnt.Device = false
		d := p.decideDevice()
		if !d.doubtful {
			continue
		}
		doubtful++
		if p.Learnt.Device = true; !d.Use || !d.unsure() || d.Facts.Groups < float64(rows) || !p.decideDevice().Use {
			t.Errorf("%d rows: %+v", rows, d)
		}
		seen := cpu.Sample{Read: rows / 100, Selected: rows / 100, Seconds: 1, Seen: cpu.Seen{Rows: rows / 100, Groups: rows / 100}}
		few := seen
		few.Groups, few.Seconds = 10, .01
		if !d.Anew(seen, true, 0).Use || d.Anew(few, true, 0).Use {
			t.Errorf("%d rows: %+v, %+v", rows, d.Anew(seen, true, 0), d.Anew(few, true, 0))
		}
	}
	if doubtful == 0 {
		t.Error("no number of rows is in doubt")
	}
}

// Rows of the same groups come together, or the same groups come again: what is expected lies
// between the two.
func TestExpectedOfSample(t *testing.T) {
	t.Parallel()
	random := cpu.Sample{Seen: cpu.Seen{Rows: 2e5, Groups: 1e4}, Half: cpu.Seen{Rows: 1e5, Groups: 1e4}}
	if got := expected(random, 1e7); got < 1e4 || got > 1.1e4 {
		t.Errorf("%v groups where there are no new ones", got)
	}
	growing := cpu.Sample{Seen: cpu.Seen{Rows: 2e5, Groups: 1e4}, Half: cpu.Seen{Rows: 1e5, Groups: 5e3}}
	if got := expected(growing, 1e7); got < 4e4 || got > 2e5 {
		t.Errorf("%v groups where each row in twenty makes one", got)
	}
}

// Lists of values are a device's where it makes the rows, and where all of them find room on the
// host.
func TestDecideDeviceLists(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name  string
		where string
		opt   Options
		rows  int64
		want  string // "": a device does it
	}{
		{name: "no limit", rows: 1e9},
		{name: "a limit with room", opt: Options{MemoryLimit: 1 << 30}, rows: 1e6},
		{name: "one without", opt: Options{MemoryLimit: 1 << 30}, rows: 1e8, want: "may take more than a part of the memory limit"},
		{name: "nobody knows how many", opt: Options{MemoryLimit: 1 << 30}, rows: -1, want: "may take more than a part of the memory limit"},
		{name: "filtered", where: "quantity > 1", rows: 1e9},
		{name: "filtered by the CPU", where: "product > region", rows: 1e9, want: "and the CPU does: GPUs do not compute the filter"},
		{name: "rows by the CPU", opt: Options{NoGPUDecoding: true}, rows: 1e9, want: "and the CPU does: as asked for"},
	} {
		q := grouped("price", "median(quantity)")
		q.Where = x.where
		x.opt.Device, x.opt.Threads = spec(t, "gpu"), 4
		p := planning(t, orders, q, x.opt)
		p.Facts.Rows = x.rows
		f := p.decideDevice().Facts
		if f.Lists != 1 || f.Unsupported != x.want && (x.want == "" || !strings.HasSuffix(f.Unsupported, x.want)) {
			t.Errorf("%s: %q, want %q", x.name, f.Unsupported, x.want)
		}
	}
}

// The number of groups is estimated by the dictionaries of a file, and by what follows from the
// expressions and the ends of columns.
func TestExpectedGroups(t *testing.T) {
	t.Parallel()
	for by, want := range map[string][2]float64{
		"region":                                       {3, 20},
		"region, product":                              {10, 2000},
		"region = 'Asia'":                              {3, 20},
		"price":                                        {12_000, 12_000},
		"hour(ordered_at), quantity > 3":               {75, 75},
		"date_trunc('month', ordered_at)":              {12, 20},
		"time_bucket('10 minutes', ordered_at)":        {12_000, 12_000},
		"case when quantity > 3 then 'a' else 'b' end": {2, 2},
	} {
		p := planning(t, orders, grouped(by), Options{})
		if got := ExpectedGroups(p.Plan, p.scan); got < want[0] || got > want[1] || math.IsInf(got, 1) {
			t.Errorf("by %s: %v groups, want %v to %v", by, got, want[0], want[1])
		}
	}
}

// auto divides no keys where nothing tells how many values two of their parts have: there may be as
// many groups as rows.
func TestUnknownParts(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		by, device string
		divided    bool
	}{
		{"strftime(ordered_at, '%Y-%m') || customer", "auto", true},
		{"strftime(ordered_at, '%H:%M:%S') || price", "auto", false},
		{"strftime(ordered_at, '%H:%M:%S') || price", "gpu", true},
	} {
		p := planning(t, orders, grouped(x.by, "count(*)"), Options{DevicePresent: true, Device: spec(t, x.device), Threads: 4})
		if p.divide() != nil != x.divided {
			t.Errorf("%+v: divided %t", x, !x.divided)
		}
	}
}
