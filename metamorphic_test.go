package gagg_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// trial is a random query over a random table, from one seed.
type trial struct {
	seed  uint64
	table *datagen.Table
	query gagg.Query
	want  oracle.Query
	tuned tune
}

var distincts = []int{1, 2, 33, 400, 0}

// aggregatesOf is the aggregates that are tried on a column.
func aggregatesOf(c datagen.Column) []string {
	out, t := []string{"count", "min", "max", "any_value", "first", "last"}, c.Type
	switch {
	case c.Special: // extremes overflow sums and lose all digits of a variance
	case t.Kind == column.Bool:
		return append(out, "bool_and", "bool_or")
	case t.IsInteger():
		return append(out, "sum", "mean", "var_samp", "stddev_pop", "bit_and", "bit_or", "bit_xor", "distinct sum", "distinct mean", "distinct bit_xor")
	case t.IsFloat():
		return append(out, "sum", "mean", "var_pop", "stddev_samp", "distinct sum", "distinct var_pop")
	case t.Kind == column.Decimal:
		return append(out, "sum", "mean", "distinct sum", "distinct mean")
	}
	return out
}

// newTrial makes a trial of as many rows as one of sizes says.
func newTrial(seed uint64, sizes ...int) *trial {
	rng := rand.New(rand.NewPCG(seed, 0))
	types := datagen.Types()
	spec := datagen.Spec{Rows: sizes[rng.IntN(len(sizes))], Seed: seed}
	for i := range 2 + rng.IntN(5) {
		t := types[rng.IntN(len(types))]
		spec.Columns = append(spec.Columns, datagen.Column{
			Name: fmt.Sprintf("c%d", i), Type: t, Distinct: distincts[rng.IntN(len(distincts))],
			Nulls: []float64{0, 0.1, 0.9, 1}[rng.IntN(4)], Skew: []float64{0, 1.5}[rng.IntN(2)],
			Special: rng.IntN(2) == 0, Coded: rng.IntN(2) == 0,
		})
	}
	tr := &trial{seed: seed, table: datagen.New(spec)}
	computed := rand.New(rand.NewPCG(seed, 1))
	for i := range spec.Columns {
		if len(tr.query.By) < 4 && rng.IntN(2) == 0 {
			tr.addKey(computed, i)
		}
	}
	tr.addFollowing(rand.New(rand.NewPCG(seed, 2)))
	tr.addAgg("count")
	for range 1 + rng.IntN(5) {
		i := rng.IntN(len(spec.Columns))
		names, holistic := aggregatesOf(spec.Columns[i]), holisticOf(spec.Columns[i].Type)
		if n := rng.IntN(len(names) + len(holistic)); n < len(names) {
			tr.addAgg(names[n], i)
		} else {
			tr.addHolistic(holistic[n-len(names)], i)
		}
	}
	if i := rng.IntN(len(spec.Columns)); rng.IntN(3) == 0 {
		tr.query.Where = spec.Columns[i].Name + " is not null"
		tr.want.Where = func(row []column.Value) bool { return !row[i].Null }
	}
	return tr
}

