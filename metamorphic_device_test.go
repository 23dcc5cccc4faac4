package gagg_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// tinyDevice is the least memory of a device, for one stream, that any trial's rows can
// do with: its table stops to grow at some thousand groups, and chains of pages run full.
const tinyDevice = 640 << 10

// deviceConfigurations are ways of running a trial on devices: all groups stay on it; it has
// no room for them, and the rest crosses back and comes again bucket by bucket; of those a part
// is left to the CPU; and the host has little memory as well.
var deviceConfigurations = []configuration{
	{name: "gpu", source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Device: "gpu", Threads: 3, GPUMemory: 32 << 20}},
	{name: "eight streams", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 8, GPUMemory: 32 << 20, BatchRows: 100}},
	{name: "tiny memory", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice}},
	{name: "tiny memory, partitions", source: parquetAs(datagen.Layout{RowGroup: 700}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 2, GPUMemory: 2 * tinyDevice, Partitions: 16}},
	{name: "tiny memory, tiny loads", source: parquetAs(datagen.Layout{RowGroup: 700}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice, Partitions: 2, LoadFactor: [2]float64{0.02, 0.05}}},
	{name: "little memory for both", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice, MemoryLimit: 8 << 20}},
	{name: "little memory for both, partitions", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice, MemoryLimit: 8 << 20, Partitions: 64}},
	{name: "two devices", source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Device: "0,1", Threads: 3, GPUMemory: 16 << 20}},
	{name: "two tiny devices", source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Device: "1,0", Threads: 3, Streams: 1, GPUMemory: tinyDevice, Partitions: 4}},
	{name: "arrow records", source: recordsOf, opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 32 << 20}},
	{name: "auto", await: true, source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Threads: 3, GPUMemory: 32 << 20}},
	{name: "auto, in mid-run or too late", source: parquetAs(datagen.Layout{RowGroup: 100}), opt: gagg.Options{Threads: 2, GPUMemory: 32 << 20}},
	{name: "auto, little memory for both", await: true, source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Threads: 2, Streams: 1, GPUMemory: tinyDevice, MemoryLimit: 8 << 20}},
	{name: "auto in mid-run, little memory for both", source: parquetAs(datagen.Layout{RowGroup: 100}), opt: gagg.Options{Threads: 2, Streams: 1, GPUMemory: tinyDevice, MemoryLimit: 8 << 20}},
	{name: "auto, tiny memory", await: true, source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Threads: 2, Streams: 1, GPUMemory: tinyDevice}},
}

// F71: one query and one data set, on devices of any size: the oracle's answer, in the order of
// the CPU's, and nothing is left on a device.
func TestMetamorphicDevice(t *testing.T) {
	gputest.Need(t, 2)
	trials := uint64(8)
	if testing.Short() {
		trials = 4
	}
	computed, did := map[string]int{}, gagg.DeviceStats{}
	for seed := range trials {
		tr := newDeviceTrial(seed, 33, 6000, 20_000)
		tr.tuned = tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1), gagg.DevicePays(), gagg.CountsValues()}
		if seed%2 == 1 {
			tr.tuned = append(tr.tuned, gagg.ShareFrom(0))
		}
		switch seed % 4 {
		case 0:
			tr.query.OrderBy = []string{"count(*) desc"}
		case 1:
			tr.query.Limit = 7
		}
		list := slices.Clone(deviceConfigurations)
		for i := range list { // all rows that leave stay, as many as a few buffers take, none
			list[i].kept = []int64{1 << 30, 300 << 10, -1}[(int(seed)+i+i/4)%3]
		}
		tr.onDevices(t, list, func(t *testing.T, c configuration, got outcome) {
			computed[c.opt.Device+" "+got.stats.Device]++
			for _, s := range got.stats.Devices {
				did.RestRows, did.Evictions = did.RestRows+s.RestRows, did.Evictions+s.Evictions
				did.Buckets, did.FullBuckets = did.Buckets+s.Buckets, did.FullBuckets+s.FullBuckets
				did.InCore, did.KeptRows, did.DirectRows = did.InCore || s.InCore, did.KeptRows+s.KeptRows, did.DirectRows+s.DirectRows
				if c.kept < 0 && s.KeptRows > 0 {
					t.Errorf("%d rows were kept", s.KeptRows)
				}
			}
		})
	}
	t.Logf("what computed: %v; devices in all: %+v", computed, did)
	if !did.InCore || did.RestRows == 0 || did.Evictions == 0 || did.KeptRows <= did.DirectRows || did.DirectRows == 0 || did.Buckets == 0 || did.FullBuckets == 0 {
		t.Error("not all ways of a device were gone")
	}
	if computed[" gpu:0"] == 0 {
		t.Error("no run took a device that was not asked for")
	}
}

