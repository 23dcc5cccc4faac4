package gagg_test

import (
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
		{gagg.Query{By: []string{"region"}, OrderBy: []string{"nowhere"}}, `column "nowhere" does not exist`},
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
