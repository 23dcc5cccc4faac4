package gagg_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// Keys that follow from others give the oracle's answer, which groups by all of them, in every
// configuration: keys of every type, with odd values and NULL. A short run tries a quarter of the
// types.
func TestKeysFollow(t *testing.T) {
	for n, typ := range datagen.Types() {
		if testing.Short() && n%4 != 2 {
			continue
		}
		tr := &trial{seed: uint64(n), table: datagen.New(datagen.Spec{Rows: 400, Seed: uint64(n), Columns: []datagen.Column{
			{Name: "k", Type: typ, Distinct: 60, Nulls: 0.1, Special: true, Coded: n%2 == 0},
			{Name: "i", Type: column.Type{Kind: column.Int32}, Distinct: 3, Nulls: 0.1},
			{Name: "x", Type: column.Type{Kind: column.Int32}},
		}})}
		for at, of := range append([]oracle.Function{{}, {}}, oracle.Functions(typ)...) {
			tr.query.By = append(tr.query.By, of.Text("k"))
			tr.want.Keys, tr.want.Of = append(tr.want.Keys, 0), append(tr.want.Of, of)
			if at == 1 {
				sign := oracle.Functions(column.Type{Kind: column.Int32})[0]
				tr.query.By = append(tr.query.By, "i", sign.Text("i"))
				tr.want.Keys, tr.want.Of = append(tr.want.Keys, 1, 1), append(tr.want.Of, oracle.Function{}, sign)
			}
		}
		if n%3 == 0 { // the functions come before what they follow from
			slices.Reverse(tr.query.By)
			slices.Reverse(tr.want.Keys)
			slices.Reverse(tr.want.Of)
		}
		tr.addAgg("sum", 2)
		tr.addAgg("count_distinct", 2)
		tryHolistic(t, typ.String(), tr, configurations)
	}
}

// following is a query with keys that follow from grouped ones.
var followings = []struct {
	by      string
	grouped int // keys that are grouped by; the others of the query follow
	follow  int
}{
	{"i, i - 1 as a, i - 2 as b", 1, 2},
	{"i + 1, i", 1, 1},
	{"i, I as again, #2", 1, 0},
	{"1 as one, s", 1, 1},
	{"1, 'x', null", 1, 2},
	{"i, s, i * 2 + 1, case when s is null then i else -i end", 2, 2},
	{"i % 10 as d, (i % 10) * 3 as e, d", 2, 1},
	{"i + 1, (i + 1) * 2 as b, (i + 1) * 2 - 5", 1, 2},
	{"i, cast(i as text) as t", 1, 1},
	{"d, cast(d * 1000000 as int64)", 1, 1},
	{"s, s || '!' as t", 2, 0}, // texts computed from texts
	{"f, f::text as t", 2, 0},  // 0.0 and -0.0
	{"f, F as again", 1, 0},
	{"i, -i::double as m", 2, 0}, // -0.0 of 0
	{"i + 1, i + 2", 2, 0},
}

// The plan tells which keys are grouped by.
func TestKeysFollowPlan(t *testing.T) {
	q := gagg.Query{From: followFile(t), Aggs: exprs("count(*)")}
	for _, c := range followings {
		q.By = []string{c.by}
		plan, err := gagg.Plan(t.Context(), q, gagg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Keys) != c.grouped || len(plan.Following) != c.follow {
			t.Errorf("%s: grouped by %v, computed %v", c.by, plan.Keys, plan.Following)
		}
	}
}

