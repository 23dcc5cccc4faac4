package gagg_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// holistic is a call of an aggregate that needs all values: its name, and
// its parameter as text and as value.
type holistic struct {
	name  string
	text  string // "": none
	param column.Value
}

func share(text string) (string, column.Value) {
	_, digits, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
	if err != nil {
		panic(err)
	}
	return text, column.Value{Type: column.DecimalType(column.MaxInt64Digits, len(digits)), Int: n}
}

// holisticOf is the calls that are tried on a column of type t.
func holisticOf(t column.Type) []holistic {
	out := []holistic{{name: "mode"}, {name: "entropy"}, {name: "count_distinct"}, {name: "median"}, {name: "list"}, {name: "histogram"}}
	for _, p := range []string{"0", "0.1", "0.5", "0.333333", "0.99", "1"} {
		text, param := share(p)
		out = append(out, holistic{"quantile", text, param}, holistic{"quantile_disc", text, param})
	}
	for _, n := range []int64{1, 3, 999_999} {
		param := column.Value{Type: column.Type{Kind: column.Int64}, Int: n}
		out = append(out, holistic{"min", strconv.FormatInt(n, 10), param}, holistic{"max", strconv.FormatInt(n, 10), param})
	}
	for _, n := range []int64{1, 3, 10_000} {
		out = append(out, holistic{"approx_top_k", strconv.FormatInt(n, 10), column.Value{Type: column.Type{Kind: column.Int64}, Int: n}})
	}
	if t.IsNumeric() {
		out = append(out, holistic{name: "mad"})
	}
	if t.Kind == column.String {
		for _, sep := range []string{"", ", "} {
			out = append(out, holistic{"string_agg", "'" + sep + "'", column.Value{Type: t, Bytes: sep}})
		}
	}
	return out
}

func (tr *trial) addHolistic(h holistic, arg int) {
	call := h.name + "(" + tr.table.Columns[arg].Name
	if h.text != "" {
		call += ", " + h.text
	}
	tr.query.Aggs = append(tr.query.Aggs, gagg.Expr(call+")"))
	tr.want.Aggs = append(tr.want.Aggs, oracle.Agg{Func: h.name, Args: []int{arg}, Param: h.param})
}

// Every aggregate that needs all values gives the oracle's answer, over every type with odd
// values. Each number of keys runs in a third of the configurations. A short run tries a quarter
// of the types, and leaves queries without keys to TestHolisticLarge.
func TestHolistic(t *testing.T) {
	for i, typ := range datagen.Types() {
		if testing.Short() && i%4 != 0 {
			continue
		}
		keyed := []int{0, 5, 200} // 0: without keys
		if testing.Short() {
			keyed = keyed[1:]
		}
		for k, keys := range keyed {
			tryHolistic(t, fmt.Sprintf("%s/keys=%d", typ, keys), holisticTrial(typ, 300, keys, holisticOf(typ)), everyThird(configurations, i+k))
		}
	}
}

// The same of those that may be counted, over one argument, where they are.
func TestHolisticCounted(t *testing.T) {
	for i, typ := range datagen.Types() {
		if testing.Short() && i%4 != 1 {
			continue
		}
		var calls []holistic
		for _, h := range holisticOf(typ) {
			quantile := h.name == "median" || strings.HasPrefix(h.name, "quantile")
			if rep := typ.Rep(); quantile && (rep == column.RepInt64 || rep == column.RepFloat64) || slices.Contains([]string{"mode", "entropy", "histogram", "approx_top_k"}, h.name) {
				calls = append(calls, h)
			}
		}
		for k, keys := range []int{0, 5, 200} {
			tr := holisticTrialOf(typ, 300, keys, calls, 1)
			tr.tuned = tune{gagg.CountsValues()}
			tryHolistic(t, fmt.Sprintf("%s/keys=%d", typ, keys), tr, everyThird(configurations, i+k))
		}
	}
}

