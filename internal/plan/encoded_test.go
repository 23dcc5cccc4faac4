package plan

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/query"
)

// nullsOf are shapes of columns with NULLs: whether column c is NULL in row r.
var nullsOf = map[string]func(r, c int) bool{
	"none": func(int, int) bool { return false },
	"some": func(r, c int) bool { return (r*7+c*3)%5 == 0 },
	"most": func(r, c int) bool { return (r+c)%50 != 0 },
	"all":  func(int, int) bool { return true },
}

// kindsOfColumns is a file with a column of each type that matters here, in order of their names,
// and some of which no device makes anything. nulls is one of nullsOf, for some of the columns.
func kindsOfColumns(t *testing.T, rows int, nulls string, options ...parquet.WriterOption) input.Source {
	t.Helper()
	dict := func(n parquet.Node) parquet.Node { return parquet.Encoded(n, &parquet.RLEDictionary) }
	schema := parquet.NewSchema("kinds", parquet.Group{
		"b":    parquet.Leaf(parquet.BooleanType),
		"date": parquet.Optional(parquet.Date()),
		"dec":  parquet.Decimal(2, 9, parquet.Int32Type),
		"f32":  parquet.Leaf(parquet.FloatType),
		"f64":  parquet.Optional(parquet.Leaf(parquet.DoubleType)),
		"i16":  parquet.Int(16),
		"i32":  parquet.Optional(dict(parquet.Int(32))),
		"i64":  parquet.Optional(parquet.Int(64)),
		"i8":   parquet.Int(8),
		"name": parquet.Optional(dict(parquet.String())),
		"text": parquet.Optional(parquet.Encoded(parquet.String(), &parquet.Plain)),
		"u32":  parquet.Uint(32),
		"u64":  parquet.Uint(64),
		"wide": parquet.Decimal(2, 40, parquet.FixedLenByteArrayType(17)),
	})
	var b bytes.Buffer
	w := parquet.NewWriter(&b, append(options, schema)...)
	// of the last ones products or powers overflow, or are so small that their errors underflow
	floats := []float64{
		0, math.Copysign(0, -1), 1.5, -2, math.NaN(), math.Inf(1), math.Inf(-1), 1.0 / 3,
		math.MaxFloat64, 1e103 / 3, 1e77 / 3, 1e-78 / 3, -1e-103 / 3, 1e-153 / 3, math.SmallestNonzeroFloat64,
	}
	for i := range rows {
		f := floats[i%len(floats)]
		row := parquet.Row{
			parquet.BooleanValue(i%2 == 0), parquet.Int32Value(int32(-i)), parquet.Int32Value(int32(100 * i)),
			parquet.FloatValue(float32(f)), parquet.DoubleValue(f), parquet.Int32Value(int32(i % 7)), parquet.Int32Value(int32(i%5) - 2), parquet.Int64Value(int64(i) << 50),
			parquet.Int32Value(int32(i%100) - 50), parquet.ByteArrayValue(fmt.Appendf(nil, "n%d", i%9)), parquet.ByteArrayValue(fmt.Appendf(nil, "%*d", i%15+1, i%10)),
			parquet.Int32Value(int32(math.MaxUint32 - uint32(i))), parquet.Int64Value(int64(-i)), parquet.FixedLenByteArrayValue(make([]byte, 17)),
		}
		for c := range row {
			level := 0
			if schema.Fields()[c].Optional() {
				if level = 1; nullsOf[nulls](i, c) {
					row[c], level = parquet.NullValue(), 0
				}
			}
			row[c] = row[c].Level(0, level, c)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return input.Readers(input.File{Name: "kinds.parquet", Reader: bytes.NewReader(b.Bytes()), Size: int64(b.Len())})
}

// encodedQuery plans a query for devices.
func encodedQuery(t *testing.T, from input.Source, q query.Query) (*planner, *decode.Plan, string) {
	t.Helper()
	p := planning(t, from, q, Options{})
	plan, why := p.encodedPlan(p.States(nil, true, nil))
	return p, plan, why
}

// What comes out of slow codecs is that of the columns that are read, unless it is stored as it is.
func TestSlowCodecs(t *testing.T) {
	t.Parallel()
	for codec, slow := range map[compress.Codec]bool{
		&parquet.Zstd: true, &parquet.Gzip: true, &parquet.Brotli: true, &parquet.Snappy: false, &parquet.Uncompressed: false,
	} {
		p := planning(t, kindsOfColumns(t, 3000, "none", parquet.Compression(codec)), grouped("i16", "sum(i8)"), Options{})
		if f := p.Facts; f.Slow > f.Plain || (f.Slow > f.Bytes) != slow || !slow && f.Slow != 0 {
			t.Errorf("%s: %+v", codec, f)
		}
	}
}

// The plan says what of a query devices cannot decode or compute.
func TestEncodedPlanLacks(t *testing.T) {
	t.Parallel()
	file := kindsOfColumns(t, 10, "none")
	for _, x := range []struct {
		by, aggs, where string
		want            string
	}{
		{"i32", "sum(i64)", "wide is null or i8 > 0", "devices do not decode column wide as it is stored"},
		{"i32", "sum(i64)", "text like '%1' or i8 > 0 and name > text", "GPUs do not compute the filter"},
		{"name || text", "sum(i64)", "", "GPUs do not compute the key name || text"},
		{"i32", "sum(sqrt(f64 * i64))", "", "GPUs do not compute the argument of sum(sqrt(f64 * i64))"},
		{"i32", "sum(length(name || text))", "", "GPUs do not compute the argument of sum(length(name || text))"},
		{"i32", "count(null)", "", "GPUs do not compute the argument of count(null)"},
		{"i32", "sum(i64) filter (where name > text)", "", "GPUs do not compute the argument of sum(i64) filter (where name > text)"},
		{"i32", "count(wide)", "", "devices do not decode column wide as it is stored"},
		{"wide", "count(*)", "", "devices do not decode column wide as it is stored"},
		{"i32", "mode(i64)", "", "mode(int64): of lists, the device keeps those of all values alone, and of at most 64 bits"},
		{"i32", "stddev(i64)", "", "stddev_samp(int64): the device makes no states of it from values"},
	} {
		q := grouped(x.by, x.aggs)
		q.Where = x.where
		_, plan, why := encodedQuery(t, file, q)
		if plan != nil || why != x.want {
			t.Errorf("%s by %s: %v, %q; want %q", x.aggs, x.by, plan, why, x.want)
		}
	}
}

// Records are decoded before gagg sees them.
func TestEncodedPlanRecords(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32}}, nil)
	records, err := array.NewRecordReader(schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Release()
	want := "devices do not decode column x as it is stored"
	if _, plan, why := encodedQuery(t, input.Records(records), grouped("x")); plan != nil || why != want {
		t.Errorf("%v, %q; want %q", plan, why, want)
	}
}

