package gagg_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// limits is queries with a limit without an order, and whether few groups leave the device that has
// them all.
var limits = []struct {
	by, aggs      string // lists
	where, having string
	limit, offset int64
	selected      bool
}{
	{by: "i,s", aggs: "count(*) as c", limit: 10, selected: true},
	{by: "i,s", aggs: "count(*)|sum(i)|min(x)", limit: 3, offset: 40, selected: true},
	{by: "n,i", aggs: "count(*)|sum(n)", limit: 25, selected: true}, // keys that are NULL
	{by: "n", aggs: "mean(x)", limit: 1, selected: true},
	{by: "k", aggs: "count(*)|max(i)", limit: 20, selected: true}, // texts, and long ones
	{by: "i + 1 as j,s", aggs: "sum(x) filter (where x > 0.5)", limit: 15, selected: true},
	{by: "i,s", aggs: "count(*)", where: "x > 0.3 and i <> 7", limit: 10, selected: true},
	{by: "i,s", aggs: "count(*)", where: "x > 1e9", limit: 10}, // none
	{by: "i,s", aggs: "count(*) as c", having: "count(*) > 1", limit: 5, selected: true},
	{by: "i,s", aggs: "count(*) as c", having: "c > 1", limit: 5, offset: 9, selected: true},
	{by: "i,s", aggs: "count(*) as c", having: "c < 0", limit: 5, selected: true}, // none
	{by: "i,s", aggs: "count(*) as c|sum(i * 1000)", having: "s like 'a%'", limit: 5},
	{by: "i,s", aggs: "median(x)", limit: 5},                                // lists
	{by: "i,s", aggs: "median(x)|count(*) as c", having: "c > 1", limit: 5}, // lists
	{by: "i", aggs: "count(distinct s)", limit: 5, selected: true},          // regrouped
	{by: "i,s", aggs: "count(*)", limit: 1_000_000},                         // all
	{by: "i,s", aggs: "count(*)", limit: 7, offset: 1_000_000},              // none is left
	{by: "i,s", aggs: "sum(n * 1000)", limit: 4, selected: true},
}

// A device gives the groups that the CPU gives of a limit without an order, and few others leave
// it. Columns that it decodes, rows of workers, two devices, one that has no room for all groups,
// exact sums: each gives the same.
func TestDeviceLimit(t *testing.T) {
	gputest.Need(t, 2)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1)}
	few, many := limitSource(t, 3_000, 1), limitSource(t, 12_000, 2)
	for i, x := range limits {
		q := gagg.Query{By: strings.Split(x.by, ","), Aggs: exprs(strings.Split(x.aggs, "|")...), Where: x.where, Having: x.having, Limit: x.limit, Offset: x.offset}
		for _, way := range []struct {
			from  gagg.Source
			opt   gagg.Options
			every int  // of the queries it has one in so many
			all   bool // groups are on one device
		}{
			{few, gagg.Options{Device: "gpu", GPUMemory: 4 << 20}, 1, true},
			{few, gagg.Options{Device: "gpu", GPUMemory: 4 << 20, NoGPUDecoding: true}, 2, false},
			{few, gagg.Options{Device: "0,1", GPUMemory: 4 << 20}, 3, false},
			{few, gagg.Options{Device: "gpu", GPUMemory: 4 << 20, Deterministic: true}, 4, true},
			{many, gagg.Options{Device: "gpu", GPUMemory: tinyDevice}, 2, false},
		} {
			if i%way.every > 0 || way.opt.NoGPUDecoding && strings.Contains(x.aggs, "median") {
				continue
			}
			q.From = way.from
			want, err := answer(t, q, tuned.of(gagg.Options{Device: "cpu", Deterministic: way.opt.Deterministic}))
			if err != nil {
				t.Fatalf("%+v: %v", x, err)
			}
			o := way.opt
			o.Threads, o.Streams = 2, 1
			got, s, err := answerStats(t, q, tuned.of(o))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v with %+v: %q, want %q; %v", x, way.opt, got, want, err)
			}
			var groups, left int64
			for _, d := range s.Devices {
				groups, left = max(groups, d.Groups), left+d.Selected
			}
			if way.all && x.selected && (left < int64(len(want)) || left > groups/4) || left > 0 && !x.selected {
				t.Errorf("%+v with %+v: %d of %d groups left", x, way.opt, left, groups)
			}
		}
	}
}

// limitSource is a file with columns of many types, in many row groups.
func limitSource(t *testing.T, rows int, seed uint64) gagg.Source {
	tr := &trial{table: datagen.New(datagen.Spec{Rows: rows, Seed: seed, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.String}, Distinct: rows / 3, Nulls: 0.01},
		{Name: "s", Type: column.Type{Kind: column.String}, Distinct: 20, Coded: true},
		{Name: "i", Type: column.Type{Kind: column.Int32}, Distinct: 1000, Skew: 1.1},
		{Name: "n", Type: column.Type{Kind: column.Int64}, Distinct: rows / 4, Nulls: 0.1},
		{Name: "x", Type: column.Type{Kind: column.Float64}},
	}})}
	return parquetAs(datagen.Layout{RowGroup: max(1, rows/25), Codec: "snappy"})(t, tr)
}

// Where few of many groups are wanted, a device drops most rows before it groups them: it has
// learnt a hash that enough groups do not exceed.
func TestDeviceLimitDrops(t *testing.T) {
	gputest.Need(t, 1)
	r := rand.New(rand.NewPCG(18, 1))
	for _, where := range []string{"", "x > 0.1"} {
		for _, device := range []string{"gpu", "0,1"} {
			if device == "0,1" {
				gputest.Need(t, 2)
			}
			rows := 40_000
			q := gagg.Query{From: limitSource(t, rows, r.Uint64()), By: []string{"i", "n", "s"}, Aggs: exprs("count(*)", "sum(x)"), Where: where, Limit: 1 + r.Int64N(20)}
			want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
			got, s, err := answerStats(t, q, gagg.Tuned(gagg.Options{Device: device, Threads: 1, Streams: 1, GPUMemory: 8 << 20}, gagg.DevicePays()))
			var had int64
			for _, d := range s.Devices {
				had += d.Rows
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q on %s: %q, want %q; %v", where, device, got, want, err)
			}
			if had == 0 || had > int64(rows)*3/4 {
				t.Errorf("%q on %s: devices had %d rows of %d\n%s", where, device, had, rows, fmt.Sprint(s.Devices))
			}
		}
	}
}