// One group of more values than 64 KiB hold, for each way in which values are
// stored, in memory and on disk.
func TestHolisticLarge(t *testing.T) {
	rows := 12_000
	if testing.Short() {
		rows = 2000
	}
	for _, typ := range []column.Type{{Kind: column.Int64}, {Kind: column.Float32}, {Kind: column.String}, column.DecimalType(38, 10)} {
		seen := map[string]bool{}
		once := slices.DeleteFunc(holisticOf(typ), func(h holistic) bool {
			again := seen[h.name]
			seen[h.name] = true
			return again
		})
		tr := holisticTrial(typ, rows, 0, once)
		tr.tuned = tune{gagg.LeastMemory(tightMemory)}
		tryHolistic(t, typ.String(), tr, slices.Concat(configurations, tightConfigurations[:2]))
	}
}

// tryHolistic compares with the oracle in some configurations.
func tryHolistic(t *testing.T, name string, tr *trial, configurations []configuration) {
	t.Helper()
	want, err := oracle.Run(tr.table.Batches(1000), tr.table.Schema(), tr.want)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configurations {
		t.Run(name+"/"+strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
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

func holisticTrial(t column.Type, rows, keys int, calls []holistic) *trial {
	return holisticTrialOf(t, rows, keys, calls, 1, 2)
}

// holisticTrialOf is the calls over each of the columns, x being 1 and y 2.
func holisticTrialOf(t column.Type, rows, keys int, calls []holistic, columns ...int) *trial {
	seed := uint64(keys)
	tr := &trial{seed: seed, table: datagen.New(datagen.Spec{Rows: rows, Seed: seed, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.Int32}, Distinct: max(keys, 1), Nulls: 0.1},
		{Name: "x", Type: t, Distinct: 40, Nulls: 0.2, Skew: 1, Special: true, Coded: keys == 5},
		{Name: "y", Type: t, Nulls: 0.7},
	}})}
	if keys > 0 {
		tr.query.By, tr.want.Keys = []string{"k"}, []int{0}
	}
	for _, h := range calls {
		for _, c := range columns {
			tr.addHolistic(h, c)
		}
	}
	return tr
}

// Aggregates that need all values give the same when these go to disk: few
// groups of many values and many of few.
func TestHolisticUnderBudget(t *testing.T) {
	tuned := tune{gagg.LeastMemory(tightMemory)}
	if testing.Short() {
		t.Skip("60 queries of 40,000 rows")
	}
	file, spills := gagg.Files(randomFile(t, 40_000)), 0
	for _, call := range []string{
		"median(i)", "list(x)", "count(distinct k)", "string_agg(s)", "mode(i)", "histogram(i)", "quantile(x, 0.1)", "max(x, 3)", "mad(x)", "approx_quantile(x, 0.5)",
		"list(x order by i desc)", "string_agg(s, ',' order by k)", "arg_max(s, i, 1000)", "approx_top_k(i, 10)", "quantile(x, [0.9, 0.1])",
	} {
		for _, by := range [][]string{nil, {"s"}, {"k"}} {
			q := gagg.Query{From: file, By: by, Aggs: exprs(call)}
			want := mustAnswer(t, q, tuned.of(gagg.Options{Threads: 2}))
			got, spilled, _, err := limited(t, q, tuned.of(gagg.Options{MemoryLimit: leastLimit(t, q, tuned.of(gagg.Options{}))}))
			// of one group
			if need := (*gagg.NeedError)(nil); errors.As(err, &need) && need.Result != "" {
				got, spilled, _, err = limited(t, q, tuned.of(gagg.Options{MemoryLimit: need.Need}))
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s by %v: another answer or error %v", call, by, err)
			}
			if spilled > 0 {
				spills++
			}
		}
	}
	if spills < 15 {
		t.Errorf("only %d of 45 runs spilled: they had too much memory", spills)
	}
}

