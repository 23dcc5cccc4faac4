package gagg_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
)

// The CPU groups by parts of the keys where that is faster, and computes the keys of these groups.
// The answers are those of rows, and so are its errors.
func TestParted(t *testing.T) {
	t.Parallel()
	from := gagg.Files(regroupFile(t, 6_000))
	for i, x := range []struct {
		by, aggs, where string // lists, by ; and |
		order, having   string
		limit           int64
		rows            bool // the keys are computed of rows
	}{
		{by: "upper(t)", aggs: "count(*)|sum(l)|mean(i)|max(f)"},
		{by: "upper(substr(t, 1, 2));s", aggs: "count(*)|min(t)|max(l)", where: "i > 3"},
		{by: "strftime(e, '%d.%m. %H h')", aggs: "count(*)|first(t)|last(l)|any_value(i) is null"},
		{by: "strftime(e, '%A');upper(monthname(e));b", aggs: "count(l)|arg_max(t, l)|stddev(i)"},
		{by: "t || '-' || i", aggs: "count(*) as n", order: "n desc,t || '-' || i", limit: 10},
		{by: "case when i > 100 then 'high' when i > 10 then t else s end as k", aggs: "sum(c)|sum(w)|count(*)", having: "count(*) > 2", order: "k"},
		{by: "l::varchar;d::varchar", aggs: "bool_and(b)|bit_xor(l)"},
		{by: "length(t) * 2 + i;md5(t)", aggs: "count(*)"},
		{by: "upper(s);lower(t)", aggs: "count(*)|sum(g)|avg(w)"},
		{by: "1 // (i - 7) || t", aggs: "count(*)"},
		{by: "(t || 'x')::int", aggs: "count(*)", rows: true}, // fails, and its sample
		{by: "upper(s)", aggs: "count(*)", rows: true},
		{by: "upper(t)", aggs: "count(*)", limit: 10, rows: true},
		{by: "upper(t)", aggs: "count(distinct i)", rows: true},
		{by: "upper(t)", aggs: "median(i)", rows: true},
		{by: "f::varchar", aggs: "count(*)", rows: true},
		{by: "t", aggs: "count(*)", rows: true},
	} {
		q := gagg.Query{
			From: from, By: items(x.by, ";"), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, Having: x.having,
			OrderBy: items(x.order, ","), Limit: x.limit,
		}
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
			if err != nil || plan.Parted == x.rows {
				t.Errorf("%+v: %s, %v", x, plan, err)
			}
			got, _, err := answerStats(t, q, tuned.of(o))
			if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
				t.Errorf("%+v, %+v: %q, want %q; %v, want %v", x, o, got, want, err, wantErr)
			}
		}
	}
}
