package gagg_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// encodedTypes are what devices decode from column chunks, if dictionaries do not ask for too
// much.
var encodedTypes = []column.Type{
	{Kind: column.Int8},
	{Kind: column.Int16},
	{Kind: column.Int32},
	{Kind: column.Int64},
	{Kind: column.Uint8},
	{Kind: column.Uint32},
	{Kind: column.Uint64},
	{Kind: column.Float16},
	{Kind: column.Float32},
	{Kind: column.Float64},
	{Kind: column.Date},
	{Kind: column.Bool},
	column.DecimalType(7, 2),
	column.TimestampType(column.Milli, false),
	column.TimestampType(column.Nano, true),
}

// encodedKeys are what devices take as keys beside them.
var encodedKeys = []column.Type{{Kind: column.UUID}, column.DecimalType(25, 3)}

// newEncodedTrial makes a trial whose row groups devices can decode, except for those with long
// strings, and whose values they can keep. Every fourth trial has a key of strings without a
// dictionary, some of them long, so that devices meet them.
func newEncodedTrial(seed uint64) *trial {
	rng := rand.New(rand.NewPCG(seed, 3))
	spec := datagen.Spec{Rows: []int{200, 3000, 9000}[rng.IntN(3)], Seed: seed}
	if seed%4 == 3 {
		spec.Rows = 9000
	}
	add := func(name string, t column.Type, special bool) {
		c := datagen.Column{
			Name: name, Type: t, Distinct: []int{1, 33, 2000, 0}[rng.IntN(4)], Special: special,
			Skew: []float64{0, 1.5}[rng.IntN(2)], Coded: rng.IntN(2) == 0, Nulls: []float64{0, 0, 0.0002, 0.1, 0.9}[rng.IntN(5)],
		}
		if long := seed%4 == 3 && len(spec.Columns) == 0; long {
			c.Type, c.Distinct, c.Skew, c.Coded = column.Type{Kind: column.String}, 2000, 1.5, false
		}
		spec.Columns = append(spec.Columns, c)
	}
	any := func() column.Type { return encodedTypes[rng.IntN(len(encodedTypes))] }
	keys := 1 + rng.IntN(3)
	for i := range keys {
		t := any()
		if rng.IntN(6) == 0 {
			t = encodedKeys[rng.IntN(len(encodedKeys))]
		}
		if rng.IntN(3) > 0 {
			add(fmt.Sprint("k", i), t, rng.IntN(2) == 0)
		} else {
			// short ones, some long ones
			add(fmt.Sprint("k", i), column.Type{Kind: []column.Kind{column.Binary, column.String}[seed/4%2]}, false)
		}
	}
	for i := range 3 {
		add(fmt.Sprint("v", i), any(), false)
	}
	tr := &trial{seed: seed, table: datagen.New(spec)}
	for i := range keys {
		tr.query.By = append(tr.query.By, spec.Columns[i].Name)
		tr.want.Keys = append(tr.want.Keys, i)
	}
	tr.addAgg("count")
	for range 1 + rng.IntN(4) {
		i := keys + rng.IntN(3)
		names := slices.DeleteFunc(aggregatesOf(spec.Columns[i]), func(name string) bool {
			moments := strings.Contains(name, "var_") || strings.Contains(name, "stddev")
			return moments && !hasProducts(spec.Columns[i].Type)
		})
		tr.addAgg(names[rng.IntN(len(names))], i)
	}
	for range int(seed % 3) { // all values of a group, once or twice
		i := keys + rng.IntN(3)
		lists := slices.DeleteFunc(holisticOf(spec.Columns[i].Type), func(h holistic) bool {
			return !slices.Contains([]string{"median", "mad", "quantile", "quantile_disc"}, h.name)
		})
		tr.addHolistic(lists[rng.IntN(len(lists))], i)
	}
	for i := range keys { // of each group the same text, or that of all
		if t := spec.Columns[i].Type.Kind; t == column.String || t == column.Binary {
			tr.addAgg([]string{"min", "max", "first", "last", "any_value"}[rng.IntN(5)], i)
		}
	}
	if rng.IntN(2) == 0 && keys > 1 {
		tr.query.By, tr.want.Keys = tr.query.By[1:], tr.want.Keys[1:]
	}
	return tr
}

// hasProducts reports whether devices make products of values of a type.
func hasProducts(t column.Type) bool { return t.IsFloat() || t.IsSigned() && t.Bits() <= 32 }

