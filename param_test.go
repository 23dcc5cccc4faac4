package gagg_test

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg"
)

// A parameter is a constant of the right kind; the mistake is shown where it
// stands.
func TestParameterMistakes(t *testing.T) {
	for _, x := range []struct{ agg, want string }{
		{"quantile(price, 2)", "the second argument of quantile must be a number between 0 and 1, at character 17 of"},
		{"quantile(price, -0.5)", "the second argument of quantile must be a number between 0 and 1, at"},
		{"quantile(price, 'x')", "the second argument of quantile must be a number between 0 and 1, at"},
		{"quantile(price, null)", "the second argument of quantile must be a number between 0 and 1, at"},
		{"quantile(price, 1e999 - 1e999)", "number out of range"},
		{"quantile_disc(price, discount)", "the second argument of quantile_disc must be a number between 0 and 1, the same for all rows, at character 22"},
		{"approx_quantile(price, 1.01)", "the second argument of approx_quantile must be a number between 0 and 1, at"},
		{"quantile(price, max(discount))", "the aggregate max cannot be inside the aggregate quantile, at character 17"},
		{"quantile(price, 0.5 + true)", "at character 21"},
		{"quantile(price)", "quantile takes 2 arguments"},
		{"quantile(price, 0.1, 0.2)", "quantile takes 2 arguments"},
		{"quantile(price, [0.1, 2])", "the second argument of quantile must be a number between 0 and 1, at character 23"},
		{"quantile([price], 0.1)", "a list of values stands only behind the argument of quantile and quantile_disc, at character 10"},
		{"median(price, 0.1)", "median takes 1 argument"},
		{"min(price, 0)", "the second argument of min must be a whole number from 1 to 999999, at character 12"},
		{"max(price, 1000000)", "the second argument of max must be a whole number from 1 to 999999"},
		{"max(price, 2.0)", "the second argument of max must be a whole number from 1 to 999999"},
		{"max(price, quantity)", "the second argument of max must be a whole number from 1 to 999999, the same for all rows"},
		{"string_agg(region, 1)", "the second argument of string_agg must be a text, such as ', ', at character 20"},
		{"string_agg(region, product)", "the second argument of string_agg must be a text, such as ', ', the same for all rows"},
		{"string_agg(region, null)", "the second argument of string_agg must be a text, such as ', ', at"},
		{"string_agg(distinct region, ',' order by product)", "string_agg with distinct can only be ordered by its argument, at character 1"},
		{"median(price order by product)", "order by stands in list, string_agg, first, any_value and last, not in median, at character 1"},
		{"corr(distinct price, quantity)", "distinct is not supported in corr, which has several arguments, at character 1"},
		{"count(distinct price, region)", "count(distinct x) takes 1 argument"},
		{"mad(region)", "mad does not take a string; it takes numbers"},
		{"list(price) + 1", "list"},
		{"median(price) over ()", "there are no window functions"},
	} {
		_, err := answer(t, gagg.Query{From: gagg.Files(orders), Aggs: exprs(x.agg)}, gagg.Options{})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, want %s", x.agg, err, x.want)
		}
	}
}

// A constant that is a key too stays one in an expression over aggregates.
func TestConstantsThatAreKeys(t *testing.T) {
	lines := mustAnswer(t, gagg.Query{
		From: gagg.Files(orders), By: []string{"2 as two", "'day' as part", "2 + 1 as three"}, Having: "three = 2 + 1 and two = 2",
		Aggs: exprs("round(max(price), 2) = max(price) as same", "date_trunc('day', max(ordered_at)) <= max(ordered_at) as before"),
	}, gagg.Options{})
	if len(lines) != 1 || lines[0] != "2|day|3|true|true" {
		t.Errorf("%q", lines)
	}
}

type id int32

