package gagg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Several distinct values, and lists of one value beside distinct ones of another, are a run each
// on a device: the oracle's answer, in the CPU's order, of keys and values with NULL and odd ones.
func TestDeviceSubqueries(t *testing.T) {
	gputest.Need(t, 1)
	decoded := int64(0)
	for i, typ := range []column.Type{{Kind: column.Int32}, {Kind: column.Float64}, {Kind: column.String}, {Kind: column.Date}} {
		if testing.Short() && i%2 == 1 {
			continue
		}
		for j, aggs := range [][]string{
			{"count_distinct of y", "count_distinct of x", "count_distinct of k"},
			{"count_distinct of y", "count of x", "max of s", "count_distinct of x", "min of y"},
			{"count of x", "median of k", "count_distinct of x"},
		} {
			tr := distinctTrial(typ, 900, []int{0, 5, 200}[(i+j)%3], aggs...)
			tr.seed = uint64(10*i + j)
			tr.tuned = tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1), gagg.DevicePays()}
			tr.onDevices(t, everyThird(encodedConfigurations, i+j), func(t *testing.T, c configuration, got outcome) {
				decoded += got.stats.Encoded.Rows
				if rows := got.stats.Rows; rows != int64(tr.table.Rows) {
					t.Errorf("%s\n%d rows of %d are counted", tr, rows, tr.table.Rows)
				}
			})
		}
	}
	if decoded == 0 {
		t.Error("devices decoded no row")
	}
}

// What the subqueries of a query are is told; a caller's devices stay open; and an overflow names
// the group as it does on the CPU.
func TestDeviceSubqueriesTold(t *testing.T) {
	gputest.Need(t, 1)
	from := gagg.Files(randomFile(t, 12_000))
	gpus, err := gagg.OpenGPUs(t.Context(), "gpu")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := gpus.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct {
		by, aggs   []string
		subqueries string // as told; "": there are none
		overflow   string // in the error; "": there is none
	}{
		{[]string{"s"}, []string{"count(distinct i)", "count(distinct x)"}, "count_distinct(i)|count_distinct(x)", ""},
		{[]string{"s"}, []string{"sum(x)", "count(distinct i)", "median(x)", "count(*)"}, "count_distinct(i), sum(x), count(*)|median(x)", ""},
		{[]string{"s"}, []string{"count(distinct i)", "max(x)"}, "", ""},
		{[]string{"i % 2"}, []string{"count(distinct s)", "count(distinct x)", "sum(cast(i % 2 as decimal(38, 0)) + 90000000000000000000000000000000000000)"}, "count_distinct(s), sum(cast(i % 2 as decimal(38,0)) + 90000000000000000000000000000000000000.)|count_distinct(x)", "overflows in the group i % 2 = "},
	} {
		q := gagg.Query{From: from, By: c.by, Aggs: exprs(c.aggs...), Where: "i <> 7", Having: "count(distinct " + map[bool]string{true: "s", false: "i"}[c.by[0] != "s"] + ") > 1", OrderBy: []string{c.by[0]}, Limit: 5}
		want, failed := answer(t, q, gagg.Options{Device: "cpu", Threads: 2})
		for _, o := range []gagg.Options{
			{Device: "gpu", Threads: 2, GPUMemory: 24 << 20},
			{Device: "gpu", Threads: 2, GPUMemory: 24 << 20, MemoryLimit: 256 << 20},
			{Device: "gpu", Threads: 2, GPUMemory: 24 << 20, GPUs: gpus},
		} {
			got, s, err := answerStats(t, q, o)
			if c.overflow != "" {
				if err == nil || failed == nil || err.Error() != failed.Error() || !strings.Contains(err.Error(), c.overflow) {
					t.Errorf("%v by %v: error %v, and %v on the CPU", c.aggs, c.by, err, failed)
				}
				continue
			}
			if err != nil || !slices.Equal(got, want) || s.Device != "gpu:0" || s.Encoded.Rows == 0 {
				t.Errorf("%v by %v: %q, want %q; on %s, %d rows decoded, error %v", c.aggs, c.by, got, want, s.Device, s.Encoded.Rows, err)
			}
		}
		p, err := gagg.Plan(t.Context(), q, gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20})
		if err != nil || strings.Join(p.Subqueries, "|") != c.subqueries || strings.Contains(p.String(), "there is a run for each subquery") != (c.subqueries != "") {
			t.Errorf("%v by %v: error %v\n%s", c.aggs, c.by, err, p)
		}
	}
}