// Each column is read as often as it is used: as a key, as an argument, or for its NULLs.
func TestEncodedPlanOutputs(t *testing.T) {
	t.Parallel()
	file := kindsOfColumns(t, 10, "none")
	for _, x := range []struct {
		by, aggs string
		want     string // of each output: source, physical type, form, its first array
	}{
		{"name", "sum(i64)", "0 BYTES bits 0, 1 INT64 value 2"},
		{"text", "sum(i64), mean(i64), max(f64)", "0 BYTES inline 0, 1 INT64 value 3, 2 DOUBLE value 4"},
		{"i32, f32", "count(*)", "0 INT32 bits 0, 1 FLOAT bits 2"},
		{"i32", "sum(i32), count(i32)", "0 INT32 bits 0, 0 INT32 value 2"},
		{"i32", "count(i32), count(1)", "0 INT32 bits 0"},
		{"text", "count(text), count(i8), sum(I64), min(i64)", "0 BYTES inline 0, 1 INT32 value 3, 2 INT64 value 4"},
	} {
		_, plan, why := encodedQuery(t, file, grouped(x.by, x.aggs))
		if plan == nil {
			t.Errorf("%s by %s: %s", x.aggs, x.by, why)
			continue
		}
		var outputs []string
		for _, o := range plan.Outputs {
			physical := []string{"INT32", "INT64", "FLOAT", "DOUBLE", "BYTES"}[o.Physical]
			form := []string{"value", "bits", "inline"}[o.Form]
			outputs = append(outputs, fmt.Sprintf("%d %s %s %d", o.Source, physical, form, o.Array))
		}
		if got := strings.Join(outputs, ", "); got != x.want {
			t.Errorf("%s by %s: %s, want %s", x.aggs, x.by, got, x.want)
		}
	}
}