// encodedConfigurations are how such a trial's file lies, and on what it runs.
var encodedConfigurations = []configuration{
	{name: "plain", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}},
	{name: "snappy, pages", source: parquetAs(datagen.Layout{RowGroup: 3000, Page: 700, Codec: "snappy"}), opt: gagg.Options{Device: "gpu", Threads: 3, GPUMemory: 24 << 20, Streams: 1}},
	{name: "snappy, v2, required", source: parquetAs(datagen.Layout{RowGroup: 700, V2: true, Codec: "snappy", Required: true}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20, Streams: 3}},
	{name: "little memory", source: parquetAs(datagen.Layout{RowGroup: 200, Codec: "snappy"}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 3 << 20, Streams: 1}},
	{name: "little memory for both", source: parquetAs(datagen.Layout{RowGroup: 200, Codec: "snappy"}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 3 << 20, Streams: 1, MemoryLimit: 12 << 20}},
	{name: "two devices", source: parquetAs(datagen.Layout{RowGroup: 500, Codec: "snappy"}), opt: gagg.Options{Device: "0,1", Threads: 3, GPUMemory: 24 << 20}},
	{name: "auto", await: true, source: parquetAs(datagen.Layout{RowGroup: 100, Codec: "snappy"}), opt: gagg.Options{Threads: 3, GPUMemory: 24 << 20}},
	{name: "auto, in mid-run or too late", source: parquetAs(datagen.Layout{RowGroup: 100}), opt: gagg.Options{Threads: 2, GPUMemory: 24 << 20}},
	{name: "rows", source: parquetAs(datagen.Layout{RowGroup: 1000, Codec: "snappy"}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20, NoGPUDecoding: true}},
	{name: "split", source: parquetAs(datagen.Layout{RowGroup: 1000, Encoding: datagen.Split}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}},
	{name: "split, snappy, v2", source: parquetAs(datagen.Layout{RowGroup: 1000, Page: 300, V2: true, Codec: "snappy", Encoding: datagen.Split}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}},
	{name: "delta", source: parquetAs(datagen.Layout{RowGroup: 1000, Page: 700, Codec: "snappy", Encoding: datagen.Delta}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}},
	{name: "zstd", source: parquetAs(datagen.Layout{RowGroup: 1000, Codec: "zstd"}), opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}},
}

// Column chunks that devices decode give the oracle's answer, in the order of the CPU's, and so
// do row groups that they decline.
func TestDeviceEncoded(t *testing.T) {
	gputest.Need(t, 2)
	trials := uint64(5)
	if testing.Short() {
		trials = 4 // the last one has row groups that are declined
	}
	did := map[string]gagg.EncodedStats{}
	for seed := range trials {
		tr := newEncodedTrial(seed)
		tr.tuned = tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1), gagg.DevicePays()}
		tr.onDevices(t, encodedConfigurations, func(t *testing.T, c configuration, got outcome) {
			e, all := got.stats.Encoded, did[c.name]
			all.RowGroups, all.Declined = all.RowGroups+e.RowGroups, all.Declined+e.Declined
			did[c.name] = all
			if e.RowGroups+e.Declined > int64(got.stats.RowGroups) || e.Rows > got.stats.Rows {
				t.Errorf("%s\n%+v of %d row groups", tr, e, got.stats.RowGroups)
			}
		})
	}
	t.Logf("%+v", did)
	for _, c := range encodedConfigurations {
		took := did[c.name].RowGroups > 0
		switch {
		case c.name == "rows":
			if took {
				t.Errorf("%s: devices decoded row groups", c.name)
			}
		case !took && !strings.HasSuffix(c.name, "too late"):
			t.Errorf("%s: no row group was decoded by a device", c.name)
		}
	}
}

// Pages of ZSTD cross to a device as they are in the file, of either kind, and are decompressed
// there: all row groups are the device's, in fewer bytes than without a codec.
func TestDeviceZstd(t *testing.T) {
	tuned := tune{gagg.DevicePays()}
	gputest.Need(t, 1)
	table := datagen.New(datagen.Spec{Rows: 12_000, Seed: 5, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.String}, Distinct: 300, Nulls: 0.01, Coded: true},
		{Name: "i", Type: column.Type{Kind: column.Int64}, Distinct: 1000, Skew: 1.1},
		{Name: "x", Type: column.Type{Kind: column.Float64}, Distinct: 700, Nulls: 0.1},
	}})
	for _, v2 := range []bool{false, true} {
		crossed := map[string]int64{}
		for _, codec := range []string{"none", "zstd"} {
			path := filepath.Join(t.TempDir(), codec+".parquet")
			var b bytes.Buffer
			if err := table.WriteParquet(&b, datagen.Layout{RowGroup: 4000, Page: 1500, V2: v2, Codec: codec}); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			q := gagg.Query{From: gagg.Files(path), By: []string{"k"}, Aggs: exprs("count(*)", "sum(i)", "max(x)", "count(x)"), OrderBy: []string{"k"}}
			want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
			got, s, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, v2 %v: %d rows, %d wanted, or others; %v", codec, v2, len(got), len(want), err)
			}
			if e := s.Encoded; e.Declined != 0 || e.RowGroups != 3 {
				t.Errorf("%s, v2 %v: %+v", codec, v2, e)
			}
			crossed[codec] = s.Encoded.Bytes
		}
		if crossed["zstd"] > crossed["none"]*3/4 {
			t.Errorf("v2 %v: bytes that crossed: %v", v2, crossed)
		}
	}
}