// A parameter has the meaning of the same constant in the text, in every clause.
func TestParams(t *testing.T) {
	day := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	text := "it's; drop -- \" ? $1"
	quantity := 3
	for _, test := range []struct {
		name        string
		with, plain gagg.Query
	}{
		{"integers", gagg.Query{Where: "quantity = ?", Params: []any{uint8(3)}}, gagg.Query{Where: "quantity = 3"}},
		{"a named type", gagg.Query{Where: "quantity = ?", Params: []any{id(3)}}, gagg.Query{Where: "quantity = 3"}},
		{"a pointer", gagg.Query{Where: "quantity = ?", Params: []any{&quantity}}, gagg.Query{Where: "quantity = 3"}},
		{"negative", gagg.Query{Where: "-quantity < ? and quantity > -?", Params: []any{int64(-3), 1}}, gagg.Query{Where: "-quantity < -3 and quantity > -1"}},
		{"large", gagg.Query{Where: "quantity < ?", Params: []any{uint64(math.MaxUint64)}}, gagg.Query{}},
		{"a float", gagg.Query{Where: "price > ?", Params: []any{float32(20.5)}}, gagg.Query{Where: "price > 20.5"}},
		{"decimals", gagg.Query{Where: "price > ? and price < ? and price < ? and price < ?", Params: []any{
			gagg.Decimal{Unscaled: big.NewInt(2050), Scale: 2}, big.NewInt(90), decimal128.FromI64(91), decimal256.FromI64(92),
		}}, gagg.Query{Where: "price > 20.50 and price < 90"}},
		{"bool", gagg.Query{Where: "(price > 20) = ?", Params: []any{true}}, gagg.Query{Where: "price > 20"}},
		{"null", gagg.Query{Where: "discount is not distinct from ?", Params: []any{nil}}, gagg.Query{Where: "discount is null"}},
		{"nil pointer", gagg.Query{Where: "discount is not distinct from ?", Params: []any{(*float64)(nil)}}, gagg.Query{Where: "discount is null"}},
		{"text", gagg.Query{Where: "region in (?, ?) or region = ?", Params: []any{"Asia", text, []byte("Africa")}}, gagg.Query{Where: "region in ('Asia', 'Africa')"}},
		{"time", gagg.Query{Where: "ordered_at >= ? and ordered_at < ? + ?", Params: []any{day, day, 48 * time.Hour}}, gagg.Query{Where: "ordered_at >= timestamp '2024-03-01 12:00:00' and ordered_at < timestamp '2024-03-03 12:00:00'"}},
		{"nanoseconds", gagg.Query{Where: "ordered_at >= ?", Params: []any{day.Add(1)}}, gagg.Query{Where: "ordered_at > timestamp '2024-03-01 12:00:00'"}},
		{"numbered", gagg.Query{Where: "quantity between $2 and $1 or quantity = $2", Params: []any{5, 2}}, gagg.Query{Where: "quantity between 2 and 5"}},
		{"pattern", gagg.Query{Where: "region like ?", Params: []any{"A%"}}, gagg.Query{Where: "region like 'A%'"}},
		{"all clauses", gagg.Query{
			Where: "quantity < ?", Having: "count(*) > ?", By: []string{"quantity % ? as m, quantity // ? as d"},
			Aggs: exprs("quantile(price, ?), max(price + ?)"), OrderBy: []string{"m + ?", "d"}, Params: []any{3, 2, 0.25, 1000, 7, 10, 1},
		}, gagg.Query{
			Where: "quantity < 7", Having: "count(*) > 10", By: []string{"quantity % 3 as m, quantity // 2 as d"},
			Aggs: exprs("quantile(price, 0.25), max(price + 1000)"), OrderBy: []string{"m + 1", "d"},
		}},
		{"all clauses, numbered", gagg.Query{
			Where: "quantity < $1", By: []string{"quantity % $2 as m"}, Aggs: exprs("sum(quantity) filter (where price > $3)"), OrderBy: []string{"m"}, Params: []any{7, 3, 20},
		}, gagg.Query{Where: "quantity < 7", By: []string{"quantity % 3 as m"}, Aggs: exprs("sum(quantity) filter (where price > 20)"), OrderBy: []string{"m"}}},
	} {
		for _, q := range []*gagg.Query{&test.with, &test.plain} {
			q.From = gagg.Files(orders)
			q.Aggs = append(q.Aggs, exprs("count(*) as n", "sum(quantity) as s")...)
		}
		got, err := answer(t, test.with, gagg.Options{})
		if want := mustAnswer(t, test.plain, gagg.Options{}); err != nil || !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: %q, want %q; %v", test.name, got, want, err)
		}
	}
}

// Values that are too few, too many or of no type of a value are one clear error.
func TestParamsRefused(t *testing.T) {
	for want, q := range map[string]gagg.Query{
		"the query has 2 parameters (?), and 1 value is given":                       {Where: "quantity = ? or quantity = ?", Params: []any{1}},
		"the query has 1 parameter (?), and 0 values are given":                      {Where: "quantity = ?"},
		"the query has 0 parameters (?), and 1 value is given":                       {Params: []any{1}},
		"there is no value for the parameter $3: 2 values are given":                 {Where: "quantity in ($1, $2, $3)", Params: []any{1, 2}},
		"the value of the parameter $2 is used nowhere":                              {Where: "quantity = $1", Params: []any{1, 2}},
		"parameters are numbered ($1) or not (?): a query cannot have both":          {Where: "quantity = $1 or quantity = ?", Params: []any{1, 2}},
		"parameter 2: struct {} is no type of a value":                               {Where: "quantity in (?, ?)", Params: []any{1, struct{}{}}},
		"parameter 1: []int is no type of a value":                                   {Where: "quantity in (?)", Params: []any{[]int{1}}},
		"parameter 1: 1ns is not a whole number of microseconds":                     {Where: "ordered_at > ?", Params: []any{time.Nanosecond}},
		"parameter 1: the time 9999-01-01 00:00:00.000000001 +0000 UTC is out":       {Where: "ordered_at > ?", Params: []any{time.Date(9999, 1, 1, 0, 0, 0, 1, time.UTC)}},
		"parameter 1: a decimal of 1 digits, 77 of them behind its point":            {Where: "price > ?", Params: []any{gagg.Decimal{Unscaled: big.NewInt(1), Scale: 77}}},
		"cannot compare int32 and interval":                                          {Where: "quantity = ?", Params: []any{time.Second}},
		"the second argument of quantile must be a number between 0 and 1, at chara": {Aggs: exprs("quantile(price, ?)"), Params: []any{2}},
		`unexpected character`: {Where: "quantity = $x"},
	} {
		q.From = gagg.Files(orders)
		q.Aggs = append(q.Aggs, gagg.CountAll())
		if _, err := answer(t, q, gagg.Options{}); !errors.Is(err, gagg.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