// Keys and aggregates of kindsOfColumns that devices make rows of.
var (
	encodedKeys = []string{
		"i32", "name", "text", "f32", "f64", "i8", "date", "dec", "i64", "u32", "u64", "name, i32, text", "text, i8, f32, u64", "f64, name",
	}
	encodedAggs = []string{
		"sum(i32), sum(i64), sum(u64), mean(f64)", "min(f32), max(f64), sum(f32)", "count(*), count(i32), min(dec), max(date)",
		"bit_and(u32), bit_or(i8), bit_xor(i64)", "sum(dec), mean(u32), min(i64)", "count(*)",
		"min(u64), max(u64)", "max(u64, 3), min(u64, 2)",
		"corr(i8, i16), stddev(i32), mean(i16)", "min(f64, 2), max(f32, 3), max(i64, 1)", "max(i16, 4), min(date, 2), min(dec, 8)",
		"stddev(f64), sum(f64), covar_pop(f32, i16)", "kurtosis(f64), skewness(i64), var_pop(f32)", "corr(u64, f32), skewness(dec)",
		"covar_samp(dec, f32), kurtosis(u64), skewness(f32)",
	}
)

// Rows that follow a plan are those that workers make.
func TestEncodedPlanRows(t *testing.T) {
	t.Parallel()
	for nulls := range nullsOf {
		file := kindsOfColumns(t, 200, nulls)
		for _, by := range encodedKeys {
			for _, list := range encodedAggs {
				p, plan, why := encodedQuery(t, file, grouped(by, list))
				if plan == nil {
					t.Errorf("%s by %s: %s", list, by, why)
					continue
				}
				compareRows(t, p, plan, nulls+": "+list+" by "+by)
			}
		}
	}
}

// compareRows compares the rows of all batches, by the plan and as workers make them.
func compareRows(t *testing.T, p *planner, plan *decode.Plan, name string) {
	t.Helper()
	e := key.NewEncoder(p.Layout, key.NewInterner(nil))
	for unit := range p.scan.Units() {
		batches(t, p, unit, func(b *column.Batch) {
			sameRows(t, plan, madeRows(plan, arraysOf(e, plan, b), b), workerRows(t, p, plan, e, b), name)
		})
	}
}

// batches reads a unit.
func batches(t *testing.T, p *planner, unit int, do func(b *column.Batch)) {
	t.Helper()
	r := p.scan.Reader()
	defer r.Close()
	if err := r.Open(unit); err != nil {
		t.Fatal(err)
	}
	for {
		var b column.Batch
		more, err := r.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
		do(&b)
	}
}

// sameRows fails where rows differ.
func sameRows(t *testing.T, plan *decode.Plan, made, want []uint64, name string) {
	t.Helper()
	if len(made) != len(want) {
		t.Fatalf("%s: %d words, want %d", name, len(made), len(want))
	}
	for i := range made {
		if made[i] != want[i] && !bothNaN(plan, i%plan.RowWords(), made[i], want[i]) {
			t.Fatalf("%s: word %d of row %d is %#x, want %#x", name, i%plan.RowWords(), i/plan.RowWords(), made[i], want[i])
		}
	}
}

