package gagg_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
)

// keysQuestion is a question about the file of regroupFile.
type keysQuestion struct {
	by, aggs, where string // lists, by ; and |
	order, having   string
	limit           int64
	workers         bool // no key is divided
	told            bool // likewise: times stand for the texts (KEYS-TOLD)
	rows            bool // the CPU divides none
}

func (x *keysQuestion) query(from gagg.Source) gagg.Query {
	return gagg.Query{
		From: from, By: items(x.by, ";"), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, Having: x.having,
		OrderBy: items(x.order, ","), Limit: x.limit,
	}
}

// dividedKeys are questions by keys that are computed of groups by their parts, or are not.
var dividedKeys = []keysQuestion{
	{by: "upper(t)", aggs: "count(*)|sum(l)|mean(i)|max(f)"},
	{by: "upper(substr(t, 1, 2));s", aggs: "count(*)|min(t)|max(l)", where: "i > 3"},
	{by: "strftime(e, '%Y-%m-%d')", aggs: "count(*)|first(t)|last(l)|any_value(i) is null", told: true},
	{by: "strftime(e, '%d.%m. %H h')", aggs: "count(*)|first(t)|last(l)|any_value(i) is null"},
	{by: "dayname(e);monthname(e);b", aggs: "count(l)|arg_max(t, l)|stddev(i)", told: true},
	{by: "strftime(e, '%A');upper(monthname(e));b", aggs: "count(l)|arg_max(t, l)|stddev(i)"},
	{by: "t || '-' || i", aggs: "count(*) as n", order: "n desc,t || '-' || i", limit: 10},
	{by: "case when i > 100 then 'high' when i > 10 then t else s end as k", aggs: "sum(c)|sum(w)|count(*)", having: "count(*) > 2", order: "k"},
	{by: "case when i > 100 then 'high' when i > 10 then 'middle' end", aggs: "count(*)|var_pop(g)"},
	{by: "l::varchar;d::varchar", aggs: "bool_and(b)|bit_xor(l)"},
	{by: "length(t) * 2 + i;md5(t)", aggs: "count(*)"},
	{by: "upper(s);lower(t)", aggs: "count(*)"},
	{by: "1 // (i - 7) || t", aggs: "count(*)"},
	{by: "(t || 'x')::int", aggs: "count(*)", rows: true}, // fails, and so does its sample
	{by: "upper(s)", aggs: "count(*)", workers: true},
	{by: "upper(t)", aggs: "count(*)", limit: 10, workers: true},
	{by: "upper(t)", aggs: "count(distinct i)", rows: true},
	{by: "dayname(e);b", aggs: "count(distinct i)|count(*)|sum(l)|max(t)", where: "i > 3", told: true},
	{by: "lower(dayname(e));b", aggs: "count(distinct i)|count(*)|sum(l)|max(t)", where: "i > 3", rows: true},
	{by: "left(upper(t), 1)", aggs: "count(distinct t)|min(t)", order: "min(t)", rows: true},
	{by: "monthname(e)", aggs: "sum(distinct c)|avg(distinct c)|stddev(i)", having: "count(*) > 2", told: true},
	{by: "l % 3 || 'x'", aggs: "count(distinct f)|sum(distinct f)", order: "count(distinct f) desc", limit: 2, rows: true},
	{by: "1 // (i - 7) || t", aggs: "count(distinct b)", rows: true},
	{by: "upper(t)", aggs: "median(i)", workers: true},
	{by: "f::varchar", aggs: "count(*)", workers: true},
}

// The CPU groups by parts of the keys where that is faster, and computes the keys of these groups.
// The answers are those of rows, and so are its errors.
func TestParted(t *testing.T) {
	t.Parallel()
	from := gagg.Files(regroupFile(t, 6_000))
	for i, x := range slices.Concat(dividedKeys, []keysQuestion{
		{by: "upper(s);lower(t)", aggs: "count(*)|sum(g)|avg(w)"},
		{by: "t", aggs: "count(*)", rows: true},
	}) {
		q := x.query(from)
		for k, o := range []gagg.Options{{}, {Threads: 3}, {Threads: 2, MemoryLimit: 64 << 20}, {Deterministic: true}, {Partitions: 8}} {
			if k > 0 && (i+k)%2 == 0 {
				continue
			}
			o.Device = "cpu"
			want, _, wantErr := answerStats(t, q, o)
			tuned := tune{gagg.Parts()}
			if k%2 == 0 {
				tuned = append(tuned, gagg.LeastMemory(tightMemory))
			}
			plan, err := gagg.Plan(t.Context(), q, tuned.of(o))
			if err != nil || plan.Parted == (x.rows || x.workers || x.told) {
				t.Errorf("%+v: %s, %v", x, plan, err)
			}
			got, _, err := answerStats(t, q, tuned.of(o))
			if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
				t.Errorf("%+v, %+v: %q, want %q; %v, want %v", x, o, got, want, err, wantErr)
			}
		}
	}
}
