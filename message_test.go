package gagg_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// A mistake in a query is told with what to do about it.
func TestMessages(t *testing.T) {
	for _, x := range []struct {
		q    gagg.Query
		want string
	}{
		{gagg.Query{By: []string{"regio"}}, `(similar names: "region"), at character 1 of "regio"`},
		{gagg.Query{By: []string{"sum(price)"}}, `the aggregate sum cannot be a key; list it with the aggregates`},
		{gagg.Query{By: []string{"region"}, Where: `region = "Asia"`}, `column "Asia" does not exist (--schema lists the columns); if it is text, write 'Asia', at character 10 of`},
		{gagg.Query{By: []string{"region"}, OrderBy: []string{"nowhere"}}, `column "nowhere" is not in the result, which has region`},
		{gagg.Query{By: []string{"region"}, OrderBy: []string{"price"}}, `column "price" must be a key or inside an aggregate`},
		{gagg.Query{By: []string{"region"}, OrderBy: []string{"region", "-1"}}, `order by -1 orders nothing: give a name, an expression, or the number of an output column (1 to 1)`},
		{gagg.Query{By: []string{"region"}, OrderBy: []string{"2"}}, `order by 2 orders nothing`},
		{gagg.Query{Aggs: exprs("count")}, `count is an aggregate: give it an argument, as in count(x)`},
		{gagg.Query{Aggs: exprs("summ(price)")}, `there is no aggregate or function "summ" (did you mean "sum"?), at character 1 of`},
		{gagg.Query{Aggs: exprs("1 + yaar(ordered_at)")}, `there is no aggregate or function "yaar" (did you mean "year"?), at character 5 of`},
		{gagg.Query{Aggs: exprs("sum(price) revenue")}, `expected "," or "as NAME", found "revenue"`},
	} {
		x.q.From = gagg.Files(orders)
		_, err := answer(t, x.q, gagg.Options{})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("error %v, want %s", err, x.want)
		}
	}
}

// A value that does not fit its type, or the type it is cast to, is an overflow wherever it is
// met: in a row, in an expression over aggregates, in having and order by. The message quotes
// what was written, never a name of our own.
func TestValueDoesNotFit(t *testing.T) {
	const text = "\"Oceania\" to int64"
	for _, x := range []struct {
		q    gagg.Query
		want string
	}{
		{gagg.Query{By: []string{"cast(quantity * 1e300 as int64)"}}, `cast(quantity * 1e+300 as int64): cannot convert "`},
		{gagg.Query{Aggs: exprs("sum(cast(region as int64))")}, `cast(region as int64): cannot convert "`},
		{gagg.Query{Aggs: exprs("cast(sum(quantity) * 1e300 as int64)")}, `cast(sum(quantity) * 1e+300 as int64): cannot convert "`},
		{gagg.Query{Aggs: exprs("sum(quantity) as q"), Having: "cast(q * 1e300 as int64) > 0"}, `cast(sum(quantity) * 1e+300 as int64): cannot convert "`},
		{gagg.Query{Aggs: exprs("sum(quantity) as q"), OrderBy: []string{"cast(q * 1e300 as int64)"}}, `cast(sum(quantity) * 1e+300 as int64): cannot convert "`},
		{gagg.Query{Aggs: exprs("count(distinct region) * 9223372036854775807")}, `the value of count(distinct region) * 9223372036854775807 does not fit int64`},
		{gagg.Query{By: []string{"quantity + 1"}, Aggs: exprs("(quantity + 1) * 9223372036854775807")}, `the value of (quantity + 1) * 9223372036854775807 does not fit int64`},
		{gagg.Query{By: []string{"region"}, Where: "region = 'Oceania'", Having: "region::int64 > 0"}, `cast(region as int64): cannot convert ` + text},
		{gagg.Query{By: []string{"region"}, Where: "region = 'Oceania'", OrderBy: []string{"-region::int64"}}, `cast(region as int64): cannot convert ` + text},
		{gagg.Query{By: []string{"region"}, Aggs: exprs("sum(quantity) filter (where quantity > 2) * 99999999999999999999999999999999999999")}, `the value of sum(quantity) filter (where quantity > 2) * 9`},
	} {
		x.q.From = gagg.Files(orders)
		_, err := answer(t, x.q, gagg.Options{})
		if !errors.Is(err, gagg.ErrOverflow) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("overflow: %v; error %v, want %s", errors.Is(err, gagg.ErrOverflow), err, x.want)
		}
	}
}