// bothNaN reports whether word `at` of rows is a sum, and NaN in both: processors make others of
// the same operations.
func bothNaN(plan *decode.Plan, at int, a, b uint64) bool {
	state := at - plan.HashWords - plan.KeyWords
	if state < 0 || !slices.Contains(sumWords, plan.States[state].Word) {
		return false
	}
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	return x != x && y != y
}

// sumWords is how states are made that are sums of doubles.
var sumWords = []uint32{kernels.ParquetSum, kernels.ParquetProductS, kernels.ParquetThirdPowerS, kernels.ParquetFourthPowerS}

// arraysOf is the arrays of all outputs for a batch: values as they are, fields as dictionaries of
// them would have them.
func arraysOf(e *key.Encoder, plan *decode.Plan, b *column.Batch) (arrays [][]uint64) {
	for _, o := range plan.Outputs {
		v := column.Flatten(&b.Cols[o.Source], new(column.Buffer))
		if o.Field < 0 {
			words := make([]uint64, b.Rows)
			for i := range words {
				if v.Type.IsFloat() {
					words[i] = math.Float64bits(v.Float[i])
				} else {
					words[i] = uint64(v.Int[i])
				}
			}
			arrays = append(arrays, words)
			continue
		}
		words, hash, ok := e.TranslateDict(o.Field, &v)
		if !ok || len(words) != int(o.Words) {
			panic("long strings, or a word too few")
		}
		for _, w := range append(words, hash) {
			arrays = append(arrays, slices.Clone(w))
		}
	}
	return arrays
}

// orderOf is the place of a double in order.
func orderOf(bits uint64) uint64 {
	switch f := math.Float64frombits(bits); {
	case f != f:
		return math.MaxInt64
	case f < 0:
		return bits ^ math.MaxInt64
	case f == 0:
		return 0
	}
	return bits
}

// numberOf is the word of an array as a double.
func numberOf(word uint64, as uint8) float64 {
	switch as {
	case kernels.ParquetIsDouble:
		return math.Float64frombits(word)
	case kernels.ParquetIsUnsigned:
		return float64(word)
	}
	return float64(int64(word)) / math.Pow10(int(as)-kernels.ParquetIsDecimal)
}

// sumOfOne is a word of the sum of one product, or of one power of x. Products that are not finite
// have no error term.
func sumOfOne(word uint32, x, y float64) uint64 {
	times := func(x, xc, y, yc float64) (s, c float64) {
		p := float64(x * y)
		c = math.FMA(x, y, -p) + math.FMA(x, yc, float64(xc*y))
		return p + c, c - (p + c - p)
	}
	s := float64(x * y)
	c := math.FMA(x, y, -s)
	switch word {
	case kernels.ParquetThirdPowerS, kernels.ParquetThirdPowerC:
		s, c = times(s, c, x, 0)
	case kernels.ParquetFourthPowerS, kernels.ParquetFourthPowerC:
		s, c = times(s, c, s, c)
	}
	sum := s + c
	c -= sum - s
	if c != c {
		sum, c = s, 0
	}
	if word == kernels.ParquetProductC || word == kernels.ParquetThirdPowerC || word == kernels.ParquetFourthPowerC {
		return math.Float64bits(c + 0.0)
	}
	return math.Float64bits(sum + 0.0)
}

