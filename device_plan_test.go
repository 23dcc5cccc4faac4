package gagg

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
)

// withEngine has this version compute on devices, of which there are none.
func withEngine(t *testing.T) {
	t.Helper()
	if os.Getenv("GAGG_CUDA_LIBRARY") != "" || os.Getenv("GAGG_REQUIRE_GPU") != "" {
		t.Skip("there is a driver, and tests before this one may have opened it")
	}
	t.Setenv("GAGG_CUDA_LIBRARY", t.TempDir()+"/libcuda.so.1")
}

// planned prepares a query on the bundled orders, of which it says that there
// are so many rows.
func planned(t *testing.T, device string, rows int64, aggregate Agg) *prepared {
	t.Helper()
	q := Query{From: Files("testdata/orders.parquet"), By: []string{"price"}, Aggs: []Agg{aggregate}}
	p, err := prepare(context.Background(), q, Options{Device: device, Threads: 4}, learnt{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.in.Close(); err != nil {
			t.Error(err)
		}
	})
	p.facts.Rows, p.facts.Bytes, p.onCPU = rows, 10*rows, false
	return p
}

// What is decided before anybody looks for a device, and what if there is none.
func TestPlanDevice(t *testing.T) {
	withEngine(t)
	for _, x := range []struct {
		device string
		rows   int64
		agg    Agg
		reason string // "": an ErrDevice
	}{
		{"auto", 12_000, Sum("quantity"), "predicted: CPU "},
		{"auto", 1e9, Sum("quantity"), "no GPU: open "},
		{"", 1e9, Sum("quantity"), "no GPU: open "},
		{"auto", 1e9, Expr("mode(quantity)"), "mode("},
		{"cpu", 1e9, Sum("quantity"), "as asked for"},
		{"gpu", 1e9, Expr("mode(quantity)"), "mode("},
		{"gpu", 12_000, Sum("quantity"), ""},
		{"0,1", 12_000, Sum("quantity"), ""},
	} {
		c, err := planned(t, x.device, x.rows, x.agg).planDevice(context.Background())
		if x.reason == "" {
			if !errors.Is(classify(err), ErrDevice) || !strings.Contains(err.Error(), "no usable device for --device "+x.device+": open ") {
				t.Errorf("%q: %+v, %v; want ErrDevice", x.device, c, err)
			}
			continue
		}
		if err != nil || c.Use || len(c.numbers) > 0 || !strings.Contains(c.Reason, x.reason) {
			t.Errorf("%q, %d rows: %+v, %v; want the CPU since %s", x.device, x.rows, c, err, x.reason)
		}
	}
}

// Lists of values are a device's where it makes the rows, and where all of them find room on the host.
func TestPlanDeviceLists(t *testing.T) {
	withEngine(t)
	for _, x := range []struct {
		name string
		q    Query
		opt  Options
		rows int64
		want string // "": a device does it
	}{
		{name: "no limit", rows: 1e9},
		{name: "a limit with room", opt: Options{MemoryLimit: 1 << 30}, rows: 1e6},
		{name: "one without", opt: Options{MemoryLimit: 1 << 30}, rows: 1e8, want: "may take more than a part of the memory limit"},
		{name: "nobody knows how many", opt: Options{MemoryLimit: 1 << 30}, rows: -1, want: "may take more than a part of the memory limit"},
		{name: "filtered", q: Query{Where: "quantity > 1"}, rows: 1e9, want: "and the CPU does: they are filtered"},
		{name: "rows by the CPU", opt: Options{NoGPUDecoding: true}, rows: 1e9, want: "and the CPU does: as asked for"},
	} {
		x.q.From, x.q.By, x.q.Aggs = Files("testdata/orders.parquet"), []string{"price"}, []Agg{Median("quantity")}
		x.opt.Device, x.opt.Threads = "gpu", 4
		p, err := prepare(context.Background(), x.q, x.opt, learnt{})
		if err != nil {
			t.Fatal(err)
		}
		p.facts.Rows = x.rows
		f, _ := p.deviceFacts()
		if f.Lists != 1 || f.Unsupported != x.want && (x.want == "" || !strings.HasSuffix(f.Unsupported, x.want)) {
			t.Errorf("%s: %q, want %q", x.name, f.Unsupported, x.want)
		}
		if err := p.in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The dictionaries of a file tell how many groups to expect.
func TestExpectedGroups(t *testing.T) {
	for by, want := range map[string][2]float64{
		"region":          {3, 20},
		"region, product": {10, 2000},
		"region = 'Asia'": {3, 20},
		"price":           {12_000, 12_000},
	} {
		p, err := prepare(context.Background(), Query{From: Files("testdata/orders.parquet"), By: []string{by}}, Options{}, learnt{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.expectedGroups(); got < want[0] || got > want[1] || math.IsInf(got, 1) {
			t.Errorf("by %s: %v groups, want %v to %v", by, got, want[0], want[1])
		}
		if err := p.in.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDevicePlanText(t *testing.T) {
	withEngine(t)
	p := planned(t, "0,1", 1e9, Sum("quantity"))
	p.opt.GPUMemory, p.opt.Streams = 2<<30, 3
	plan := p.plan(chosen{deviceChoice{Use: true, Reason: "as asked for"}, []int{0, 1}})
	text := plan.String()
	for _, want := range []string{
		"device       gpu:0,1 (as asked for), 3 threads\n",
		"gpu          at most 2.0 GiB of memory, 3 streams; column chunks are decoded there; a bucket's table is full above load 0.5 and has 0.75 at most\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	p.opt.NoGPUDecoding = true
	plan = p.plan(chosen{deviceChoice{Use: true}, []int{0}})
	if want := "3 streams; rows are made by the CPU, of 40 bytes: as asked for; a bucket's"; !strings.Contains(plan.String(), want) {
		t.Errorf("%q is not in\n%s", want, plan)
	}
	if plan = p.plan(chosen{}); plan.GPU != nil || strings.Contains(plan.String(), "gpu ") {
		t.Errorf("the CPU's plan tells of devices:\n%s", plan)
	}
}
