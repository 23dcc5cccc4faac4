package gagg_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// The faults of docs/faults.md that only a whole run shows.

// writeValues makes a Parquet file of one column, x, in memory.
func writeValues(t *testing.T, node parquet.Node, rowGroup int, values ...parquet.Value) gagg.Source {
	t.Helper()
	b := valuesFile(t, node, rowGroup, values...)
	return gagg.Parquet("x.parquet", bytes.NewReader(b), int64(len(b)))
}

func valuesFile(t *testing.T, node parquet.Node, rowGroup int, values ...parquet.Value) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("table", parquet.Group{"x": node}), parquet.MaxRowsPerRowGroup(int64(rowGroup)))
	for _, v := range values {
		if _, err := w.WriteRows([]parquet.Row{{v}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// changer changes the input after some reports of progress.
type changer struct {
	n, after atomic.Int64
	change   func()
}

func (c *changer) Progress(gagg.Progress) {
	if c.n.Add(1) == c.after.Load() {
		c.change()
	}
}

// F31: a file that is cut, written over or replaced while it is read, early
// or late, is an input error that names it, never an answer.
func TestInputChanges(t *testing.T) {
	whole, err := os.ReadFile(randomFile(t, 20_000))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "changing.parquet")
	write := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Error(err)
		}
	}
	changes := map[string]func(){
		"cut":       func() { write(path, whole[:len(whole)/2]) },
		"emptied":   func() { write(path, nil) },
		"scribbled": func() { write(path, bytes.Repeat([]byte{0xA5}, len(whole))) },
		"longer":    func() { write(path, append(slices.Clone(whole), "more"...)) },
		"replaced": func() {
			write(path+".new", whole)
			if err := os.Rename(path+".new", path); err != nil {
				t.Error(err)
			}
		},
		"removed": func() {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		},
	}
	for name, change := range changes {
		for _, after := range []int64{1, 10, 20} { // of 20 row groups
			write(path, whole)
			long := time.Now().Add(-time.Hour) // whatever the grain of the file system's clock
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
			c := &changer{change: change}
			c.after.Store(after)
			q := gagg.Query{From: gagg.Files(path), By: []string{"s", "i"}, Aggs: exprs("sum(x)")}
			lines, err := answer(t, q, gagg.Options{Threads: 2, Observer: c})
			if !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), path) || len(lines) > 0 {
				t.Errorf("%s after %d row groups: %d rows, error %v", name, after, len(lines), err)
			}
		}
	}
}

// F48, F49: a sum that passes 38 digits names itself and its group, and one
// that comes back is exact.
func TestSumBeyondDecimal(t *testing.T) {
	top := new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	top.Sub(top, big.NewInt(1))
	var fixed, negative [16]byte
	top.FillBytes(fixed[:])
	new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), top).FillBytes(negative[:])
	plus, minus := parquet.FixedLenByteArrayValue(fixed[:]), parquet.FixedLenByteArrayValue(negative[:])
	file := writeValues(t, parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16)), 2, plus, plus, plus, minus, minus)
	for _, threads := range []int{1, 3} {
		o := gagg.Options{Threads: threads}
		got, err := answer(t, gagg.Query{From: file, Aggs: exprs("sum(x)")}, o)
		if want := strings.Repeat("9", 36) + ".99"; err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%v, %v; want %s", got, err, want)
		}
		_, err = answer(t, gagg.Query{From: file, By: []string{"x > 0 as positive"}, Aggs: exprs("sum(x)")}, o)
		if !errors.Is(err, gagg.ErrOverflow) || !strings.Contains(err.Error(), "sum(x)") || !strings.Contains(err.Error(), "the group x > 0 = ") {
			t.Errorf("error %v", err)
		}
	}
}