// addSets has the query ask for several sets of its keys, or for a row of totals, which is the
// group of one more set. Keys that are the same expression are left alone: a set could be there
// twice, as two rows that nothing tells apart.
func (tr *trial) addSets(rng *rand.Rand) {
	n := len(tr.query.By)
	seen := map[string]bool{}
	for _, key := range tr.query.By {
		seen[key] = true
	}
	if n == 0 || n > 4 || len(seen) < n {
		return
	}
	full := make([]bool, n)
	for i := range full {
		full[i] = true
	}
	tr.want.Sets = [][]bool{full}
	switch rng.IntN(4) {
	case 0:
		tr.query.Sets = gagg.Rollup
		for k := n - 1; k >= 0; k-- {
			tr.want.Sets = append(tr.want.Sets, slices.Concat(full[:k], make([]bool, n-k)))
		}
	case 1:
		tr.query.Sets = gagg.Cube
		for set := range 1<<n - 1 {
			tr.want.Sets = append(tr.want.Sets, keysOfSet(set, n))
		}
	case 2:
		texts := []string{"(" + strings.Join(tr.query.By, ", ") + ")"}
		for set := range 1<<n - 1 {
			if has := keysOfSet(set, n); rng.IntN(2) == 0 {
				var keys []string
				for i := range has {
					if has[i] {
						keys = append(keys, tr.query.By[i])
					}
				}
				tr.want.Sets, texts = append(tr.want.Sets, has), append(texts, "("+strings.Join(keys, ", ")+")")
			}
		}
		tr.query.Sets = strings.Join(texts, ", ")
	}
	isEmpty := func(has []bool) bool { return !slices.Contains(has, true) }
	if !slices.ContainsFunc(tr.want.Sets, isEmpty) {
		tr.query.Totals = true
		tr.want.Sets = append(tr.want.Sets, make([]bool, n))
	}
	tr.query.Aggs = append([]gagg.Agg{gagg.Expr("grouping(" + strings.Join(tr.query.By, ", ") + ")")}, tr.query.Aggs...)
}

// keysOfSet is which of n keys the bits of a set name.
func keysOfSet(set, n int) []bool {
	has := make([]bool, n)
	for i := range has {
		has[i] = set>>i&1 == 1
	}
	return has
}

// keys is how many columns of the result tell a group.
func (tr *trial) keys() int {
	if tr.want.Sets != nil {
		return len(tr.want.Keys) + 1
	}
	return len(tr.want.Keys)
}

// addKey adds a column as a key, or now and then a function of it.
func (tr *trial) addKey(rng *rand.Rand, i int) {
	c := tr.table.Columns[i]
	var of oracle.Function
	if fs := oracle.Functions(c.Type); len(fs) > 0 && rng.IntN(3) == 0 {
		of = fs[rng.IntN(len(fs))]
	}
	tr.query.By = append(tr.query.By, of.Text(c.Name))
	tr.want.Keys, tr.want.Of = append(tr.want.Keys, i), append(tr.want.Of, of)
}

// addFollowing adds, now and then, a key that follows from another one: a function of it, or the
// same once more.
func (tr *trial) addFollowing(rng *rand.Rand) {
	if len(tr.want.Keys) == 0 || rng.IntN(3) > 0 {
		return
	}
	i := tr.want.Keys[rng.IntN(len(tr.want.Keys))]
	c, of := tr.table.Columns[i], oracle.Function{}
	if fs := oracle.Functions(c.Type); len(fs) > 0 && rng.IntN(4) > 0 {
		of = fs[rng.IntN(len(fs))]
	}
	at := rng.IntN(len(tr.want.Keys) + 1)
	tr.query.By = slices.Insert(tr.query.By, at, of.Text(c.Name))
	tr.want.Keys, tr.want.Of = slices.Insert(tr.want.Keys, at, i), slices.Insert(tr.want.Of, at, of)
}

// addAgg adds an aggregate of a column, or of all rows; "distinct sum" is sum(distinct x).
func (tr *trial) addAgg(name string, args ...int) {
	text := "*"
	if len(args) > 0 {
		text = tr.table.Columns[args[0]].Name
	}
	name, distinct := strings.CutPrefix(name, "distinct ")
	if distinct {
		text = "distinct " + text
	}
	tr.query.Aggs = append(tr.query.Aggs, gagg.Expr(name+"("+text+")"))
	tr.want.Aggs = append(tr.want.Aggs, oracle.Agg{Func: name, Args: args, Distinct: distinct})
}

// configuration is one way of running a trial.
type configuration struct {
	name   string
	source func(t *testing.T, tr *trial) gagg.Source
	opt    gagg.Options
	least  bool  // the least memory limit, and opt.MemoryLimit on top
	await  bool  // the input waits until a device is open that may take part
	kept   int64 // bytes for rows that leave a device to stay in; 0: as usual, negative: none
}