// Once tables show that devices pay, devices also take row groups that workers have begun to
// read, and no worker makes rows of these.
func TestDeviceTakesBegunRowGroups(t *testing.T) {
	tuned := tune{gagg.DevicePays()}
	gputest.Need(t, 1)
	q := gagg.Query{From: gagg.Files(randomFile(t, 12_000)), By: []string{"i"}, Aggs: exprs("count(*)", "sum(i)", "max(x)")}
	want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
	for _, traced := range []io.Writer{nil, io.Discard} {
		got, s, err := answerStats(t, q, tuned.of(gagg.Options{Threads: 3, BatchRows: 64, GPUMemory: 24 << 20, Trace: traced}))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d rows, %d wanted, or others; %v", len(got), len(want), err)
		}
		if e := s.Encoded; s.Device != "gpu:0" || s.Rows != 12_000 || e.Rows != s.Rows || e.RowGroups != int64(s.RowGroups) {
			t.Errorf("computed on %s: %d rows, of %d row groups, those of devices %+v", s.Device, s.Rows, s.RowGroups, e)
		}
	}
}

// Filters, computed keys and computed arguments of encoded columns give what the CPU gives, on one
// device and on two, with room for all groups and without; a row group with a value that cannot be
// computed is the CPU's, whose error is the query's.
func TestDeviceComputed(t *testing.T) {
	gputest.Need(t, 2)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1), gagg.DevicePays()}
	from, wide := gagg.Files(randomFile(t, 12_000)), longFile(t, longRows(12_000, 600, 600, 60), 600)
	for _, x := range []struct {
		by, aggs []string
		where    string
		few      bool // rows pass, of columns with many bytes
	}{
		{[]string{"i"}, []string{"count(*)", "sum(i)", "max(x)"}, "x > 0.5 and s <> 'a'", false},
		{[]string{"s"}, []string{"count(*)", "sum(i * 2)", "median(x)"}, "i between 3 and 400 or x < 0", false},
		{[]string{"i % 10", "substr(upper(s), 1, 3)"}, []string{"count(*)", "min(x * x) filter (where i > 100)"}, "", false},
		{[]string{"i + 1"}, []string{"mean(case when x > 0 then i else 0 end)", "min(x, 2)"}, "upper(s) not like 'B%' and i // 3 > 1", false},
		// exp(avg(ln(length(s) + 1))): the logarithms of entries are summed there
		{[]string{"i % 10"}, []string{"geomean(length(s) + 1)", "count(*)"}, "", false},
		{[]string{"plain"}, []string{"max(n)"}, "n * n = 5", true},
		{[]string{"plain"}, []string{"max(n)"}, "n * n = 4 and n > 0 and text is null", true},
		// small columns are decoded also where few rows pass
		{[]string{"i"}, []string{"count(*)"}, "i < 0 and i > 0", false},
	} {
		q := gagg.Query{From: from, By: x.by, Aggs: exprs(x.aggs...), Where: x.where}
		if x.few {
			q.From = wide
		}
		want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		for _, opt := range []gagg.Options{
			{Device: "gpu", Threads: 2, GPUMemory: 24 << 20},
			{Device: "0,1", Threads: 3, GPUMemory: 24 << 20},
			{Device: "gpu", Threads: 2, GPUMemory: 3 << 20, Streams: 1},
		} {
			if x.few {
				opt.Threads = 1 // others would pack until it is known
			}
			got, s, err := answerStats(t, q, tuned.of(opt))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v on %s: %d groups, want %d, or others; %v", x, opt.Device, len(got), len(want), err)
			}
			decoded := int64(12_000)
			if x.few {
				decoded = 0 // workers read the columns of the few rows that pass
			}
			if e := s.Encoded; s.Rows != 12_000 || e.Rows != decoded || e.Declined != 0 {
				t.Errorf("%+v on %s: %d rows, those of devices %+v, fallbacks %v", x, opt.Device, s.Rows, e, s.Fallbacks)
			}
		}
	}
	q := gagg.Query{From: from, By: []string{"s"}, Aggs: exprs("sum(i * 9223372036854775807)")}
	_, onCPU := answer(t, q, gagg.Options{Device: "cpu"})
	_, onDevice := answer(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}))
	if onCPU == nil || onDevice == nil || onCPU.Error() != onDevice.Error() {
		t.Errorf("the CPU says %v, the device %v", onCPU, onDevice)
	}
}
