package gagg_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Under a memory limit, a device's share is no worker's. Rows that stay with workers, as those
// with long strings do, go to disk before no memory is left to read with.
func TestDeviceBesideWorkers(t *testing.T) {
	gputest.Need(t, 1)
	const rows = 500_000
	float, integer := column.Type{Kind: column.Float64}, column.Type{Kind: column.Int32}
	tr := &trial{table: datagen.New(datagen.Spec{Rows: rows, Columns: []datagen.Column{
		{Name: "g", Type: column.Type{Kind: column.Int64}, Distinct: rows / 2},
		{Name: "k", Type: column.Type{Kind: column.String}, Distinct: 400, Skew: 1.5},
		{Name: "i", Type: integer},
		{Name: "x", Type: float},
		{Name: "y", Type: float},
	}})}
	q := gagg.Query{
		From: parquetAs(datagen.Layout{RowGroup: 10_000})(t, tr), By: []string{"g", "k"},
		Aggs: exprs("count(*)", "min(i, 5)", "min(y, 5)", "sum(x)", "max(y)", "max(i)", "kurtosis(x)", "skewness(y)"),
	}
	underLimits(t, tune{gagg.PassLeast(1)}, q, "gpu", 104<<20, 120<<20, 8<<20)
}

// underLimits runs a query on devices under one memory limit after another. Each run has the
// CPU's answer, and leaves nothing.
func underLimits(t *testing.T, tuned tune, q gagg.Query, device string, first, last, step int64) {
	t.Helper()
	want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
	for limit := first; limit <= last; limit += step {
		check := settled(t)
		got, err := answer(t, q, tuned.of(gagg.Options{Device: device, Threads: 3, Streams: 1, GPUMemory: 48 << 20, MemoryLimit: limit}))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s, %d MiB: %d groups, %d wanted, or others; %v", device, limit>>20, len(got), len(want), err)
		}
		check()
	}
}

// The lists of groups that leave a device for buckets go to disk with them if memory is short,
// whoever has the rest.
func TestDeviceListsLeave(t *testing.T) {
	gputest.Need(t, 2)
	const rows = 60_000
	float := column.Type{Kind: column.Float64}
	tr := &trial{table: datagen.New(datagen.Spec{Rows: rows, Columns: []datagen.Column{
		{Name: "g", Type: column.Type{Kind: column.Int64}, Distinct: rows / 2},
		{Name: "i", Type: column.Type{Kind: column.Int32}},
		{Name: "x", Type: float},
		{Name: "y", Type: float},
	}})}
	q := gagg.Query{
		From: parquetAs(datagen.Layout{RowGroup: 1000})(t, tr), By: []string{"g"},
		Aggs: exprs("count(*)", "median(i)", "median(x)", "sum(x)", "max(y)", "max(i)", "kurtosis(x)", "skewness(y)"),
	}
	for _, device := range []string{"0", "0,1"} {
		underLimits(t, tune{gagg.LeastMemory(tightMemory)}, q, device, 14<<20, 24<<20, 2<<20)
	}
}

// Memory that devices pin while partitions are merged leaves mergers what they need to divide
// partitions that are too large.
func TestDevicePassesLeaveMemory(t *testing.T) {
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1)}
	gputest.Need(t, 2)
	const rows = 100_000
	tr := &trial{table: datagen.New(datagen.Spec{Rows: rows, Columns: []datagen.Column{
		{Name: "g", Type: column.Type{Kind: column.Int64}, Distinct: rows / 2},
		{Name: "x", Type: column.Type{Kind: column.Float64}},
	}})}
	q := gagg.Query{From: parquetAs(datagen.Layout{RowGroup: 1000})(t, tr), By: []string{"g"}, Aggs: exprs("count(*)", "kurtosis(x)")}
	want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
	passed := int64(0)
	for _, limit := range []int64{12 << 20, 16 << 20} {
		for _, partitions := range []int{4, 16} {
			check := settled(t)
			o := tuned.of(gagg.Options{Device: "0,1", Threads: 3, Streams: 1, GPUMemory: 20 << 20, MemoryLimit: limit, Partitions: partitions})
			got, stats, err := answerStats(t, q, o)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d MiB, %d partitions: %d groups, %d wanted, or others; %v", limit>>20, partitions, len(got), len(want), err)
			}
			for _, d := range stats.Devices {
				passed += d.BucketRows
			}
			check()
		}
	}
	if passed == 0 {
		t.Error("no partition was aggregated on a device")
	}
}

// The memory reserved for devices, their lists, and tiles that come before they are ready leaves
// workers and readers enough.
func TestDeviceAsideLeavesReaders(t *testing.T) {
	gputest.Need(t, 2)
	const rows = 200_000
	tr := &trial{table: datagen.New(datagen.Spec{Rows: rows, Columns: []datagen.Column{
		{Name: "g", Type: column.Type{Kind: column.Int64}, Distinct: rows / 2},
		{Name: "x", Type: column.Type{Kind: column.Float64}},
	}})}
	q := gagg.Query{From: parquetAs(datagen.Layout{RowGroup: 1000})(t, tr), By: []string{"g"}, Aggs: exprs("count(*)", "median(x)")}
	underLimits(t, tune{gagg.LeastMemory(tightMemory)}, q, "0,1", 19<<20, 23<<20, 2<<20)
}