// F52: sums of floats may differ from run to run, but by no more than the
// bound of SPEC.md, whatever the threads, batches and partitions.
func TestFloatSumsWithinBound(t *testing.T) {
	var values []parquet.Value
	sum, size := new(big.Float).SetPrec(2000), 0.0
	for i := range 20_000 {
		x := math.Ldexp(math.Sin(float64(i*i)), i%120-60)
		values = append(values, parquet.DoubleValue(x))
		sum.Add(sum, big.NewFloat(x))
		size += math.Abs(x)
	}
	file := writeValues(t, parquet.Leaf(parquet.DoubleType), 500, values...)
	want, _ := sum.Float64()
	for i := range 100 {
		o := gagg.Options{Threads: 1 + i%16, BatchRows: []int{0, 100, 33}[i%3], Partitions: []int{0, 1, 8}[i/3%3]}
		got := mustAnswer(t, gagg.Query{From: file, By: []string{"1 as one"}, Aggs: exprs("sum(x)")}, o)
		var x float64
		if _, err := fmt.Sscanf(got[0], "1|%g", &x); err != nil || math.Abs(x-want) > 1e-12*size {
			t.Fatalf("%+v: %s, want %v within %g; %v", o, got[0], want, 1e-12*size, err)
		}
	}
}

// F56: keys that share 64 KiB and differ in the last byte, or in their length
// alone, are different keys.
func TestLongKeys(t *testing.T) {
	common := strings.Repeat("p", 64<<10)
	var values []parquet.Value
	want := map[string]int{}
	for i := range 300 {
		k := common + string(rune('a'+i%7))
		if i%5 == 0 {
			k = common[:len(common)-i%2]
		}
		want[k]++
		values = append(values, parquet.ByteArrayValue([]byte(k)))
	}
	for _, node := range []parquet.Node{parquet.String(), parquet.Encoded(parquet.String(), &parquet.RLEDictionary)} {
		file := writeValues(t, node, 100, values...)
		for _, partitions := range []int{0, 16} {
			got := mustAnswer(t, gagg.Query{From: file, By: []string{"x"}, Aggs: exprs("count(*)")}, gagg.Options{Threads: 2, Partitions: partitions})
			if len(got) != len(want) {
				t.Fatalf("%d groups, want %d", len(got), len(want))
			}
			for _, line := range got {
				k, n, _ := strings.Cut(line, "|")
				if fmt.Sprint(want[k]) != n {
					t.Errorf("the key of %d bytes that ends in %s: %s, want %d", len(k), k[len(k)-1:], n, want[k])
				}
			}
		}
	}
}

// F57: an INT96 timestamp that does not fit is an error where it would be
// seen, and no concern where a condition leaves it out.
func TestInt96BeyondInt64(t *testing.T) {
	at := func(day, nanos uint32) parquet.Value { return parquet.Int96Value(deprecated.Int96{nanos, 0, day}) }
	plain := parquet.Leaf(parquet.Int96Type)
	for _, node := range []parquet.Node{plain, parquet.Encoded(plain, &parquet.RLEDictionary)} {
		file := writeValues(t, node, 10, at(2440588, 7000), at(math.MaxInt32, 0), at(1<<31, 0))
		for _, x := range []struct{ by, agg, where, want string }{
			{"", "count(*)", "", "3"},
			{"", "count(*)", "x > '2000-01-01'", "1"},
			{"", "max(x)", "x between '1900-01-01' and '2000-01-01'", "1970-01-01 00:00:00.000007Z"},
			{"x", "count(*)", "", ""},
			{"", "min(x)", "x < '2000-01-01'", ""},
			{"x is null", "count(*)", "", ""},
		} {
			q := gagg.Query{From: file, Aggs: exprs(x.agg), Where: x.where}
			if x.by != "" {
				q.By = []string{x.by}
			}
			got, err := answer(t, q, gagg.Options{})
			switch {
			case x.want == "" && (!errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), `column "x" holds INT96`)):
				t.Errorf("%+v: %v, error %v", x, got, err)
			case x.want != "" && (err != nil || len(got) != 1 || got[0] != x.want):
				t.Errorf("%+v: %v, error %v", x, got, err)
			}
		}
	}
}

