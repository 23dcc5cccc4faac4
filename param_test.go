package gagg_test

import (
	"strings"
	"testing"

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
		{"list(distinct price)", "distinct is not supported in list, whose result depends on the order of rows, but where it is ordered: list(distinct x order by x), at character 1"},
		{"corr(distinct price, quantity)", "distinct is not supported in corr, which has several arguments, at character 1"},
		{"count(distinct price, region)", "count(distinct x) takes 1 argument"},
		{"mad(region)", "mad does not take a string; it takes numbers"},
		{"list(price) + 1", "list"},
		{"median(price) over ()", `found "over"`},
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