// madeRows does what the kernel that makes rows does.
func madeRows(plan *decode.Plan, arrays [][]uint64, b *column.Batch) (rows []uint64) {
	for r := range b.Rows {
		null := func(output uint32) bool { return b.Cols[plan.Outputs[output].Source].IsNull(r) }
		row := make([]uint64, plan.RowWords())
		keys, states := row[1:][:plan.KeyWords], row[1+plan.KeyWords:]
		var hashes []uint64
		for _, f := range plan.Fields {
			if null(f.Place) {
				keys[f.NullWord] |= f.NullBit
				hashes = append(hashes, key.NullHash)
				continue
			}
			for k := range f.Words {
				keys[f.Word+k] |= arrays[f.Array+k][r]
			}
			hashes = append(hashes, arrays[f.Array+f.Words][r])
		}
		row[0] = reference.HashOf(hashes)
		for i, s := range plan.States {
			switch {
			case s.Word == kernels.ParquetConstant:
				states[i] = s.Constant
				continue
			case null(s.Place):
				states[i] = s.Null
				continue
			}
			x := arrays[s.Array][r]
			switch s.Word {
			case kernels.ParquetCopy:
				states[i] = x
			case kernels.ParquetProduct:
				states[i] = x * arrays[s.Constant][r]
			case kernels.ParquetSum:
				states[i] = math.Float64bits(numberOf(x, s.Number) + 0.0)
			case kernels.ParquetNot:
				states[i] = ^x
			case kernels.ParquetUnsigned:
				states[i] = x ^ 1<<63
			case kernels.ParquetUnsignedNot:
				states[i] = ^(x ^ 1<<63)
			case kernels.ParquetOrder:
				states[i] = orderOf(x)
			case kernels.ParquetOrderNot:
				states[i] = ^orderOf(x)
			case kernels.ParquetProductS, kernels.ParquetProductC:
				states[i] = sumOfOne(s.Word, numberOf(x, s.Number), numberOf(arrays[s.Constant][r], s.Times))
			default:
				states[i] = sumOfOne(s.Word, numberOf(x, s.Number), numberOf(x, s.Number))
			}
		}
		for _, n := range plan.Nulls {
			if null(n.Place) {
				states[n.State] += n.Add
			}
		}
		rows = append(rows, row...)
	}
	return rows
}

// passed is the rows of a batch that pass the query's filter.
func passed(t *testing.T, p *planner, b *column.Batch) *column.Batch {
	t.Helper()
	if p.Query.Where == nil {
		return b
	}
	rows, err := p.Query.Where.NewEval().Filter(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := &column.Batch{Rows: len(rows)}
	for i := range b.Cols {
		out.Cols = append(out.Cols, column.Gather(&b.Cols[i], rows, new(column.Buffer)))
	}
	return out
}

// computed is the flat values of expressions on a batch.
func computed(t *testing.T, list []*expr.Expr, b *column.Batch) (values []column.Vector) {
	t.Helper()
	for _, x := range list {
		var v column.Vector
		if err := x.NewEval().Eval(b, &v); err != nil {
			t.Fatal(err)
		}
		values = append(values, column.Flatten(&v, new(column.Buffer)))
	}
	return values
}

// workerRows is a row for each of a batch that passes the filter, as a worker packs it. Errors of
// sums that are infinite or NaN, which mean nothing, are 0.
func workerRows(t *testing.T, p *planner, plan *decode.Plan, e *key.Encoder, b *column.Batch) []uint64 {
	t.Helper()
	b = passed(t, p, b)
	states := p.States(nil, true, nil)
	keys, args := computed(t, p.Query.Keys, b), computed(t, p.Query.Args, b)
	e.Encode(keys, b.Rows)
	table := agg.Table{Stride: 1 + len(e.Words) + states.Words()}
	gids := make([]uint32, b.Rows)
	for r := range gids {
		gids[r] = uint32(r)
		row := make([]uint64, table.Stride)
		row[0] = e.Hash[r]
		for w := range e.Words {
			row[1+w] = e.Words[w][r]
		}
		states.Init(row)
		table.Rows = append(table.Rows, row...)
	}
	states.Update(&table, gids, 0, &agg.Input{Rows: b.Rows, Args: args})
	for at := 1 + plan.KeyWords; at < len(table.Rows); at += table.Stride {
		for i, s := range plan.States {
			if v := math.Float64frombits(table.Rows[at+i]); s.Word == kernels.ParquetSum && (v != v || math.IsInf(v, 0)) {
				table.Rows[at+i+1] = 0
			}
		}
	}
	return table.Rows
}
