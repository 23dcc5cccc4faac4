package gagg_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// selections is queries of which few groups are wanted, and whether a device selects them.
var selections = []struct {
	by, aggs      string // lists
	order, having string
	limit, offset int64
	selected      bool
}{
	{by: "i,s", aggs: "count(*) as n|min(x)", order: "-n,i,s", limit: 10, selected: true},
	// ties: most groups have one row
	{by: "i,s", aggs: "count(*) as n", order: "n,i desc,s", limit: 10, offset: 7},
	{by: "i,s", aggs: "count(*) as n|sum(i) as t", order: "-t,i,s", limit: 25, offset: 100, selected: true},
	{by: "i,s", aggs: "max(x) as m", order: "-m", limit: 5, selected: true},
	{by: "i,s", aggs: "min(x) as m", order: "m", limit: 5, selected: true},
	{by: "i,s", aggs: "mean(i) as m", order: "-m,s", limit: 50, selected: true},
	// of sums that are computed
	{by: "i,s", aggs: "mean(i * 1000000007) as m", order: "-m,s", limit: 50},
	{by: "i,s", aggs: "mean(x) as m", order: "m", limit: 50, selected: true},
	{by: "i,s", aggs: "sum(x + 1) as t", order: "t desc", limit: 50, selected: true},
	{by: "i,s", aggs: "max(x) filter (where x > 2.5) as m", order: "m nulls first,i,s", limit: 9},
	{by: "i,s", aggs: "max(x) filter (where x > 1) as m", order: "m nulls last", limit: 9, selected: true},
	{by: "i,s", aggs: "max(x) filter (where x > 1) as m", order: "m desc nulls last", limit: 9, selected: true},
	{by: "i,s", aggs: "sum(i) filter (where i < 500) as m", order: "m desc nulls last,i,s", limit: 9, selected: true},
	{by: "i,s", aggs: "min(x)", order: "-i,s", limit: 12, selected: true},
	{by: "i,x", aggs: "count(*)", order: "x,i", limit: 12, selected: true},
	{by: "i,s", aggs: "count(*) as n", order: "sqrt(mean(x * x)),i,s", limit: 12}, // has no step
	{by: "i,s", aggs: "count(*) as n", order: "mean(x) * -2,i,s", limit: 12, selected: true},
	// may fail, and does not
	{by: "i,s", aggs: "count(*) as n|sum(x) as t", order: "t * 1000,i,s", limit: 12, selected: true},
	{by: "i,s", aggs: "count(*) as n|max(x) as m|count(*) * 1000 as t", order: "-m", limit: 12, selected: true},
	{by: "i,s", aggs: "sum(i::decimal(38,2) * 3) as t|max(x) as m", order: "-m", limit: 12, selected: true},
	{by: "i,s", aggs: "sum(i) as t|max(x) as m", order: "-m,-t", limit: 12, having: "t * 2 > 100", selected: true},
	{by: "i,s", aggs: "count(*) as n", having: "count(*) > 20", selected: true},
	{by: "i,s", aggs: "count(*) as n|sum(i)", having: "sum(i) between 3000 and 9000 and max(x) > 0.5", selected: true},
	{by: "i,s", aggs: "count(*) as n|mean(x) as m", having: "count(*) > 5", order: "-m", limit: 3, selected: true},
	// none
	{by: "i,s", aggs: "count(*) as n", having: "n < 0", order: "-n", limit: 3, selected: true},
	{by: "i,s", aggs: "count(*) as n", having: "max(x) filter (where i = 3) is not null", selected: true},
	// all
	{by: "i,s", aggs: "count(*) as n", having: "count(*) >= 1"},
	// a text
	{by: "i,s", aggs: "count(*) as n", order: "s,i", limit: 3},
	// the same
	{by: "i,s", aggs: "count(*) as n", having: "s like 'a%'"},
	// lists
	{by: "i,s", aggs: "sum(i * 1000) as t|median(x)", order: "-t", limit: 3},
	// none
	{by: "i,s", aggs: "count(*) as n", order: "-n", limit: 3, having: "n // 0 > 1", selected: true},
	// long texts are the CPU's
	{by: "k", aggs: "count(*) as n", order: "-n,k", limit: 10},
}

