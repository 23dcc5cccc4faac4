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
	{name: "gpu", source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Device: "gpu", Threads: 3}},
	{name: "eight streams", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 8, BatchRows: 100}},
	{name: "tiny memory", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice}},
	{name: "tiny memory, partitions", source: parquetAs(datagen.Layout{RowGroup: 700}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 2, GPUMemory: 2 * tinyDevice, Partitions: 16}},
	{name: "tiny memory, tiny loads", source: parquetAs(datagen.Layout{RowGroup: 700}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice, Partitions: 2, LoadFactor: [2]float64{0.02, 0.05}}},
	{name: "little memory for both", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: tinyDevice, MemoryLimit: 24 << 20}},
	{name: "two devices", source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Device: "0,1", Threads: 3}},
	{name: "two tiny devices", source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Device: "1,0", Threads: 3, Streams: 1, GPUMemory: tinyDevice, Partitions: 4}},
	{name: "arrow records", source: recordsOf, opt: gagg.Options{Device: "gpu", Threads: 2}},
}

// F71: one query and one data set, on devices of any size: the oracle's answer, in the order of
// the CPU's, and nothing is left on a device.
func TestMetamorphicDevice(t *testing.T) {
	gputest.Need(t, 2)
	gagg.SetLeastMemory(t, tightMemory)
	gagg.SetPassLeast(t, 1)
	trials := uint64(24)
	if testing.Short() {
		trials = 4
	}
	computed := map[string]int{}
	for seed := range trials {
		tr := newDeviceTrial(seed, 1, 33, 3000, 12_000)
		switch seed % 4 {
		case 0:
			tr.query.OrderBy = []string{"count(*) desc"}
		case 1:
			tr.query.Limit = 7
		}
		want, err := oracle.Run(tr.table.Batches(1000), tr.table.Schema(), tr.want)
		if err != nil {
			continue // an overflow
		}
		plain, err := tr.run(t, configurations[0])
		if err != nil {
			t.Fatalf("%s\n%v", tr, err)
		}
		for _, c := range deviceConfigurations {
			t.Run(fmt.Sprintf("seed=%d/%s", seed, strings.ReplaceAll(c.name, " ", "_")), func(t *testing.T) {
				defer gputest.Closed(t)
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
				computed[got.stats.Device]++
			})
		}
	}
	t.Logf("what computed: %v", computed)
}

// newDeviceTrial makes a trial that a device can do.
func newDeviceTrial(seed uint64, sizes ...int) *trial {
	tr := newTrial(seed, sizes...)
	if len(tr.query.By) == 0 {
		tr.query.By, tr.want.Keys = []string{tr.table.Columns[0].Name}, []int{0}
	}
	tr.query.Aggs, tr.want.Aggs = nil, nil
	tr.addAgg("count")
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 1 + rng.IntN(3) {
		i := rng.IntN(len(tr.table.Columns))
		names := slices.DeleteFunc(aggregatesOf(tr.table.Columns[i]), func(name string) bool {
			return slices.Contains([]string{"any_value", "first", "last"}, name) ||
				tr.table.Columns[i].Type.Rep() == column.RepBytes && name != "count"
		})
		tr.addAgg(names[rng.IntN(len(names))], i)
	}
	return tr
}