// onDevices runs a trial in each of the configurations, unless its answer overflows, and passes
// each outcome to see.
func (tr *trial) onDevices(t *testing.T, list []configuration, see func(t *testing.T, c configuration, got outcome)) {
	t.Helper()
	want, err := oracle.Run(tr.table.Batches(1000), tr.table.Schema(), tr.want)
	if err != nil {
		return // an overflow
	}
	plain, err := tr.run(t, configurations[0])
	if err != nil {
		t.Fatalf("%s\n%v", tr, err)
	}
	for _, c := range list {
		t.Run(fmt.Sprintf("seed=%d/%s", tr.seed, strings.ReplaceAll(c.name, " ", "_")), func(t *testing.T) {
			gputest.Need(t, 1+strings.Count(c.opt.Device, ","))
			defer gputest.Closed(t)
			see(t, c, tr.sameAs(t, c, plain, want))
		})
	}
}

// sameAs runs a trial on a device: the oracle's answer, in the order of the CPU's.
func (tr *trial) sameAs(t *testing.T, c configuration, plain outcome, want oracle.Result) outcome {
	t.Helper()
	got, err := tr.run(t, c)
	if err == nil && tr.query.Limit == 0 {
		err = oracle.Equal(got.Result, want)
	}
	if err == nil && !slices.Equal(got.keys, plain.keys) {
		err = errors.New("the rows are in another order")
	}
	if err != nil {
		t.Errorf("%s\n%v", tr, err)
	}
	return got
}

// keysOfMany are columns with about as many groups as rows; of long strings and short ones, and of
// NULL and NaN too.
var keysOfMany = []datagen.Column{
	{Type: column.Type{Kind: column.Int64}},
	{Type: column.Type{Kind: column.String}, Nulls: 0.1},
	{Type: column.Type{Kind: column.Float64}, Special: true, Nulls: 0.1},
	{Type: column.TimestampType(column.Micro, false), Distinct: 4000, Skew: 1.5},
}

// newDeviceTrial makes a trial that a device can do, three of four with many groups.
func newDeviceTrial(seed uint64, sizes ...int) *trial {
	tr := newTrial(seed, sizes...)
	if n := int(seed % 4); n > 0 || len(tr.query.By) == 0 {
		spec := datagen.Spec{Rows: tr.table.Rows, Seed: seed, Columns: slices.Clone(tr.table.Columns)}
		many := keysOfMany[int(seed)/4%len(keysOfMany)]
		many.Name = spec.Columns[0].Name
		spec.Columns[0] = many
		tr.table = datagen.New(spec)
		tr.query.By, tr.want.Keys, tr.want.Of = []string{many.Name}, []int{0}, nil
		if n == 2 {
			tr.query.By, tr.want.Keys = append(tr.query.By, spec.Columns[1].Name), append(tr.want.Keys, 1)
		}
	}
	tr.query.Aggs, tr.want.Aggs = nil, nil
	tr.addAgg("count")
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 1 + rng.IntN(3) {
		i := rng.IntN(len(tr.table.Columns))
		names := slices.DeleteFunc(aggregatesOf(tr.table.Columns[i]), func(name string) bool {
			return slices.Contains([]string{"any_value", "first", "last"}, name) && tr.table.Columns[i].Type.Rep() == column.RepWide ||
				tr.table.Columns[i].Type.Rep() == column.RepBytes && name != "count"
		})
		tr.addAgg(names[rng.IntN(len(names))], i)
	}
	return tr
}
