package gagg_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// floatRow is a row of a key and of numbers to add up.
type floatRow struct {
	K int64   `parquet:"k"`
	X float64 `parquet:"x"`
	Y float64 `parquet:"y"`
}

// floatRows is values in a few groups of each kind: usual ones, such as cancel each other, all
// exponents, subnormal ones.
func floatRows(n, groups int) []floatRow {
	r := rand.New(rand.NewPCG(7, 7))
	rows := make([]floatRow, n)
	for i := range rows {
		k := r.IntN(groups)
		x := r.NormFloat64() * 100
		switch k % 8 {
		case 5:
			x = []float64{1e300, -1e300, 1, 1e-300, 0.1}[r.IntN(5)]
		case 6:
			for x = math.Inf(1); x-x != 0; {
				x = math.Float64frombits(r.Uint64())
			}
		case 7:
			x = math.Float64frombits(r.Uint64N(1 << 53))
		}
		rows[i] = floatRow{K: int64(k), X: x, Y: r.Float64()*1e6 + 1e9}
	}
	return rows
}

// usualRows is rows whose numbers are of usual sizes.
func usualRows(n, groups int) []floatRow {
	rows := floatRows(n, groups)
	for i := range rows {
		rows[i].X = rows[i].Y / 3e4
	}
	return rows
}

// floatFiles writes rows to so many files of row groups of a size.
func floatFiles(t *testing.T, rows []floatRow, files int, rowGroup int64) gagg.Source {
	t.Helper()
	var paths []string
	for f := range files {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[floatRow](&b, parquet.MaxRowsPerRowGroup(rowGroup))
		if _, err := w.Write(rows[f*len(rows)/files : (f+1)*len(rows)/files]); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.parquet", f))
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return gagg.Files(paths...)
}

// floatRecords is the same as Arrow records, which can be read once.
func floatRecords(t *testing.T, rows []floatRow) gagg.Source {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	t.Cleanup(b.Release)
	for _, r := range rows {
		b.Field(0).(*array.Int64Builder).Append(r.K)
		b.Field(1).(*array.Float64Builder).Append(r.X)
		b.Field(2).(*array.Float64Builder).Append(r.Y)
	}
	return builtRecords(t, b)
}

// floatAggs is every aggregate whose result floats are added up for, or whose choice may depend on
// the order of files.
var floatAggs = exprs("sum(x)", "avg(x)", "fsum(y)", "sum(x * 3) as tripled", "sum(distinct y) as different",
	"var_samp(y)", "stddev_pop(y)", "covar_samp(x, y)", "corr(y, y / 3)", "skewness(y)", "kurtosis(y)", "regr_slope(y, k)", "regr_intercept(y, y)",
	"weighted_avg(y, k + 1)", "sem(y)", "geomean(y)", "sum(y) filter (where x > 0) as some", "product(y / 1e9)", "mode(k % 3)",
	"approx_quantile(y, 0.5)", "approx_count_distinct(y)", "median(y)", "mad(y)", "entropy(y)")

// Results have the same bits on any number of threads, under any limit of memory, of any order of
// rows, row groups and files, and of a stream.
func TestDeterministic(t *testing.T) {
	rows := floatRows(inShort(6000, 20_000), 300)
	ask := func(from gagg.Source, o gagg.Options, by ...string) []string {
		o.Deterministic = true
		return mustAnswer(t, gagg.Query{From: from, By: by, Aggs: floatAggs, OrderBy: by}, o)
	}
	for _, by := range [][]string{nil, {"k"}} {
		want := ask(floatFiles(t, rows, 1, 1<<20), gagg.Options{Threads: 1}, by...)
		r := rand.New(rand.NewPCG(1, 1))
		for i, o := range []gagg.Options{
			{Threads: 2},
			{Threads: 3, Partitions: 16},
			{Threads: 16, BatchRows: 100},
			{Threads: 4, Partitions: 64, MemoryLimit: 1},
		} {
			mixed := slices.Clone(rows)
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			from := floatFiles(t, mixed, i+1, int64(500*(i+1)))
			if o.MemoryLimit > 0 {
				o.Deterministic, o.TempDir = true, t.TempDir()
				o.MemoryLimit = leastLimit(t, gagg.Query{From: from, By: by, Aggs: floatAggs, OrderBy: by}, o) + 1<<20
			}
			if got := ask(from, o, by...); !slices.Equal(got, want) {
				t.Fatalf("by %v, with %+v: %s", by, o, differing(got, want))
			}
		}
		if got := ask(floatRecords(t, rows), gagg.Options{Threads: 2}, by...); !slices.Equal(got, want) {
			t.Fatalf("by %v, of records: %s", by, differing(got, want))
		}
	}
}

// differing is the first line that differs.
func differing(got, want []string) string {
	for i := range want {
		if i < len(got) && got[i] != want[i] {
			return fmt.Sprintf("row %d is\n%s, want\n%s", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d rows, want %d", len(got), len(want))
}

// Sums are those of math/big, rounded once, where groups go to disk too.
func TestDeterministicSpills(t *testing.T) {
	rows := usualRows(inShort(20_000, 100_000), 40_000)
	sums := map[int64]*big.Float{}
	for _, r := range rows {
		if sums[r.K] == nil {
			sums[r.K] = new(big.Float).SetPrec(3000)
		}
		sums[r.K].Add(sums[r.K], new(big.Float).SetFloat64(r.X))
	}
	q := gagg.Query{From: floatFiles(t, rows, 2, 5000), By: []string{"k"}, Aggs: exprs("sum(x)")}
	o := gagg.Options{Threads: 2, Deterministic: true, MemoryLimit: 1, TempDir: t.TempDir()}
	o = tune{gagg.LeastMemory(1 << 18)}.of(o)
	o.MemoryLimit = leastLimit(t, q, o)
	lines, stats, err := answerStats(t, q, o)
	if err != nil {
		t.Fatal(err)
	}
	if stats.SpilledBytes == 0 || len(lines) != len(sums) {
		t.Fatalf("%d bytes went to disk, of %d groups", stats.SpilledBytes, len(lines))
	}
	for _, line := range lines {
		key, sum, _ := strings.Cut(line, "|")
		k, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, err := strconv.ParseFloat(sum, 64)
		if want, _ := sums[k].Float64(); err != nil || got != want {
			t.Fatalf("the sum of group %d is %v, want %v", k, got, want)
		}
	}
}

// NaN and infinities, which the first plan has no place for, come late, and in few groups.
func TestDeterministicSpecial(t *testing.T) {
	rows := usualRows(5000, 4)
	last := len(rows) - 1
	rows[last].K, rows[last].X = 0, math.NaN()
	rows[last-1].K, rows[last-1].X = 1, math.Inf(1)
	rows[last-2].K, rows[last-2].X = 2, math.Inf(-1)
	rows[last-3].K, rows[last-3].X = 2, math.Inf(1)
	q := gagg.Query{By: []string{"k"}, Aggs: exprs("sum(x)", "avg(x)", "var_pop(x)"), OrderBy: []string{"k"}}
	for _, from := range []gagg.Source{floatFiles(t, rows, 2, 1000), floatRecords(t, rows)} {
		q.From = from
		got := mustAnswer(t, q, gagg.Options{Threads: 2, Deterministic: true})
		for i, want := range []string{"0|NaN|NaN|NaN", "1|+Inf|+Inf|NaN", "2|NaN|NaN|NaN"} {
			if got[i] != want {
				t.Errorf("row %d is %s, want %s", i, got[i], want)
			}
		}
	}
}