// longRuns is a Parquet file of one column, x, whose n pages hold the most rows
// that a page can have, all of them 7.
func longRuns(t *testing.T, n int) []byte {
	t.Helper()
	const rows = math.MaxInt32
	marshal := func(v any) []byte {
		b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	data := append([]byte("PAR1"), marshal(&format.PageHeader{
		Type: format.DictionaryPage, CompressedPageSize: 4, UncompressedPageSize: 4,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: 1}),
	})...)
	data = append(data, 7, 0, 0, 0)
	run := append(binary.AppendUvarint([]byte{1}, rows<<1), 0) // codes of one bit, all 0
	page := append(marshal(&format.PageHeader{
		Type: format.DataPage, CompressedPageSize: int32(len(run)), UncompressedPageSize: int32(len(run)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: rows, Encoding: format.RLEDictionary, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}),
	}), run...)
	data = append(data, bytes.Repeat(page, n)...)
	all, size := int64(n)*rows, int64(len(data)-4)
	footer := marshal(&format.FileMetaData{
		Version: 1, NumRows: all,
		Schema: []format.SchemaElement{
			{Name: "schema", NumChildren: thrift.New(int32(1))},
			{Name: "x", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)},
		},
		RowGroups: []format.RowGroup{{NumRows: all, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: format.Int32, Encoding: []format.Encoding{format.Plain, format.RLEDictionary}, PathInSchema: []string{"x"},
			NumValues: all, TotalCompressedSize: size, TotalUncompressedSize: size, DataPageOffset: 4,
		}}}}},
	})
	data = append(data, footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
}

// F33: where rows are only counted, and where all that is asked of them is the
// folder that their file lies in, the time does not depend on their number.
func TestCountsFromFooters(t *testing.T) {
	const pages = 1 << 16
	const each = pages * math.MaxInt32
	dir := t.TempDir()
	for _, k := range []string{"k=1", "k=2", "k="} {
		if err := os.Mkdir(filepath.Join(dir, k), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, k, "f.parquet"), longRuns(t, pages), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		q    gagg.Query
		want []string
	}{
		{gagg.Query{}, []string{fmt.Sprint(3 * each)}},
		{gagg.Query{Where: "true"}, []string{fmt.Sprint(3 * each)}},
		{gagg.Query{Where: "k > 1"}, []string{fmt.Sprint(each)}},
		{gagg.Query{By: []string{"k"}, OrderBy: []string{"k"}}, []string{fmt.Sprint("1|", each), fmt.Sprint("2|", each), fmt.Sprint("(null)|", each)}},
		{
			gagg.Query{Aggs: []gagg.Agg{gagg.Count("k"), gagg.Min("k"), gagg.Last("k"), gagg.Expr("count(k) filter (where k = 2)")}},
			[]string{fmt.Sprintf("%d|1|2|%d|%d", 2*int64(each), int64(each), 3*int64(each))},
		},
	} {
		q := test.q
		q.From, q.Aggs = gagg.Files(dir), append(q.Aggs, gagg.CountAll())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		lines, _, err := answerIn(ctx, t, q, gagg.Options{})
		cancel()
		if err != nil || !slices.Equal(lines, test.want) {
			t.Errorf("%+v: %q, want %q; %v", test.q, lines, test.want, err)
		}
	}
}

// decimals makes a Parquet file of one decimal(5,2) column, x, stored in 4 bytes, with n rows of
// 1.00 before the values, which are hundredths.
func decimals(t *testing.T, n int, values ...int32) gagg.Source {
	t.Helper()
	all := make([]parquet.Value, n, n+len(values))
	for i := range all {
		all[i] = parquet.Int32Value(100)
	}
	for _, v := range values {
		all = append(all, parquet.Int32Value(v))
	}
	return writeValues(t, parquet.Decimal(2, 5, parquet.Int32Type), 1000, all...)
}