// Texts made of other types, filters and distinct: DuckDB's answers.
func TestHolisticTexts(t *testing.T) {
	for _, x := range []struct{ agg, want string }{
		{"string_agg(quantity) filter (where ordered_at < '2024-02-10')", "11,11,11,11,12,11,11,11,11"},
		{"string_agg(price, '; ') filter (where quantity = 12 and ordered_at < '2024-04-01')", "163.77; 149.46; 160.59"},
		{"string_agg(ordered_at, '|') filter (where ordered_at < '2024-01-14')", "2024-01-02 14:10:27|2024-01-08 06:46:38|2024-01-13 08:51:37"},
		{"string_agg(ordered_at::date, '') filter (where ordered_at < '2024-01-14')", "2024-01-022024-01-082024-01-13"},
		{"string_agg(discount, ' ')", "0.05 0.05 0.1 0.05 0.05 0.2 0.1 0.2 0.2 0.1 0.2 0.05 0.05"},
		{"string_agg(quantity > 11, ' ') filter (where ordered_at < '2024-01-22')", "false false false false true false false"},
		{"string_agg(null)", "(null)"},
		{"string_agg(region) filter (where false)", "(null)"},
		{"count(distinct product)", "3"},
		{"count(distinct quantity) filter (where quantity > 11)", "1"},
		{"median(price) filter (where quantity = 12)", "131.45"},
		{"count(distinct null)", "0"},
	} {
		q := gagg.Query{From: gagg.Files(orders), Aggs: exprs(x.agg), Where: "price > 100 and quantity > 10"}
		for _, o := range []gagg.Options{{Threads: 1}, {Threads: 3, Partitions: 8, BatchRows: 10}} {
			if got, err := answer(t, q, o); err != nil || len(got) != 1 || got[0] != x.want {
				t.Errorf("%s: %q, %v; want %s", x.agg, got, err, x.want)
			}
		}
	}
}

// Two ways to say the same.
func TestHolisticSame(t *testing.T) {
	rows := 20_000
	if testing.Short() {
		rows = 5000
	}
	file := gagg.Files(randomFile(t, rows))
	for _, x := range [][2]string{
		{"count(distinct k)", "count_distinct(k)"},
		{"count(distinct i) filter (where x > 0.5)", "count_distinct(case when x > 0.5 then i end)"},
		{"min(distinct i)", "min(i)"},
		{"quantile(x, 0.5)", "median(x)"},
		{"quantile_cont(i, 1.0 / 2)", "quantile(i, 5e-1)"},
		{"quantile(i, 0.25 + 0.5)", "quantile(i, 0.75)"},
		{"quantile_disc(k, 0)", "min(k)"},
		{"quantile_disc(k, 1)", "max(k)"},
		{"array_agg(s)", "list(s)"},
		{"string_agg(s)", "string_agg(s, ',')"},
		{"group_concat(s, ';') filter (where i < 10)", "listagg(case when i < 10 then s end, ';')"},
		{"string_agg(i, '')", "string_agg(cast(i as text), '')"},
		{"min(x, 1 + 2)", "min(x, 3)"},
		{"list(s) is null", "count(s) = 0"},
		{"quantile(x, 0.5) - 1", "median(x) - 1"},
	} {
		for _, by := range [][]string{nil, {"s"}, {"k", "i"}} {
			var got [2][]string
			for i, text := range x {
				got[i] = mustAnswer(t, gagg.Query{From: file, By: by, Aggs: exprs(text)}, gagg.Options{Threads: 2, Partitions: 4})
			}
			if strings.Join(got[0], "\n") != strings.Join(got[1], "\n") {
				t.Errorf("%s and %s differ, by %v", x[0], x[1], by)
			}
		}
	}
}

// The column has the name as typed, in lower case.
func TestHolisticNames(t *testing.T) {
	got := schemaOf(t, gagg.Query{From: gagg.Files(orders), Aggs: exprs("Quantile(price,  0.5)", "Count(DISTINCT region)", "STRING_AGG(region, ' / ')", "list(Region) as l")})
	if want := "quantile(price,  0.5): decimal(8, 2)|count(distinct region): int64|string_agg(region, ' / '): utf8|l: list<item: utf8, nullable>"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func schemaOf(t *testing.T, q gagg.Query) string {
	t.Helper()
	rows, err := gagg.Run(t.Context(), q, gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	var fields []string
	for _, f := range rows.Schema().Fields() {
		fields = append(fields, f.Name+": "+f.Type.String())
	}
	return strings.Join(fields, "|")
}