func parquetAs(l datagen.Layout) func(*testing.T, *trial) gagg.Source {
	return func(t *testing.T, tr *trial) gagg.Source {
		var b bytes.Buffer
		if err := tr.table.WriteParquet(&b, l); err != nil {
			t.Fatal(err)
		}
		return gagg.Parquet("trial", bytes.NewReader(b.Bytes()), int64(b.Len()))
	}
}

func recordsOf(t *testing.T, tr *trial) gagg.Source {
	var fields []arrow.Field
	for _, f := range tr.table.Schema().Fields {
		fields = append(fields, column.ArrowField(f.Name, f.Type, true))
	}
	schema := arrow.NewSchema(fields, nil)
	var records []arrow.Record
	for _, b := range tr.table.Batches(700) {
		var cols []arrow.Array
		for i := range b.Cols {
			arr, err := column.ToArrow(&b.Cols[i], memory.DefaultAllocator)
			if err != nil {
				t.Fatal(err)
			}
			cols = append(cols, arr)
		}
		records = append(records, array.NewRecord(schema, cols, int64(b.Rows)))
	}
	r, err := array.NewRecordReader(schema, records)
	if err != nil {
		t.Fatal(err)
	}
	return gagg.Records(r)
}

var configurations = []configuration{
	{name: "one row group", source: parquetAs(datagen.Layout{}), opt: gagg.Options{Threads: 1}},
	{name: "many row groups", source: parquetAs(datagen.Layout{RowGroup: 100, Codec: "zstd"}), opt: gagg.Options{Threads: 4}},
	{name: "tiny pages, v2", source: parquetAs(datagen.Layout{RowGroup: 1000, Page: 7, V2: true, Codec: "snappy", Encoding: datagen.Delta}), opt: gagg.Options{Threads: 2}},
	{name: "tiny batches", source: parquetAs(datagen.Layout{RowGroup: 500, Encoding: datagen.Split}), opt: gagg.Options{Threads: 2, BatchRows: 3}},
	{name: "partitioned at once", source: parquetAs(datagen.Layout{RowGroup: 300}), opt: gagg.Options{Threads: 3, Partitions: 16}},
	{name: "one partition, small batches", source: parquetAs(datagen.Layout{RowGroup: 300, Required: true}), opt: gagg.Options{Threads: 2, Partitions: 1, BatchRows: 33}},
	{name: "parts of row groups", source: parquetAs(datagen.Layout{RowGroup: 1300, Page: 40, Codec: "snappy"}), opt: gagg.Options{Threads: 5, BatchRows: 64}},
	{name: "parts of one, v2, small batches", source: parquetAs(datagen.Layout{Page: 11, V2: true, Encoding: datagen.Delta}), opt: gagg.Options{Threads: 3, BatchRows: 7}},
	{name: "no pruning", source: parquetAs(datagen.Layout{RowGroup: 50}), opt: gagg.Options{Threads: 2, NoPruning: true}},
	{name: "arrow records", source: recordsOf, opt: gagg.Options{Threads: 2}},
}

// One query and one data set, many ways to run it, one answer: the oracle's,
// in one order.
func TestMetamorphic(t *testing.T) {
	trials := uint64(150)
	if testing.Short() {
		trials = 30
	}
	sets, totals := 0, 0
	for seed := range trials {
		tr := newTrial(seed, 0, 1, 31, 33, 3000)
		tr.tuned = tune{gagg.PartLeast(1)}
		if seed%2 == 1 {
			tr.tuned = append(tr.tuned, gagg.CountsValues(), gagg.Parts())
		}
		if seed%3 == 2 {
			tr.addSets(rand.New(rand.NewPCG(seed, 3)))
			if tr.query.Sets != "" {
				sets++
			}
			if tr.query.Totals {
				totals++
			}
		}
		want, err := oracle.Run(tr.table.Batches(1000), tr.table.Schema(), tr.want)
		if err != nil && !errors.Is(err, oracle.ErrOverflow) {
			t.Fatal(err)
		}
		for _, c := range configurations {
			t.Run(fmt.Sprintf("seed=%d/%s", seed, strings.ReplaceAll(c.name, " ", "_")), func(t *testing.T) {
				got, runErr := tr.run(t, c)
				if err != nil || runErr != nil {
					if !errors.Is(runErr, gagg.ErrOverflow) || err == nil {
						t.Fatalf("%s\nerror %v, the oracle's %v", tr, runErr, err)
					}
					return
				}
				if err := oracle.Equal(got.Result, want); err != nil {
					t.Fatalf("%s\n%v", tr, err)
				}
			})
		}
	}
	if sets < 3 || totals < 2 {
		t.Errorf("%d trials with grouping sets, %d with totals", sets, totals)
	}
}