// F60: decimals with more digits than their column declares keep their values. Results that hold
// them have a type wide enough, and other results are not wider.
func TestDecimalsBeyondPrecision(t *testing.T) { decimalsBeyondPrecision(t, gagg.Options{}) }

func decimalsBeyondPrecision(t *testing.T, o gagg.Options) {
	t.Helper()
	far := decimals(t, 5000, math.MaxInt32, -1234567)
	for _, test := range []struct {
		from  gagg.Source
		by    string
		aggs  []gagg.Agg
		where string
		want  string
		types string
	}{
		{far, "", []gagg.Agg{gagg.Max("x"), gagg.Min("x")}, "", "21474836.47|-12345.67", "decimal(18, 2)|decimal(18, 2)"},
		{far, "x", []gagg.Agg{gagg.CountAll()}, "x <> 1", "-12345.67|1;21474836.47|1", "decimal(18, 2)|int64"},
		{far, "", []gagg.Agg{gagg.Expr("sum(x)::text"), gagg.Mean("x")}, "x <> 1", "21462490.80|1.07312454e+07", "utf8|float64"},
		{far, "", []gagg.Agg{gagg.Sum("x")}, "x = 1", "5000", "decimal(38, 2)"},
		{far, "", []gagg.Agg{gagg.CountAll()}, "x = 21474836.47 or x < -99999", "1", "int64"},
		{far, "", []gagg.Agg{gagg.CountAll()}, "", "5002", "int64"},
		{far, "(x * 1000)::text as y", []gagg.Agg{gagg.Expr("min(x + x)::text")}, "x > 1000", "21474836470.00|42949672.94", "utf8|utf8"},
		{far, "", []gagg.Agg{gagg.List("x")}, "x <> 1", `["21474836.47","-12345.67"]`, "list<item: decimal(18, 2), nullable>"},
		{decimals(t, 10, 99999), "x", nil, "", "1;999.99", "decimal(5, 2)"},
	} {
		q := gagg.Query{From: test.from, Where: test.where, Aggs: test.aggs}
		if test.by != "" {
			q.By = []string{test.by}
			q.OrderBy = []string{"1"}
		}
		lines, err := answer(t, q, o)
		if got := strings.Join(lines, ";"); err != nil || got != test.want {
			t.Errorf("%+v: %s, want %s; %v", q, got, test.want, err)
		}
		rows, err := gagg.Run(t.Context(), q, o)
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, f := range rows.Schema().Fields() {
			types = append(types, f.Type.String())
		}
		rows.Release()
		if got := strings.Join(types, "|"); got != test.types {
			t.Errorf("%+v: types %s, want %s", q, got, test.types)
		}
	}
}

// Queries on files that are wrong in a few places end with an answer or an input error: the same
// one whatever the threads, steps and memory.
func TestQueriesOfMutants(t *testing.T) {
	whole, err := os.ReadFile(randomFile(t, 3000))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(150) {
		data, what := datagen.Mutant(whole, rand.New(rand.NewPCG(14, seed)))
		q := gagg.Query{
			From: gagg.Parquet("mutant", bytes.NewReader(data), int64(len(data))), By: []string{"#1", "#2"},
			Aggs: []gagg.Agg{gagg.CountAll(), gagg.Max("#3"), gagg.Expr("count(distinct #4)")},
		}
		var first []string
		var firstErr error
		for i, o := range []gagg.Options{{}, {Threads: 1, BatchRows: 7, MemoryLimit: 128 << 20}} {
			lines, err := answer(t, q, o)
			if err != nil && !errors.Is(err, gagg.ErrInput) && !errors.Is(err, gagg.ErrUsage) {
				t.Errorf("seed %d: %s: %v", seed, what, err)
			}
			slices.Sort(lines)
			if i == 0 {
				first, firstErr = lines, err
			} else if (err == nil) != (firstErr == nil) || !slices.Equal(lines, first) {
				t.Errorf("seed %d: %s: %d groups, %v; then %d, %v", seed, what, len(first), firstErr, len(lines), err)
			}
		}
	}
}