// Keys that follow give the answers of a query in which aggregates, each a value of one of the
// group's rows, stand for them; so do filters, orders and limits over them.
func TestKeysFollowRefer(t *testing.T) {
	ask := func(q gagg.Query) []string {
		q.From = followFile(t)
		return mustAnswer(t, q, gagg.Options{Threads: 2})
	}
	got := ask(gagg.Query{
		By: []string{"i, i * 2 as b, 7 as c, i % 10 as e"}, Aggs: exprs("count(*) as n, sum(i) - i * 2 as m"),
		Having: "b % 7 > 2 and i * 2 % 5 <> 1 and c = 7", OrderBy: []string{"e desc", "i % 3", "b"}, Limit: 50, Offset: 3,
	})
	want := ask(gagg.Query{
		By: []string{"i"}, Aggs: exprs("max(i) * 2 as b, 7 as c, max(i) % 10 as e, count(*) as n, sum(i) - max(i) * 2 as m"),
		Having: "max(i) * 2 % 7 > 2 and max(i) * 2 % 5 <> 1", OrderBy: []string{"max(i) % 10 desc", "max(i) % 3", "max(i) * 2"}, Limit: 50, Offset: 3,
	})
	if !slices.Equal(got, want) || len(got) != 50 {
		t.Errorf("got %d rows %v\nwant %d rows %v", len(got), got, len(want), want)
	}
}

// Of no rows there is no group, though the keys are constants.
func TestKeysFollowNoRows(t *testing.T) {
	for _, by := range []string{"1", "1, 'x' as y", "i, i + 1"} {
		q := gagg.Query{From: followFile(t), By: []string{by}, Aggs: exprs("count(*)"), Where: "i is null"}
		if got := mustAnswer(t, q, gagg.Options{}); len(got) > 0 {
			t.Errorf("by %s: %v", by, got)
		}
	}
}

// A key that follows fails as it does when it is computed for the rows: if, and only if, a row
// has passed the filter, whatever is put out.
func TestKeysFollowErrors(t *testing.T) {
	for _, by := range []string{"x, x + 1 as y", "x, x + 1 > 0 as y, i", "x + 0 as a, (x + 0) * 2 as y", "i, cast('n' as int) as y", "i, 9223372036854775807 + 1 as y"} {
		for _, q := range []gagg.Query{
			{},
			{Limit: 1},
			{Limit: gagg.NoRows},
			{Limit: 1, OrderBy: []string{"count(*) desc"}},
			{Limit: gagg.NoRows, OrderBy: []string{"count(*) desc"}},
			{Having: "count(*) > 1000000"},
			{Having: "count(*) > 1000000", Limit: 2, OrderBy: []string{"y"}},
		} {
			for _, o := range []gagg.Options{{Threads: 1}, {Threads: 2, Partitions: 8}} {
				q.By, q.Aggs = []string{by}, exprs("count(*)")
				q.From, q.Where = extremes(t), ""
				if _, err := answer(t, q, o); !errors.Is(err, gagg.ErrOverflow) {
					t.Errorf("%+v: error %v", q, err)
				}
				q.From, q.Where = extremes(t), "x < 0"
				if strings.HasPrefix(by, "x") {
					q.Where = "x < 9223372036854775807 and x > -1000"
				} else {
					q.Where = "x = 1234567"
				}
				if _, err := answer(t, q, o); err != nil {
					t.Errorf("%+v: %v", q, err)
				}
			}
		}
	}
}

// extremes is a table of which one row of many holds the greatest number.
func extremes(t *testing.T) gagg.Source {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}, {Name: "i", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range int64(5000) {
		x := i % 700
		if i == 4321 {
			x = math.MaxInt64
		}
		b.Field(0).(*array.Int64Builder).Append(x)
		b.Field(1).(*array.Int64Builder).Append(i)
	}
	r, err := array.NewRecordReader(schema, []arrow.Record{b.NewRecord()})
	if err != nil {
		t.Fatal(err)
	}
	return gagg.Records(r)
}

func followFile(t *testing.T) gagg.Source {
	table := datagen.New(datagen.Spec{Rows: 3000, Seed: 8, Columns: []datagen.Column{
		{Name: "s", Type: column.Type{Kind: column.String}, Distinct: 20, Coded: true, Nulls: 0.1},
		{Name: "i", Type: column.Type{Kind: column.Int32}, Distinct: 1000},
		{Name: "d", Type: column.DecimalType(12, 2), Distinct: 30},
		{Name: "f", Type: column.Type{Kind: column.Float64}, Distinct: 30, Special: true},
	}})
	return parquetAs(datagen.Layout{RowGroup: 700})(t, &trial{table: table})
}
