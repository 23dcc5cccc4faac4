package gagg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// orderedTrial is aggregates with an order over a column of type t with odd values, beside one of
// type u.
func orderedTrial(t, u column.Type, rows, keys int) *trial {
	tr := holisticTrial(t, 1, 0, nil)
	tr.seed = uint64(keys)
	tr.table = datagen.New(datagen.Spec{Rows: rows, Seed: uint64(keys), Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.Int32}, Distinct: max(keys, 1), Nulls: 0.1},
		{Name: "x", Type: t, Distinct: 40, Nulls: 0.2, Skew: 1, Special: true, Coded: keys == 5},
		{Name: "y", Type: u, Distinct: 60, Nulls: 0.3, Special: true},
	}})
	if keys > 0 {
		tr.query.By, tr.want.Keys = []string{"k"}, []int{0}
	}
	add := func(call string, want oracle.Agg) {
		tr.query.Aggs, tr.want.Aggs = append(tr.query.Aggs, gagg.Expr(call)), append(tr.want.Aggs, want)
	}
	n := func(n int64) column.Value { return column.Value{Type: column.Type{Kind: column.Int64}, Int: n} }
	add("arg_min(x, y, 3)", oracle.Agg{Func: "arg_min", Args: []int{1, 2}, Param: n(3)})
	add("arg_max(x, y, 2)", oracle.Agg{Func: "arg_max", Args: []int{1, 2}, Param: n(2)})
	add("max_by(y, x, 999999)", oracle.Agg{Func: "arg_max", Args: []int{2, 1}, Param: n(999_999)})
	add("list(x order by x desc)", oracle.Agg{Func: "list", Args: []int{1}, Param: n(1)})
	return tr
}

// Values of every type come in the order of others, in every configuration: the oracle's answer.
func TestOrdered(t *testing.T) {
	types := datagen.Types()
	for i, typ := range types {
		if testing.Short() && i%4 != 0 {
			continue
		}
		other := types[(i*7+3)%len(types)]
		for k, keys := range []int{5, 200} {
			tryHolistic(t, typ.String()+"/"+other.String(), orderedTrial(typ, other, 300, keys), everyThird(configurations, i+k))
		}
	}
}

// Ordered values of one group that do not fit in memory.
func TestOrderedLarge(t *testing.T) {
	text := column.Type{Kind: column.String}
	for _, types := range [][2]column.Type{{text, {Kind: column.Float64}}, {{Kind: column.Int64}, text}} {
		tr := orderedTrial(types[0], types[1], 4000, 0)
		tr.tuned = tune{gagg.LeastMemory(tightMemory)}
		tryHolistic(t, types[0].String(), tr, slices.Concat(configurations[:2], tightConfigurations[:2]))
	}
}

// What the oracle has no word for: NULL in the order, several of them, texts, distinct values,
// filters, and the mistakes.
func TestOrderedAnswers(t *testing.T) {
	for agg, want := range map[string]string{
		"list(quantity order by price)":                                               "[12,11,11,11,12,11,12]",
		"list(price order by quantity desc, price desc)":                              "[\"163.77\",\"160.59\",\"149.46\",\"163.77\",\"160.59\",\"159\",\"154.23\"]",
		"string_agg(price, '; ' order by price desc)":                                 "163.77; 163.77; 160.59; 160.59; 159.00; 154.23; 149.46",
		"string_agg(quantity order by price)":                                         "12,11,11,11,12,11,12",
		"string_agg(distinct quantity, ' ' order by quantity desc)":                   "12 11",
		"list(distinct quantity order by quantity desc)":                              "[12,11]",
		"list(quantity order by nullif(quantity, 12) nulls first)":                    "[12,12,12,11,11,11,11]",
		"list(quantity order by case when quantity < 12 then null else 1 end, price)": "[12,12,12,11,11,11,11]",
		"list(price order by price) filter (where quantity = 12)":                     "[\"149.46\",\"160.59\",\"163.77\"]",
		"first(price order by quantity)":                                              "160.59",
		"any_value(price order by price desc)":                                        "163.77",
		"last(price order by price)":                                                  "163.77",
		"last(quantity order by price desc)":                                          "12",
		"arg_max(quantity, price, 2)":                                                 "[11,12]",
		"arg_min(price, -quantity, 1) filter (where price > 150)":                     "[\"160.59\"]",
		"sum(quantity order by price)":                                                "error: order by stands in list, string_agg, first, any_value and last, not in sum",
		"geomean(quantity order by price)":                                            "error: not in geomean",
		"list(distinct quantity order by price)":                                      "error: list with distinct can only be ordered by its argument",
		"first(price order by quantity, price)":                                       "error: takes one argument and one order",
		"arg_max(quantity, price, 0)":                                                 "error: the third argument of arg_max must be a whole number from 1 to 999999",
		"list(quantity order by sum(price))":                                          "error: the aggregate sum cannot be inside the aggregate list",
		"list(abs(quantity order by price))":                                          "error: abs is not an aggregate: it takes no *, distinct, order by or filter",
		"list(null order by price)":                                                   "error: cast NULL to one",
		"list(quantity order by price limit 1)":                                       "error: expected \")\", found \"limit\"",
	} {
		q := gagg.Query{From: gagg.Files(orders), Aggs: exprs(agg), Where: "price > 149 and quantity > 10 and ordered_at < '2024-04-01'"}
		for _, o := range []gagg.Options{{Threads: 1}, {Threads: 3, Partitions: 8, BatchRows: 10}} {
			got, err := answer(t, q, o)
			if message, isError := strings.CutPrefix(want, "error: "); isError {
				if err == nil || !strings.Contains(err.Error(), message) {
					t.Errorf("%s: %q, %v; want …%s…", agg, got, err, message)
				}
				continue
			}
			if err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("%s: %q, %v; want %s", agg, got, err, want)
			}
		}
	}
}

// Two aggregates with the same order, of which one leaves rows without a key out, and one has them,
// are what each is alone.
func TestOrderedBeside(t *testing.T) {
	ask := func(aggs string) string {
		t.Helper()
		got, err := answer(t, gagg.Query{From: gagg.Files(orders), Aggs: exprs(aggs), Where: "price > 149 and quantity > 10 and ordered_at < '2024-04-01'"}, gagg.Options{})
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		return got[0]
	}
	const all, some = "list(price order by nullif(quantity, 12))", "arg_min(price, nullif(quantity, 12), 9)"
	a, s := ask(all), ask(some)
	if strings.Count(a, ",") != 6 || strings.Count(s, ",") != 3 {
		t.Errorf("alone: %s and %s", a, s)
	}
	for _, both := range []string{all + ", " + some, some + ", " + all} {
		if got := ask(both); !strings.Contains(got, a) || !strings.Contains(got, s) {
			t.Errorf("%s: %s, want %s and %s", both, got, a, s)
		}
	}
}
