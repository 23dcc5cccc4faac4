package gagg

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/gputest"
)

// decided is queries of which some are computed by devices, where there are any.
var decided = []Query{
	{By: []string{"price"}, Aggs: []Agg{Sum("quantity")}},
	{By: []string{"region"}, Aggs: []Agg{CountAll(), Mean("price")}, Where: "quantity > 3"},
	{Aggs: []Agg{Min("price"), Max("price")}},
	{By: []string{"price"}, Aggs: []Agg{CountDistinct("quantity")}},
	{By: []string{"region"}, Aggs: []Agg{Expr("median(price)")}},
	{By: []string{"price"}, Aggs: []Agg{Sum("quantity")}, Having: "sum(quantity) > 10"},
	{By: []string{"region"}, Aggs: []Agg{Expr("stddev(price)")}},
	{By: []string{"region"}, Aggs: []Agg{Expr("mode(price)")}},                               // no device can
	{By: []string{"region"}, Aggs: []Agg{Sum("quantity")}, Totals: true},                     // nor this
	{By: []string{"price"}, Aggs: []Agg{Sum("quantity")}, Sample: Sample{Percent: 10}},       // nor this
	{By: []string{"region", "price"}, Aggs: []Agg{Sum("quantity")}, Sets: Rollup},            // nor this
	{By: []string{"region"}, Aggs: []Agg{CountDistinct("quantity"), CountDistinct("price")}}, // nor this
}

// What a plan says of devices is what a run says that it did: both are made from one decision. By
// the CPU alone this is so whether it was asked for, cheaper, or no device is there.
func TestPlannedDeviceIsTheCPU(t *testing.T) {
	withEngine(t)
	for _, o := range []Options{{Device: "cpu", Threads: 3}, {Device: "auto", Threads: 2}, Tuned(Options{Device: "auto", Threads: 4}, DevicePays())} {
		for _, q := range decided {
			if p := samePlanAndRun(t, q, o); p.Device != "cpu" || p.Reason == "" {
				t.Errorf("%+v: planned for %s since %q, where no device is there", q, p.Device, p.Reason)
			}
		}
	}
}

// On devices too: which take part, and whether they decode columns and keep groups back.
func TestPlannedDeviceIsUsed(t *testing.T) {
	gputest.Need(t, 1)
	by := map[string]int{}
	for _, o := range []Options{
		{Device: "gpu", Threads: 3, Streams: 2, GPUMemory: 24 << 20},
		{Device: "gpu", Threads: 2, Streams: 1, NoGPUDecoding: true},
		{Device: "0", Threads: 2},
	} {
		for _, q := range decided {
			by[samePlanAndRun(t, q, o).Device]++
		}
	}
	if by["gpu:0"] == 0 && by["gpu:0,1"] == 0 || by["cpu"] == 0 {
		t.Errorf("runs by device: %v, want some by the CPU and some by a GPU", by)
	}
}

// samePlanAndRun compares what the plan of a query on the bundled orders says of devices with what
// a run of it did.
func samePlanAndRun(t *testing.T, q Query, o Options) *QueryPlan {
	t.Helper()
	q.From = Files("testdata/orders.parquet")
	p, err := Plan(context.Background(), q, o)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	rows, err := Run(context.Background(), q, o)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	for rows.Next() {
	}
	s := rows.Stats()
	rows.Release()
	if err := rows.Err(); err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	if planned, did := usePlanned(p), useTold(p, s); planned != did {
		t.Errorf("%v %v, device %s:\nplanned %s\ndid     %s", q.By, q.Aggs, o.Device, planned, did)
	}
	return p
}

// notReady is what a run tells that has ended before it was known that there is no device.
const notReady = "no device was ready"

// usePlanned is what a plan says of devices, in words that useTold has too.
func usePlanned(p *QueryPlan) string {
	if p.GPU == nil {
		return fmt.Sprintf("%s, %d threads, since %s", p.Device, p.Threads, p.Reason)
	}
	return fmt.Sprintf("%s, %d threads, numbers %v, decodes %t", p.Device, p.Threads, p.GPU.Numbers, p.GPU.Encoded)
}

// useTold is what a run that was planned by p did. Of a CPU that is cheaper, or was asked for, it
// has no reason to tell.
func useTold(p *QueryPlan, s Stats) string {
	if len(s.Devices) == 0 {
		why := p.Reason
		same := func(f Fallback) bool {
			return f.Why == p.Reason || f.Why == notReady && strings.HasPrefix(p.Reason, "no GPU: ")
		}
		if len(s.Fallbacks) > 0 && !slices.ContainsFunc(s.Fallbacks, same) {
			why = fmt.Sprint(s.Fallbacks)
		}
		return fmt.Sprintf("%s, %d threads, since %s", s.Device, s.Threads, why)
	}
	var numbers []int
	for _, d := range s.Devices {
		numbers = append(numbers, d.Number)
	}
	slices.Sort(numbers)
	return fmt.Sprintf("%s, %d threads, numbers %v, decodes %t", s.Device, s.Threads, numbers, s.Encoded.Rows > 0 || s.Encoded.Declined > 0)
}