// Devices give the groups that the CPU gives, of those that are wanted, and few others leave them.
func TestDeviceSelects(t *testing.T) {
	gputest.Need(t, 2)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1)}
	few, many := gagg.Files(randomFile(t, 2_000)), gagg.Files(randomFile(t, 12_000))
	for i, x := range selections {
		q := gagg.Query{
			By: items(x.by, ","), Aggs: exprs(items(x.aggs, "|")...), Having: x.having,
			OrderBy: items(x.order, ","), Limit: x.limit, Offset: x.offset,
		}
		for _, way := range []struct {
			from   gagg.Source
			device string
			every  int  // of the queries it has one in so many: an emulated device takes its time
			all    bool // groups are on one device
		}{{few, "gpu", 1, true}, {few, "0,1", 3, true}, {many, "gpu", 5, false}} {
			if i%way.every > 0 {
				continue
			}
			q.From = way.from
			want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
			got, s, err := answerStats(t, q, tuned.of(gagg.Options{Device: way.device, Threads: 2, Streams: 1, GPUMemory: tinyDevice}))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v on %q: %q, want %q; %v", x, way.device, got, want, err)
			}
			var groups, left int64
			for _, d := range s.Devices {
				groups, left = max(groups, d.Groups), left+d.Selected
			}
			switch selected := x.selected && way.all; {
			case !selected && left > 0, left > groups/4:
				t.Errorf("%+v on %q: %d of %d groups left", x, way.device, left, groups)
			case selected && x.having == "" && left < x.limit+x.offset, selected && x.having != "" && left < int64(len(want)):
				t.Errorf("%+v on %q: %d of %d groups left, where %d are wanted", x, way.device, left, groups, len(want))
			}
		}
	}
}

// A group that cannot be finished fails the query also where others alone are wanted: it leaves the
// device.
func TestDeviceSelectsWhatFails(t *testing.T) {
	gputest.Need(t, 1)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1)}
	from := gagg.Files(randomFile(t, 2_000))
	for _, q := range []gagg.Query{
		{Aggs: exprs("max(x) as m", "count(*) * 700000000000000000 as t"), OrderBy: []string{"-m"}, Limit: 3},
		{Aggs: exprs("max(x) as m", "count(*) as n"), OrderBy: []string{"m", "n * 700000000000000000"}, Limit: 3},
		{Aggs: exprs("max(x) as m", "count(*) as n"), Having: "n * 700000000000000000 < 0 or m < 0", OrderBy: []string{"m"}, Limit: 3},
		{Aggs: exprs("max(x) as m"), Having: "count(*) * 700000000000000000 < 0"},
	} {
		q.From, q.By = from, []string{"i"}
		_, _, want := answerStats(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		_, _, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice}))
		if want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%+v: error %v, want %v", q, err, want)
		}
	}
}

// Few groups leave the device that has them all at once, in place of being read there: the answer
// is the same.
func TestDeviceFewLeave(t *testing.T) {
	gputest.Need(t, 2)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1), gagg.FewFrom(0)}
	from := gagg.Files(randomFile(t, 2_000))
	for _, x := range []struct {
		q    gagg.Query
		left bool
	}{
		{gagg.Query{By: []string{"i", "s"}, Aggs: exprs("count(*)", "min(x)", "sum(i)")}, true},
		{gagg.Query{By: []string{"i"}, Aggs: exprs("count(*) as n"), Having: "n >= 1", OrderBy: []string{"-n", "i"}}, true},
		{gagg.Query{By: []string{"i"}, Aggs: exprs("count(*)"), Where: "i < 400"}, true},
		{gagg.Query{By: []string{"i"}, Aggs: exprs("median(x)")}, false}, // lists
	} {
		x.q.From = from
		for _, device := range []string{"gpu", "0,1"} {
			want := mustAnswer(t, x.q, tuned.of(gagg.Options{Device: "cpu"}))
			got, s, err := answerStats(t, x.q, tuned.of(gagg.Options{Device: device, Threads: 2, Streams: 1, GPUMemory: tinyDevice}))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v on %q: %q, want %q; %v", x.q, device, got, want, err)
			}
			var left int64
			for _, d := range s.Devices {
				left += d.Selected
				if !d.InCore {
					t.Errorf("%+v on %q: %+v", x.q, device, d)
				}
			}
			if x.left != (left > 0) || x.left && len(x.q.Having) == 0 && left != s.Groups {
				t.Errorf("%+v on %q: %d groups left of %d", x.q, device, left, s.Groups)
			}
		}
	}
}

// Many groups that are wanted, and still few of all, go to the buckets of several writers.
func TestDeviceSelectsMany(t *testing.T) {
	gputest.Need(t, 1)
	const rows = 300_000
	table := datagen.New(datagen.Spec{Rows: rows, Seed: 3, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.Int64}},
		{Name: "v", Type: column.Type{Kind: column.Int32}, Distinct: 100},
	}})
	var b bytes.Buffer
	if err := table.WriteParquet(&b, datagen.Layout{RowGroup: rows / 4, Codec: "snappy"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "many.parquet")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tuned := tune{gagg.DevicePays()}
	most := mustAnswer(t, gagg.Query{From: gagg.Files(path), Aggs: exprs("quantile_disc(v, 0.76)")}, gagg.Options{Device: "cpu"})[0]
	q := gagg.Query{From: gagg.Files(path), By: []string{"k"}, Aggs: exprs("max(v) as m", "count(*)"), Having: "m > " + most}
	want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
	got, s, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 4, Streams: 1, GPUMemory: 128 << 20}))
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d groups, want %d; %v", len(got), len(want), err)
	}
	if d := s.Devices[0]; d.Selected < 1<<16 || d.Selected != int64(len(want)) {
		t.Errorf("%d groups, %+v", len(want), d)
	}
}