func (tr *trial) String() string {
	var cols []string
	for _, c := range tr.table.Columns {
		cols = append(cols, fmt.Sprintf("%s %s nulls=%g distinct=%d coded=%t", c.Name, c.Type, c.Nulls, c.Distinct, c.Coded))
	}
	return fmt.Sprintf("seed %d, %d rows of %s\nby %v, sets %v, aggregates %v, where %q", tr.seed, tr.table.Rows, strings.Join(cols, "; "), tr.query.By, tr.want.Sets, tr.want.Aggs, tr.query.Where)
}

// outcome is what a run of a trial gave.
type outcome struct {
	oracle.Result
	keys  []string // of the rows, in their order
	stats gagg.Stats
}

// run runs the trial and checks that nothing is left: nothing allocated, no
// part of the memory limit, no file. Where the least memory is too little for the result of one
// group, it is given what the error says is enough.
func (tr *trial) run(t *testing.T, c configuration) (out outcome, err error) {
	t.Helper()
	out, err = tr.runOnce(t, c)
	// of one group
	if need := (*gagg.NeedError)(nil); c.least && errors.As(err, &need) && need.Result != "" {
		c.least, c.opt.MemoryLimit = false, need.Need
		return tr.runOnce(t, c)
	}
	return out, err
}

func (tr *trial) runOnce(t *testing.T, c configuration) (out outcome, err error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	q, o := tr.query, tr.tuned.of(c.opt)
	if c.kept != 0 {
		o = gagg.Tuned(o, gagg.PinnedRetainBytes(max(c.kept, 0)))
	}
	q.From, o.Allocator = c.source(t, tr), mem
	if o.MemoryLimit > 0 || c.least {
		o.TempDir = t.TempDir()
	}
	if c.least {
		o.MemoryLimit += leastLimit(t, q, o)
	}
	// some of it perhaps of a device that was opened for an earlier run, and is being closed
	live := hostmem.Live()
	run := gagg.RunHeld
	if c.await {
		run = gagg.RunAwaiting
	}
	rows, held, err := run(t.Context(), q, o)
	defer func() {
		for end := time.Now().Add(30 * time.Second); (held() != 0 || hostmem.Live() > live) && time.Now().Before(end); {
			// a device may still be opened, and what it has pinned be freed
			time.Sleep(time.Millisecond)
		}
		left, _ := os.ReadDir(o.TempDir) // "" has none
		if n, buffers := held(), hostmem.Live()-live; n != 0 || buffers > 0 || len(left) > 0 {
			t.Errorf("%s\n%d bytes of the memory limit are still held, %d of buffers, and files %v", tr, n, buffers, left)
		}
	}()
	if err != nil {
		return out, err
	}
	defer rows.Release()
	var batches []column.Batch
	for rows.Next() {
		batches = append(batches, tr.batchOf(t, rows.Record()))
		out.keys = append(out.keys, linesOf(rows.Record().Columns()[:tr.keys()])...)
	}
	out.Result, out.stats = oracle.Rows(batches, tr.keys()), rows.Stats()
	return out, rows.Err()
}

// batchOf is a copy of a record.
func (tr *trial) batchOf(t *testing.T, rec arrow.Record) column.Batch {
	b := column.Batch{Rows: int(rec.NumRows()), Cols: make([]column.Vector, rec.NumCols())}
	for i := range b.Cols {
		if err := column.FromArrow(rec.Column(i), &b.Cols[i]); err != nil {
			t.Fatal(err)
		}
		b.Cols[i] = column.Concat(b.Cols[i : i+1])
	}
	return b
}
