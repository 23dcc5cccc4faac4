package gagg

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/query"
)

// withEngine has this version compute on devices, of which there are none.
func withEngine(t *testing.T) {
	t.Helper()
	if os.Getenv("GAGG_CUDA_LIBRARY") != "" || os.Getenv("GAGG_REQUIRE_GPU") != "" {
		t.Skip("there is a driver, and tests before this one may have opened it")
	}
	t.Setenv("GAGG_CUDA_LIBRARY", t.TempDir()+"/libcuda.so.1")
}

// A plan looks for a device that would be used, and says why there is none. If one was asked for,
// that is an error.
func TestPlanDevice(t *testing.T) {
	withEngine(t)
	for _, x := range []struct {
		device string
		pays   bool
		agg    Agg
		reason string // "": an ErrDevice
	}{
		{"auto", false, Sum("quantity"), "predicted: CPU "},
		{"auto", true, Sum("quantity"), "no GPU: open "},
		{"", true, Sum("quantity"), "no GPU: open "},
		{"auto", true, Expr("mode(quantity)"), "mode("},
		{"cpu", true, Sum("quantity"), "as asked for"},
		{"gpu", true, Expr("mode(quantity)"), "mode("},
		{"gpu", true, Sum("quantity"), ""},
		{"0,1", false, Sum("quantity"), ""},
	} {
		o := Options{Device: x.device, Threads: 4}
		if x.pays {
			o = Tuned(o, DevicePays())
		}
		p, err := Plan(context.Background(), Query{From: Files("testdata/orders.parquet"), By: []string{"price"}, Aggs: []Agg{x.agg}}, o)
		if x.reason == "" {
			if !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), "no usable device for --device "+x.device+": open ") {
				t.Errorf("%q: %v; want ErrDevice", x.device, err)
			}
			continue
		}
		if err != nil || p.Device != "cpu" || p.GPU != nil || !strings.Contains(p.Reason, x.reason) || strings.Contains(p.String(), "gpu ") {
			t.Errorf("%q: %+v, %v; want the CPU since %s", x.device, p, err, x.reason)
		}
	}
}

// explained is the plan of a query on the bundled orders, if there are two devices.
func explained(t *testing.T, o exec.Options) *QueryPlan {
	t.Helper()
	in, err := input.Files("testdata/orders.parquet").Open(context.Background(), input.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	compiled, err := query.Compile(in, query.Query{By: []string{"price"}, Aggs: []query.Agg{{Text: "sum(quantity)"}}})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := device.Parse("0,1")
	if err != nil {
		t.Fatal(err)
	}
	opt := plan.Options{
		Threads: 4, Device: spec, DevicePresent: true, GPUMemory: o.GPUMemory, Streams: o.Streams, NoGPUDecoding: o.NoGPUDecoding,
		Tuning: plan.DefaultTuning(), Load: feedback.DefaultLoadConfig,
	}
	scan, err := in.Scan(plan.Scan(compiled, opt))
	if err != nil {
		t.Fatal(err)
	}
	made, err := plan.Make(plan.Inputs{Query: compiled, Input: in, Scan: scan, Options: opt})
	if err != nil {
		t.Fatal(err)
	}
	return newQueryPlan(&exec.Explained{Plan: made, Numbers: []int{0, 1}})
}

// The plan tells how devices are used.
func TestDevicePlanText(t *testing.T) {
	text := explained(t, exec.Options{GPUMemory: 2 << 30, Streams: 3}).String()
	for _, want := range []string{
		"device       gpu:0,1 (as asked for), 3 threads\n",
		"gpu          at most 2.0 GiB of memory, 3 streams; column chunks are decoded there; a bucket's table is full above load 0.5 and has 0.75 at most\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	text = explained(t, exec.Options{Streams: 3, NoGPUDecoding: true}).String()
	if want := "3 streams; rows are made by the CPU, of 40 bytes: as asked for; a bucket's"; !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
}
