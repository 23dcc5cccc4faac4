package gagg_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// answer runs a query and returns its rows as lines of text.
func answer(t *testing.T, q gagg.Query, o gagg.Options) ([]string, error) {
	t.Helper()
	lines, _, err := answerStats(t, q, o)
	return lines, err
}

// answerStats is answer with what the run tells of itself.
func answerStats(t *testing.T, q gagg.Query, o gagg.Options) (lines []string, stats gagg.Stats, err error) {
	t.Helper()
	return answerIn(t.Context(), t, q, o)
}

// answerIn is answerStats with a context.
func answerIn(ctx context.Context, t *testing.T, q gagg.Query, o gagg.Options) (lines []string, stats gagg.Stats, err error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	o.Allocator = mem
	rows, err := gagg.Run(ctx, q, o)
	if err != nil {
		return nil, stats, err
	}
	defer rows.Release()
	for rows.Next() {
		lines = append(lines, linesOf(rows.Record().Columns())...)
	}
	return lines, rows.Stats(), rows.Err()
}

// linesOf is the rows of columns as text.
func linesOf(cols []arrow.Array) (lines []string) {
	if len(cols) == 0 {
		return nil
	}
	for i := range cols[0].Len() {
		var cells []string
		for _, col := range cols {
			cells = append(cells, strings.Clone(col.ValueStr(i))) // which may lie in the record
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return lines
}

func mustAnswer(t *testing.T, q gagg.Query, o gagg.Options) []string {
	t.Helper()
	lines, err := answer(t, q, o)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

const orders = "testdata/orders.parquet"

// tune is what a test changes of its runs.
type tune []gagg.Change

// of is options with these changes.
func (u tune) of(o gagg.Options) gagg.Options { return gagg.Tuned(o, u...) }

func exprs(texts ...string) (out []gagg.Agg) {
	for _, s := range texts {
		out = append(out, gagg.Expr(s))
	}
	return out
}

// items is those of a list in a table of trials, which has none if it is empty.
func items(text, separator string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, separator)
}

// randomFile writes a table of many groups and returns its path.
func randomFile(t testing.TB, rows int) string {
	t.Helper()
	return randomFileOf(t, rows, max(1, rows/20))
}

// randomFileOf is randomFile with row groups of so many rows.
func randomFileOf(t testing.TB, rows, group int) string {
	t.Helper()
	table := datagen.New(datagen.Spec{Rows: rows, Seed: 3, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.String}, Distinct: rows / 3, Nulls: 0.01},
		{Name: "s", Type: column.Type{Kind: column.String}, Distinct: 20, Coded: true},
		{Name: "i", Type: column.Type{Kind: column.Int32}, Distinct: 1000, Skew: 1.1},
		{Name: "x", Type: column.Type{Kind: column.Float64}},
	}})
	var b bytes.Buffer
	if err := table.WriteParquet(&b, datagen.Layout{RowGroup: group, Codec: "snappy"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "random.parquet")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// inShort is few in short tests, else n. The race detector's tests are short: it takes ten times
// the time.
func inShort[N int | int64](few, n N) N {
	if testing.Short() {
		return few
	}
	return n
}

// RESULT-ORDER: the output order is the same whatever threads, batches and
// partitions.
func TestSameOrder(t *testing.T) {
	q := gagg.Query{From: gagg.Files(randomFile(t, inShort(20_000, 60_000))), By: []string{"k", "i"}, Aggs: exprs("count(*)", "min(s)")}
	want := mustAnswer(t, q, gagg.Options{Threads: 1})
	for _, o := range []gagg.Options{
		{Threads: 1, Partitions: 64}, {Threads: 4}, {Threads: 3, Partitions: 1, BatchRows: 100}, {Threads: 2, Partitions: 4096},
	} {
		if got := mustAnswer(t, q, o); !slices.Equal(got, want) {
			t.Errorf("%+v: another order or other rows (%d and %d)", o, len(got), len(want))
		}
	}
}

// TLP: a condition, its negation and "unknown" split the rows of every group
// (SQLancer's ternary logic partitioning), with and without pruning.
func TestConditionsPartitionRows(t *testing.T) {
	file := gagg.Files(randomFile(t, 20_000))
	total := mustAnswer(t, gagg.Query{From: file, Aggs: exprs("count(*)", "sum(i)")}, gagg.Options{})
	for _, cond := range []string{"i < 300", "k > 'm'", "s = s", "x between 0.2 and 0.7", "k is null or i in (1, 2, 3)", "i % 7 = 0 and x > 0.5"} {
		for _, noPruning := range []bool{false, true} {
			var count, sum int64
			for _, where := range []string{cond, "not (" + cond + ")", "(" + cond + ") is null"} {
				got := mustAnswer(t, gagg.Query{From: file, Aggs: exprs("count(*)", "sum(i)"), Where: where}, gagg.Options{NoPruning: noPruning})
				var c, s int64
				if _, err := fmt.Sscanf(strings.ReplaceAll(strings.ReplaceAll(got[0], "(null)", "0"), "|", " "), "%d %d", &c, &s); err != nil {
					t.Fatalf("%q: %v", got[0], err)
				}
				count, sum = count+c, sum+s
			}
			if got := fmt.Sprintf("%d|%d", count, sum); got != total[0] {
				t.Errorf("%s, pruning off %t: the three parts give %s, all rows %s", cond, noPruning, got, total[0])
			}
		}
	}
}

// Order, limit and having see keys, aggregates, aliases and expressions.
func TestOrderLimitHaving(t *testing.T) {
	for _, x := range []struct {
		why  string
		q    gagg.Query
		want []string
	}{
		{
			"descending by alias, cut",
			gagg.Query{By: []string{"region"}, Aggs: exprs("count(*) as n"), OrderBy: []string{"-n"}, Limit: 2},
			[]string{"Oceania|2462", "Asia|2423"},
		},
		{
			"by an aggregate that is not put out",
			gagg.Query{By: []string{"region"}, OrderBy: []string{"count(*) desc"}, Limit: 1},
			[]string{"Oceania"},
		},
		{
			"by the number of an output column",
			gagg.Query{By: []string{"region"}, Aggs: exprs("count(*) as n"), OrderBy: []string{"2 desc"}, Limit: 1},
			[]string{"Oceania|2462"},
		},
		{
			"having over an aggregate and a key",
			gagg.Query{By: []string{"region as r"}, Having: "count(*) < 2380 and r <> 'Africa'", OrderBy: []string{"r"}},
			[]string{"Europe"},
		},
		{
			"an expression over aggregates, by position of its text", gagg.Query{Aggs: exprs("max(quantity) - min(quantity)", "count(distinct_is_no_column)")}, nil,
		},
		{"no rows asked for", gagg.Query{By: []string{"region"}, Limit: gagg.NoRows}, nil},
		{"a limit without order", gagg.Query{By: []string{"customer"}, Aggs: exprs("count(*) as n"), Having: "n > 1000000", Limit: 5}, nil},
	} {
		x.q.From = gagg.Files(orders)
		got, err := answer(t, x.q, gagg.Options{})
		if x.why == "an expression over aggregates, by position of its text" {
			if !errors.Is(err, gagg.ErrUsage) {
				t.Errorf("%s: error %v", x.why, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, error %v; want %v", x.why, got, err, x.want)
		}
	}
}

// Each kind of mistake has its kind of error, in one line.
func TestErrorKinds(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.parquet")
	if err := os.WriteFile(bad, []byte("PAR1 but not really"), 0o600); err != nil {
		t.Fatal(err)
	}
	count := exprs("count(*)")
	for _, x := range []struct {
		q    gagg.Query
		o    gagg.Options
		want error
	}{
		{gagg.Query{Aggs: count}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files()}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders)}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), Aggs: count, Where: "price"}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), Aggs: count, Where: "count(*) > 1"}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), Aggs: exprs("sum(count(*))")}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), Aggs: exprs("sum(region)")}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), Aggs: exprs("frobnicate(price)")}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), Aggs: exprs("price + 1")}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), By: []string{"sum(price)"}}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), By: []string{"nowhere"}}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), Aggs: count, Limit: -2}, gagg.Options{}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(orders), Aggs: count}, gagg.Options{Partitions: 3, Threads: -1}, gagg.ErrUsage},
		{gagg.Query{From: gagg.Files(bad), Aggs: count}, gagg.Options{}, gagg.ErrInput},
		{gagg.Query{From: gagg.Files(bad + ".not"), Aggs: count}, gagg.Options{}, gagg.ErrInput},
		{gagg.Query{From: gagg.Files(orders), By: []string{"customer", "price"}}, gagg.Options{MemoryLimit: 100 << 10}, gagg.ErrBudget},
		{gagg.Query{From: gagg.Files(orders), Aggs: exprs("sum(quantity * 9000000000000000000)")}, gagg.Options{}, gagg.ErrOverflow},
	} {
		_, err := answer(t, x.q, x.o)
		if !errors.Is(err, x.want) {
			t.Errorf("%+v %+v: error %v, want %v", x.q, x.o, err, x.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %q", err)
		}
	}
}

