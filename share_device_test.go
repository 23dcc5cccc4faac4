package gagg_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// While a device is busy or being opened, workers aggregate row groups themselves, where that makes
// few rows of many; the answers are the CPU's.
func TestDeviceShares(t *testing.T) {
	gputest.Need(t, 2)
	const rows = 60_000
	from := gagg.Files(randomFileOf(t, rows, 600))
	open, err := gagg.OpenGPUs(t.Context(), "0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := open.Close(); err != nil {
			t.Error(err)
		}
	}()
	shared := 0
	for _, x := range []struct {
		by, aggs []string
		where    string
		apart    bool // devices make all rows but those of which workers find it out
	}{
		{aggs: []string{"count(*)", "sum(i)", "max(x)"}},
		{by: []string{"i % 10"}, aggs: []string{"count(*)", "avg(x)"}, where: "x > 0.25"},
		{by: []string{"s", "i % 7"}, aggs: []string{"count(*)", "min(i)"}},
		{by: []string{"i"}, aggs: []string{"sum(x)"}, where: "i = 3 or x < 0.01"},
		{by: []string{"k"}, aggs: []string{"count(*)"}, apart: true},
		{by: []string{"x"}, aggs: []string{"count(*)"}, apart: true},
		{by: []string{"s"}, aggs: []string{"count(distinct i)"}},
	} {
		q := gagg.Query{From: from, By: x.by, Aggs: exprs(x.aggs...), Where: x.where}
		want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
		options := []gagg.Options{
			{Device: "gpu", GPUs: open, Threads: 4},
			{Device: "gpu", GPUs: open, Threads: 4, Streams: 1, GPUMemory: 4 << 20}, // small batches
			{Device: "0,1", Threads: 4, Streams: 1, GPUMemory: 24 << 20},
			{Device: "gpu", Threads: 3, Streams: 1},
			{Device: "gpu", Threads: 3, Streams: 1, GPUMemory: 24 << 20, MemoryLimit: 64 << 20},
		}
		for _, o := range options[:inShort(3, len(options))] {
			t.Run(fmt.Sprintf("%v %v/%s/open=%t/memory=%d", x.by, x.aggs, o.Device, o.GPUs != nil, o.GPUMemory), func(t *testing.T) {
				got, s, err := answerStats(t, q, tune{gagg.ShareFrom(0)}.of(o))
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%d groups, want %d, or others; %v", len(got), len(want), err)
				}
				if s.Rows != rows {
					t.Errorf("%d rows are counted", s.Rows)
				}
				switch e := s.Encoded; {
				case x.apart && e.Rows < rows/2 && o.GPUMemory == 0:
					t.Errorf("devices made %d rows of %d", e.Rows, rows)
				case e.Rows > 0 && e.Rows < rows:
					shared++
				}
			})
		}
	}
	if shared == 0 {
		t.Error("workers and devices have shared no input")
	}
}
