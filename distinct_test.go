package gagg_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// distinctTrial is a query with the given aggregates of columns x and y of type t: "distinct sum
// x".
func distinctTrial(t column.Type, rows, keys int, aggs ...string) *trial {
	seed := uint64(rows + keys)
	tr := &trial{seed: seed, table: datagen.New(datagen.Spec{Rows: rows, Seed: seed, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.Int32}, Distinct: max(keys, 1), Nulls: 0.1},
		{Name: "s", Type: column.Type{Kind: column.String}, Distinct: max(keys/20, 1)},
		{Name: "x", Type: t, Distinct: 40, Nulls: 0.2, Skew: 1, Special: true, Coded: keys == 5},
		{Name: "y", Type: t, Nulls: 0.7},
	}})}
	if keys > 0 {
		tr.query.By, tr.want.Keys = []string{"k", "s"}, []int{0, 1}
	}
	for _, a := range aggs {
		name, arg, _ := strings.Cut(a, " of ")
		tr.addAgg(name, strings.Index("ksxy", arg))
	}
	return tr
}

// Different values are counted as the oracle does: of every type, with odd values and NULL, alone
// and beside other aggregates. Each query runs in a third of the configurations, in turns. A
// short run tries a quarter of the types.
func TestDistinct(t *testing.T) {
	all := slices.Concat(configurations, tightConfigurations)
	for i, typ := range datagen.Types() {
		if testing.Short() && i%4 != 1 {
			continue
		}
		for j, aggs := range [][]string{
			{"count_distinct of x"},
			{"count_distinct of y", "count_distinct of x", "count_distinct of k"},
			{"count_distinct of y", "count of x", "max of s", "median of y", "distinct median of x"},
		} {
			for k, keys := range []int{0, 5, 200} {
				// no third of the configurations, and each type with each of the aggregates
				if (i+2*j+k)%3 == 0 {
					continue
				}
				name := fmt.Sprintf("%s/%s/keys=%d", typ, strings.Join(aggs, ","), keys)
				tr := distinctTrial(typ, 300, keys, aggs...)
				tr.tuned = tune{gagg.LeastMemory(tightMemory)}
				tryHolistic(t, name, tr, everyThird(all, i+j+k))
			}
		}
	}
}

// everyThird is one of three parts of the configurations.
func everyThird(all []configuration, part int) (third []configuration) {
	for i := part % 3; i < len(all); i += 3 {
		third = append(third, all[i])
	}
	return third
}

// Values that do not fit in memory go to disk, for one group, few and many. The answer is that
// with all memory.
func TestDistinctSpills(t *testing.T) {
	tuned := tune{gagg.LeastMemory(tightMemory)}
	rows := 200_000
	if testing.Short() {
		rows = 120_000
	}
	file := gagg.Files(randomFile(t, rows))
	for _, c := range []struct {
		by   []string
		aggs []string
	}{
		{nil, []string{"count(distinct x)"}},
		{nil, []string{"count(distinct x)", "sum(distinct x)", "count(*)", "median(distinct x)"}},
		{[]string{"i"}, []string{"count(distinct x)", "avg(distinct x)"}},
		{[]string{"i"}, []string{"count(distinct x)", "count(distinct k)", "sum(x)"}},
		{[]string{"k", "i"}, []string{"count(distinct x)"}},
		{[]string{"k"}, []string{"count(distinct s) filter (where i > 3)", "max(s)"}},
	} {
		q := gagg.Query{From: file, By: c.by, Aggs: exprs(c.aggs...)}
		want := mustAnswer(t, q, tuned.of(gagg.Options{Threads: 2}))
		for _, o := range []gagg.Options{{Threads: 1}, {Threads: 1, Partitions: 1}, {Threads: 3, MemoryLimit: 4 << 20}} {
			o = tuned.of(o)
			o.MemoryLimit += leastLimit(t, q, o)
			got, spilled, _, err := limited(t, q, o)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v by %v: %d rows that differ from %d, or error %v", c.aggs, c.by, len(got), len(want), err)
			}
			if spilled == 0 && o.Threads == 1 {
				t.Errorf("%v by %v, limit %d: nothing was spilled", c.aggs, c.by, o.MemoryLimit)
			}
		}
	}
}

// Distinct values of groups with texts, which are numbered, are counted right under limits at
// which the numbers are given up while other workers still number strings of dictionaries.
func TestDistinctOfTextsSpills(t *testing.T) {
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.LeastShared(64 << 10)}
	file := gagg.Files(randomFile(t, inShort(20_000, 120_000)))
	for _, c := range []struct {
		by   []string
		aggs []string
	}{
		{[]string{"k", "s"}, []string{"count(distinct i)"}},
		{[]string{"k"}, []string{"count(distinct s)", "count(distinct i) filter (where x > 0.2)", "max(s)"}},
		{[]string{"s", "k"}, []string{"count(distinct x)", "avg(distinct i)", "count(*)"}},
	} {
		q := gagg.Query{From: file, By: c.by, Aggs: exprs(c.aggs...)}
		want := mustAnswer(t, q, tuned.of(gagg.Options{Threads: 2, Partitions: 8}))
		for _, o := range []gagg.Options{{}, {Threads: 1, MemoryLimit: 1}, {Threads: 3, MemoryLimit: 2 << 20}, {Threads: 3, MemoryLimit: 16 << 20}} {
			o = tuned.of(o)
			if o.MemoryLimit > 0 {
				o.MemoryLimit += leastLimit(t, q, o)
			}
			got, spilled, _, err := limited(t, q, o)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v by %v: %d rows that differ from %d, or error %v", c.aggs, c.by, len(got), len(want), err)
			}
			if spilled == 0 && o.MemoryLimit > 0 && o.Threads == 1 {
				t.Errorf("%v by %v, limit %d: nothing was spilled", c.aggs, c.by, o.MemoryLimit)
			}
		}
	}
}

// Distinct values of grouping sets are those of each set alone, and the input is read once: where
// each set of keys and values stays in memory, and where that of the finest is given up because
// hardly a value comes twice there.
func TestDistinctOfSets(t *testing.T) {
	t.Parallel()
	from := gagg.Files(randomFile(t, inShort(120_000, 200_000)))
	aggs := exprs("count(distinct i)", "sum(distinct i)", "count(distinct s)")
	for _, c := range []struct {
		sets string
		keys []string
		has  [][]bool
	}{
		{gagg.Rollup, []string{"x", "s"}, [][]bool{{true, true}, {true, false}, {false, false}}},
		{"(s), (i), (k)", []string{"s", "i", "k"}, [][]bool{{true, false, false}, {false, true, false}, {false, false, true}}},
	} {
		q := gagg.Query{From: from, By: c.keys, Sets: c.sets, Aggs: aggs}
		var want []string
		for _, has := range c.has {
			want = append(want, setAlone(t, q, has)...)
		}
		slices.Sort(want)
		var log bytes.Buffer
		got := mustAnswer(t, q, gagg.Options{Threads: 2, Device: "cpu", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s of %v: %d rows, want %d; first: %v", c.sets, c.keys, len(got), len(want), firstOther(got, want))
		}
		if strings.Contains(log.String(), "read again") {
			t.Errorf("%s of %v: the input was read again", c.sets, c.keys)
		}
	}
}
