package gagg_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// Where rows are grouped by times in place of texts of them, all else sees the texts: these are the
// answers of a query of which a function hides that they are such texts.
func TestToldKeys(t *testing.T) {
	t.Parallel()
	from := gagg.Files(regroupFile(t, 3_000))
	for _, x := range []struct {
		key, more           string // of the keys; the other keys
		aggs, having, order string
		limit               int64
	}{
		{key: "dayname(e)", aggs: "count(*)|count(distinct i)|max(t)"},
		{key: "monthname(date '2020-01-01' + i % 40 * 9)", more: "b", aggs: "sum(l)|first(t)", order: "1,b"},
		{key: "strftime(date '2020-01-01' + i % 40 * 5, '%Y-%m')", aggs: "count(*) as n", having: "count(*) > 2", order: "n desc,1", limit: 5},
		{key: "strftime(e - interval '13 hours', '%d.%m.%Y %H')", more: "upper(s)", aggs: "median(i)|mode(t)", order: "1 desc,2", limit: 9},
	} {
		q := gagg.Query{
			From: from, By: append([]string{x.key + " as k"}, items(x.more, ";")...), Aggs: exprs(items(x.aggs, "|")...),
			Having: x.having, OrderBy: items(x.order, ","), Limit: x.limit,
		}
		hidden := q
		hidden.By = slices.Clone(q.By)
		hidden.By[0] = x.key + " || '' as k"
		for _, o := range []gagg.Options{{Device: "cpu", Threads: 2}, {Device: "cpu", Threads: 3, MemoryLimit: 64 << 20}} {
			if got, want := mustAnswer(t, q, o), mustAnswer(t, hidden, o); !slices.Equal(got, want) {
				t.Errorf("%+v: %q, want %q", x, got, want)
			}
		}
	}
	q := gagg.Query{From: from, By: []string{"dayname(e)", "b"}, Where: "e is not null", Aggs: exprs("sum(90000000000000000000000000000000000000 + i)")}
	_, _, err := answerStats(t, q, gagg.Options{Device: "cpu"})
	if want := regexp.MustCompile(`in the group dayname\(e\) = [A-Z][a-z]*day, b = `); err == nil || !want.MatchString(err.Error()) {
		t.Errorf("%v", err)
	}
	q = gagg.Query{From: from, By: []string{"strftime(d, '%Y-%m-%d')"}, Aggs: exprs("count(*)"), OrderBy: []string{"d"}}
	_, _, err = answerStats(t, q, gagg.Options{Device: "cpu"}) // d stands for the key, and is none
	if err == nil || !strings.Contains(err.Error(), "must be a key") {
		t.Errorf("%v", err)
	}
}
