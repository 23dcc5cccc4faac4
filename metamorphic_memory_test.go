package gagg_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// tightMemory is the least for the groups of a worker, in bytes, under which
// a few thousand rows do not fit: a sixth of what it is outside of tests.
const tightMemory = 640 << 10

// tightConfigurations are ways of running a trial with little memory, for
// tests that have set tightMemory: workers that spill and go on, values that
// are too many, partitions that are divided or, having one hash, sorted.
var tightConfigurations = []configuration{
	{name: "the least memory", least: true, source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Threads: 1}},
	{name: "a little more", least: true, source: parquetAs(datagen.Layout{RowGroup: 1000, Codec: "snappy"}), opt: gagg.Options{Threads: 1, MemoryLimit: 96 << 10}},
	{name: "the least, one partition", least: true, source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Threads: 1, Partitions: 1}},
	{name: "the least, tiny batches", least: true, source: parquetAs(datagen.Layout{RowGroup: 500}), opt: gagg.Options{Threads: 1, Partitions: 4, BatchRows: 33}},
	{name: "little for three", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Threads: 3, Partitions: 16, MemoryLimit: 6 << 20}},
	{name: "little for records", source: recordsOf, opt: gagg.Options{Threads: 2, MemoryLimit: 6 << 20}},
	{name: "16 MiB", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Threads: 4, MemoryLimit: 16 << 20}},
	{name: "64 MiB", source: parquetAs(datagen.Layout{RowGroup: 1000}), opt: gagg.Options{Threads: 4, MemoryLimit: 64 << 20}},
}

// F12: one query and one data set, whatever memory there is for it: the
// oracle's answer, in the order of a run without a limit.
func TestMetamorphicMemory(t *testing.T) {
	trials := uint64(24)
	if testing.Short() {
		trials = 4
	}
	runs, spilled := 0, 0
	for seed := range trials {
		tr := newTrial(seed, 3000, 10_000)
		tr.tuned = tune{gagg.LeastMemory(tightMemory), gagg.CountsValues(), gagg.Parts()}
		// of more keys the sets need more than the limits leave
		if seed%2 == 1 && len(tr.query.By) <= 2 {
			tr.addSets(rand.New(rand.NewPCG(seed, 3)))
		}
		if seed%3 == 0 {
			tr.query.OrderBy = []string{"count(*) desc"}
		}
		want, err := oracle.Run(tr.table.Batches(1000), tr.table.Schema(), tr.want)
		if err != nil {
			continue // an overflow, which TestMetamorphic has too
		}
		plenty, err := tr.run(t, configurations[0])
		if err != nil {
			t.Fatalf("%s\n%v", tr, err)
		}
		for _, c := range tightConfigurations {
			t.Run(fmt.Sprintf("seed=%d/%s", seed, strings.ReplaceAll(c.name, " ", "_")), func(t *testing.T) {
				got, err := tr.run(t, c)
				if err == nil {
					err = oracle.Equal(got.Result, want)
				}
				if err == nil && !slices.Equal(got.keys, plenty.keys) {
					err = errors.New("the rows are in another order")
				}
				if err != nil {
					t.Errorf("%s\n%v", tr, err)
				}
				if runs++; got.stats.SpilledBytes > 0 {
					spilled++
				}
			})
		}
	}
	t.Logf("%d of %d runs spilled", spilled, runs)
	if spilled < runs/3 {
		t.Errorf("only %d of %d runs spilled: they had too much memory", spilled, runs)
	}
}
