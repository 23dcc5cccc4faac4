package gagg_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// statesOf is the states that a query gives, as records of the caller's.
func statesOf(t *testing.T, q gagg.Query, o gagg.Options) (*arrow.Schema, []arrow.Record) {
	t.Helper()
	q.Partial, q.OrderBy, o.Allocator = true, nil, nil
	rows, err := gagg.Run(t.Context(), q, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	var records []arrow.Record
	for rows.Next() {
		rows.Record().Retain()
		records = append(records, rows.Record())
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return rows.Schema(), records
}

// stateFile writes states to a file.
func stateFile(t *testing.T, schema *arrow.Schema, records []arrow.Record) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "*.state")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// stateSource is states as a source: a file, or records.
func stateSource(t *testing.T, rng *rand.Rand, schema *arrow.Schema, records []arrow.Record) gagg.Source {
	t.Helper()
	if rng.IntN(2) == 0 {
		return gagg.Files(stateFile(t, schema, records))
	}
	r, err := array.NewRecordReader(schema, records)
	if err != nil {
		t.Fatal(err)
	}
	return gagg.Records(r)
}

// inParts is the states of so many parts of the rows of a trial, merged in a random tree: the
// source of what is left to merge.
func inParts(parts int, layout datagen.Layout, o gagg.Options) func(*testing.T, *trial) gagg.Source {
	return func(t *testing.T, tr *trial) gagg.Source {
		rng := rand.New(rand.NewPCG(tr.seed, uint64(parts)))
		var b bytes.Buffer
		if err := tr.table.WriteParquet(&b, layout); err != nil {
			t.Fatal(err)
		}
		q, o := tr.query, tr.tuned.of(o)
		if o.MemoryLimit > 0 {
			o.TempDir = t.TempDir()
		}
		var all []gagg.Source
		for i := range parts {
			q.From = gagg.Parquet("trial", bytes.NewReader(b.Bytes()), int64(b.Len()))
			q.Part = gagg.Part{Number: i + 1, Of: parts}
			schema, records := statesOf(t, q, o)
			all = append(all, stateSource(t, rng, schema, records))
		}
		q.Part = gagg.Part{}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for len(all) > 6 || len(all) > 1 && rng.IntN(2) == 0 {
			n := 1 + rng.IntN(min(len(all), 6))
			q.From = gagg.Merge(all[:n]...)
			schema, records := statesOf(t, q, o)
			all = append(all[n:], stateSource(t, rng, schema, records))
		}
		return gagg.Merge(all...)
	}
}

// Whatever the parts and the tree in which their states are merged, and whatever memory there is, a
// query has the oracle's answer.
func TestMetamorphicStates(t *testing.T) {
	layout := datagen.Layout{RowGroup: 150}
	configs := []configuration{
		{name: "one part", source: inParts(1, layout, gagg.Options{Threads: 2})},
		{name: "3 parts", source: inParts(3, layout, gagg.Options{Threads: 1})},
		{name: "50 parts, of which some are empty", source: inParts(50, layout, gagg.Options{Threads: 1})},
		{
			name: "little memory", source: inParts(4, layout, gagg.Options{Threads: 1, MemoryLimit: 8 << 20}),
			opt: gagg.Options{Threads: 1}, least: true,
		},
	}
	trials := uint64(12)
	if testing.Short() {
		trials = 3
	}
	for seed := range trials {
		tr := newTrial(seed, 0, 1, 40, 1500, 4000)
		tr.tuned = tune{gagg.LeastMemory(tightMemory)}
		want, err := oracle.Run(tr.table.Batches(1000), tr.table.Schema(), tr.want)
		if err != nil {
			continue // an overflow
		}
		for _, c := range configs {
			t.Run(fmt.Sprintf("seed=%d/%s", seed, c.name), func(t *testing.T) {
				got, err := tr.run(t, c)
				if err == nil {
					err = oracle.Equal(got.Result, want)
				}
				if err != nil {
					t.Errorf("%s\n%v", tr, err)
				}
			})
		}
	}
}

// With Deterministic the bits are those of one run, whatever the parts, the tree, the memory and
// the threads, and whether the last rows come as states or as they are. Parts see values of other
// sizes, so that they have other windows; some see NaN and infinities.
func TestDeterministicStates(t *testing.T) {
	layout := datagen.Layout{RowGroup: 150}
	exact := gagg.Options{Deterministic: true, Threads: 1}
	few := exact
	few.MemoryLimit = 8 << 20
	for seed := range uint64(4) {
		tr := &trial{seed: seed, tuned: tune{gagg.LeastMemory(tightMemory)}, table: datagen.New(datagen.Spec{Rows: 3000, Seed: seed, Columns: []datagen.Column{
			{Name: "k", Type: column.Type{Kind: column.Int32}, Distinct: 7},
			{Name: "i", Type: column.Type{Kind: column.Int32}, Nulls: 0.1},
			{Name: "x", Type: column.Type{Kind: column.Float64}, Nulls: 0.1},
			{Name: "y", Type: column.Type{Kind: column.Float32}, Distinct: 60},
			{Name: "z", Type: column.Type{Kind: column.Float64}, Distinct: 2000, Special: seed == 3},
		}})}
		tr.query = gagg.Query{By: []string{"k"}, OrderBy: []string{"k"}, Aggs: exprs(
			"sum(x)", "mean(y)", "sum(x * power(2e0, i % 900))", "stddev(x)", "var_pop(x * power(2e0, -(i % 300)))", "covar_samp(x, y)", "corr(x, i)",
			"skewness(y)", "kurtosis(x)", "sum(z)", "var_samp(z)", "product(y)", "mode(y)", "sum(distinct y)", "sum(x) filter (where i > 0)")}
		var b bytes.Buffer
		if err := tr.table.WriteParquet(&b, layout); err != nil {
			t.Fatal(err)
		}
		file := gagg.Parquet("trial", bytes.NewReader(b.Bytes()), int64(b.Len()))
		q := tr.query
		q.From = file
		want := mustAnswer(t, q, gagg.Options{Deterministic: true, Threads: 3})
		for parts, o := range map[int]gagg.Options{1: exact, 3: few, 40: exact} {
			q.From = inParts(parts, layout, o)(t, tr)
			// the states tell that they are exact
			if got := mustAnswer(t, q, gagg.Options{Threads: 2}); !slices.Equal(got, want) {
				t.Errorf("seed %d, %d parts\ngot\n%s\nwant\n%s", seed, parts, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		q.From = file
		schema, records := statesOf(t, q, exact)
		more := gagg.Readers(gagg.Reader{Name: "more", Reader: bytes.NewReader(b.Bytes()), Size: int64(b.Len())})
		q.From = gagg.Merge(stateSource(t, rand.New(rand.NewPCG(seed, 1)), schema, records), more)
		twice := mustAnswer(t, q, exact)
		q.From = gagg.Readers(gagg.Reader{Name: "a", Reader: bytes.NewReader(b.Bytes()), Size: int64(b.Len())}, gagg.Reader{Name: "b", Reader: bytes.NewReader(b.Bytes()), Size: int64(b.Len())})
		if want := mustAnswer(t, q, exact); !slices.Equal(twice, want) {
			t.Errorf("seed %d, states and rows\ngot\n%s\nwant\n%s", seed, strings.Join(twice, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Two inputs are one behind the other in whatever tree their states are merged, as long as each
// merge has them in one order: by the order in which it meets them, or by that of a state of both.
func TestStatesOfTwoInputs(t *testing.T) {
	var files []gagg.Reader
	for i, name := range []string{"a", "b"} {
		table := datagen.New(datagen.Spec{Rows: 90, Seed: uint64(i), Columns: []datagen.Column{
			{Name: "k", Type: column.Type{Kind: column.Int32}},
			{Name: "i", Type: column.Type{Kind: column.Int32}},
			{Name: "s", Type: column.Type{Kind: column.String}, Distinct: 60, Nulls: 0.2},
		}})
		var b bytes.Buffer
		if err := table.WriteParquet(&b, datagen.Layout{RowGroup: 10}); err != nil {
			t.Fatal(err)
		}
		files = append(files, gagg.Reader{Name: name, Reader: bytes.NewReader(b.Bytes()), Size: int64(b.Len())})
	}
	o := gagg.Options{Threads: 1}
	q := gagg.Query{From: gagg.Readers(files...), By: []string{"k % 3 as r"}, OrderBy: []string{"r"}, Aggs: exprs(
		"first(s)", "last(s)", "arg_min(s, i % 3)", "arg_max(s, i % 3)", "mode(i % 5)", "list(s)", "string_agg(s, ',')")}
	want := mustAnswer(t, q, o)
	if len(want) == 0 || len(want) > 5 {
		t.Fatalf("%d groups, want some that both inputs have", len(want))
	}

	type states struct {
		schema  *arrow.Schema
		records []arrow.Record
		of      string // of which inputs, in order
	}
	// merged is the source of states in an order of the inputs a, b.
	merged := func(rng *rand.Rand, all []states) (_ gagg.Source, of string) {
		both := slices.ContainsFunc(all, func(s states) bool { return s.of == "ab" })
		if i := slices.IndexFunc(all, func(s states) bool { return s.of == "a" }); !both && i > 0 {
			all[0], all[i] = all[i], all[0]
		}
		var sources []gagg.Source
		for _, s := range all {
			sources = append(sources, stateSource(t, rng, s.schema, s.records))
			if !strings.Contains(of, s.of) {
				of += s.of
			}
		}
		if both {
			of = "ab"
		}
		return gagg.Merge(sources...), of
	}
	const parts = 4
	var leaves []states
	for _, f := range files {
		for i := range parts {
			q := q
			q.From, q.Part = gagg.Readers(f), gagg.Part{Number: i + 1, Of: parts}
			schema, records := statesOf(t, q, o)
			leaves = append(leaves, states{schema, records, f.Name})
		}
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		q, all, tree := q, slices.Clone(leaves), ""
		for {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			n := 1 + rng.IntN(len(all))
			some := all[:n]
			var of string
			q.From, of = merged(rng, some)
			for _, s := range some {
				tree += s.of + " "
			}
			if n == len(all) {
				break
			}
			schema, records := statesOf(t, q, o)
			all = append(all[n:], states{schema, records, of})
			tree += "= " + of + ", "
		}
		if got := mustAnswer(t, q, o); !slices.Equal(got, want) {
			t.Errorf("seed %d, %s\ngot\n%s\nwant\n%s", seed, tree, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// States of more groups, and of larger ones, than there is memory for are written and merged within
// the limit, and leave nothing behind.
func TestStatesSpill(t *testing.T) {
	for _, c := range spillCases(t) {
		c.query.OrderBy, c.query.Limit = nil, 0
		t.Run(c.name, func(t *testing.T) {
			want := mustAnswer(t, c.query, c.tuned.of(gagg.Options{Threads: 2}))
			slices.Sort(want)
			o := gagg.Options{Threads: 2, MemoryLimit: 16 << 20, TempDir: t.TempDir()}
			if testing.Short() {
				o.MemoryLimit = 4 << 20
			}
			o = c.tuned.of(o)
			var files []string
			for i := range 3 {
				q := c.query
				q.Part = gagg.Part{Number: i + 1, Of: 3}
				files = append(files, stateFileOf(t, q, o))
			}
			q := gagg.Query{From: gagg.Merge(gagg.Files(files...))}
			got, spilled, _, err := limited(t, q, o)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%d rows, want %d, or others", len(got), len(want))
			}
			if spilled == 0 && c.name != "one group" {
				t.Error("nothing was spilled")
			}
		})
	}
}

// stateFileOf writes the states of a query to a file.
func stateFileOf(t *testing.T, q gagg.Query, o gagg.Options) string {
	t.Helper()
	schema, records := statesOf(t, q, o)
	return stateFile(t, schema, records)
}

// The states of each format version stay readable: the files were written by the first gagg that
// had them, of every aggregate.
func TestStatesGolden(t *testing.T) {
	t.Run("v1", func(t *testing.T) { testGolden(t, "testdata/states/v1.state", gagg.Options{Threads: 1}) })
	t.Run("v2", func(t *testing.T) {
		testGolden(t, "testdata/states/v2.state", gagg.Options{Threads: 1, Deterministic: true})
	})
	t.Run("v3", func(t *testing.T) { testGolden(t, "testdata/states/v3.state", gagg.Options{Threads: 1}) })
	t.Run("v3 exact", func(t *testing.T) {
		testGolden(t, "testdata/states/v3-exact.state", gagg.Options{Threads: 1, Deterministic: true})
	})
}

func testGolden(t *testing.T, file string, o gagg.Options) {
	q := goldenQuery()
	if *updateGolden && strings.Contains(file, "/v3") { // older ones nobody writes any more
		made, err := os.ReadFile(stateFileOf(t, q, o))
		if err == nil {
			err = os.WriteFile(file, made, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := mustAnswer(t, q, o)
	if len(want) < 3 {
		t.Fatal("there are too few groups")
	}
	q.From = gagg.Merge(gagg.Files(file))
	if got := mustAnswer(t, q, gagg.Options{Threads: 1}); !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

// States of each format version go together with those of each other version, with fresh ones of
// another input, and with rows; the answer is that of one run over all rows, also when the result
// is states again, which are of the newest version.
func TestStatesOfVersions(t *testing.T) {
	rows, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	reader := func(name string) gagg.Reader {
		return gagg.Reader{Name: name, Reader: bytes.NewReader(rows), Size: int64(len(rows))}
	}
	for _, exact := range []bool{false, true} {
		o, q := gagg.Options{Threads: 1, Deterministic: exact}, goldenQuery()
		files := []string{"testdata/states/v1.state", "testdata/states/v3.state"}
		if exact {
			files = []string{"testdata/states/v2.state", "testdata/states/v3-exact.state"}
		}
		q.From = gagg.Readers(reader("orders"), reader("others"))
		if !exact { // sums of floats may differ in their last bit from those of one run
			q.From = gagg.Files("testdata/orders.parquet")
			q.From = gagg.Merge(gagg.Files(stateFileOf(t, q, o)), gagg.Readers(reader("others")))
		}
		want := mustAnswer(t, q, o)
		q.From = gagg.Readers(reader("others"))
		schema, records := statesOf(t, q, o)
		fresh := func() gagg.Source { return stateSource(t, rand.New(rand.NewPCG(7, 7)), schema, records) }
		for i, file := range files {
			for what, other := range map[string]gagg.Source{"fresh states": fresh(), "rows": gagg.Readers(reader("others"))} {
				q.From = gagg.Merge(gagg.Files(file), other)
				if got := mustAnswer(t, q, o); !slices.Equal(got, want) {
					t.Errorf("%s and %s\ngot\n%.500s\nwant\n%.500s", file, what, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			q.From = gagg.Merge(gagg.Files(file), fresh())
			schema, records := statesOf(t, q, o)
			if text := schema.Metadata().Values()[0]; !strings.Contains(text, `"version":3`) {
				t.Errorf("%s and others are states of %.40s", file, text)
			}
			again := gagg.Files(stateFile(t, schema, records))
			q.From = gagg.Merge(again)
			if got := mustAnswer(t, q, o); !slices.Equal(got, want) {
				t.Errorf("%s, merged twice\ngot\n%.500s\nwant\n%.500s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			// The files are of the same rows, whichever version they are of.
			q.From = gagg.Merge(again, gagg.Files(files[1-i]))
			if _, err := gagg.Run(t.Context(), q, o); !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "they would count twice") {
				t.Errorf("%s and %s: %v", file, files[1-i], err)
			}
		}
	}
	for _, pair := range [][2]string{{"v1", "v3-exact"}, {"v2", "v3"}, {"v1", "v2"}} {
		from := gagg.Merge(gagg.Files("testdata/states/"+pair[0]+".state", "testdata/states/"+pair[1]+".state"))
		if _, err := gagg.Run(t.Context(), gagg.Query{From: from}, gagg.Options{}); err == nil || !strings.Contains(err.Error(), "only some were made with --deterministic") {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

var updateGolden = flag.Bool("update-states", false, "TestStatesGolden writes the files of the newest version")

// goldenQuery is of each aggregate and of values of each kind.
func goldenQuery() gagg.Query {
	q := gagg.Query{
		From: gagg.Files("testdata/orders.parquet"), By: []string{"region", "quantity > 6 as big"}, Where: "price < 6 and quantity in (3, 9) and customer like '%1'", OrderBy: []string{"region", "big"},
		Aggs: exprs(
			"count(*)", "count(discount)", "sum(quantity)", "sum(price)", "sum(discount)", "mean(price)", "sum(cast(price as decimal(30,4)))",
			"min(product)", "max(product)", "min(price)", "max(ordered_at)", "min(discount)", "max(quantity)", "min(cast(price as decimal(30,4)))",
			"var_samp(price)", "stddev_pop(discount)", "covar_samp(price, quantity)", "corr(price, discount)", "skewness(price)", "kurtosis(discount)", "regr_slope(price, quantity)",
			"product(price)", "bool_and(price > 1)", "bool_or(price > 100)", "bit_and(quantity)", "bit_or(quantity)", "bit_xor(quantity)",
			"any_value(product)", "first(product)", "first(price)", "last(customer)", "arg_min(product, price)", "arg_max(price, product)", "arg_min(quantity, discount)",
			"median(price)", "quantile(discount, 0.3)", "quantile(price, [0.1, 0.9])", "quantile_disc(product, 0.5)", "mad(price)", "mode(product)", "mode(quantity)",
			"approx_top_k(product, 2)", "entropy(product)", "histogram(quantity)", "count(distinct customer)", "sum(distinct quantity)", "list(quantity)", "list(product)",
			"string_agg(product, '|')", "list(product order by price, product)", "string_agg(distinct product, ',' order by product)", "arg_max(product, price, 2)",
			"min(price, 2)", "max(price, 20)", "max(product, 2)", "approx_count_distinct(customer)", "approx_count_distinct(price)", "approx_quantile(price, 0.5)",
			"sum(price) filter (where quantity > 3)", "geomean(price)", "weighted_avg(price, quantity)",
		),
	}
	return q
}