// countingObserver cancels a run after some reports of progress.
type countingObserver struct {
	n      atomic.Int64
	after  int64
	cancel context.CancelFunc
}

func (o *countingObserver) Progress(gagg.Progress) {
	if o.n.Add(1) == o.after {
		o.cancel()
	}
}

// A cancelled context ends scan and output, in Run or in Next, at whatever
// point, and leaves no goroutine and no open file.
func TestCancel(t *testing.T) {
	file := randomFile(t, 30_000)
	before := runtime.NumGoroutine()
	for after := int64(1); after < 40; after += 3 {
		ctx, cancel := context.WithCancel(t.Context())
		o := &countingObserver{after: after, cancel: cancel}
		rows, err := gagg.Run(ctx, gagg.Query{From: gagg.Files(file), By: []string{"k", "x"}}, gagg.Options{Threads: 2, Observer: o})
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Release()
		}
		if o.n.Load() >= after && err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("after %d reports: error %v", after, err)
		}
		if after < 15 && err == nil {
			t.Errorf("after %d reports of a run of more: no error", after)
		}
		cancel()
	}
	for range 1000 { // goroutines end shortly after what they signal
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// A reader that is released early stops the rest.
func TestReleaseEarly(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	rows, err := gagg.Run(t.Context(), gagg.Query{From: gagg.Files(randomFile(t, 60_000)), By: []string{"k", "x"}},
		gagg.Options{Allocator: mem, Partitions: 64})
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	rows.Release()
}

// The functions that make aggregates say what their text says.
func TestAggFunctions(t *testing.T) {
	for _, x := range []struct {
		made gagg.Agg
		text string
	}{
		{gagg.CountDistinct("product"), "count(distinct product)"},
		{gagg.Median("price"), "median(price)"},
		{gagg.Quantile("price", 0.125), "quantile(price, 0.125)"},
		{gagg.Mode("region"), "mode(region)"},
		{gagg.List("quantity"), "list(quantity)"},
		{gagg.StringAgg("region", " 'n "), "string_agg(region, ' ''n ')"},
	} {
		q := gagg.Query{From: gagg.Files(orders), By: []string{"product"}, OrderBy: []string{"product"}}
		q.Aggs = []gagg.Agg{x.made}
		got, err := answer(t, q, gagg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		q.Aggs = exprs(x.text)
		want, err := answer(t, q, gagg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s gives %.100s, want %.100s", x.text, got, want)
		}
	}
}
