package gagg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Devices group by what they can compute of keys, and the CPU computes the keys of these groups.
// The answers are the CPU's, and so are its errors.
func TestDeviceDivides(t *testing.T) {
	gputest.Need(t, 2)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1)}
	from := gagg.Files(regroupFile(t, 6_000))
	for i, x := range []struct {
		by, aggs, where string // lists, by ; and |
		order, having   string
		limit           int64
		workers         bool // no key is divided
		told            bool // likewise: times stand for the texts (KEYS-TOLD)
	}{
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
		{by: "(t || 'x')::int", aggs: "count(*)"}, // fails
		{by: "upper(s)", aggs: "count(*)", workers: true},
		{by: "upper(t)", aggs: "count(*)", limit: 10, workers: true},
		{by: "upper(t)", aggs: "count(distinct i)"},
		{by: "dayname(e);b", aggs: "count(distinct i)|count(*)|sum(l)|max(t)", where: "i > 3", told: true},
		{by: "lower(dayname(e));b", aggs: "count(distinct i)|count(*)|sum(l)|max(t)", where: "i > 3"},
		{by: "left(upper(t), 1)", aggs: "count(distinct t)|min(t)", order: "min(t)"},
		{by: "monthname(e)", aggs: "sum(distinct c)|avg(distinct c)|stddev(i)", having: "count(*) > 2", told: true},
		{by: "l % 3 || 'x'", aggs: "count(distinct f)|sum(distinct f)", order: "count(distinct f) desc", limit: 2},
		{by: "1 // (i - 7) || t", aggs: "count(distinct b)"},
		{by: "upper(t)", aggs: "median(i)", workers: true},
		{by: "f::varchar", aggs: "count(*)", workers: true},
	} {
		q := gagg.Query{
			From: from, By: items(x.by, ";"), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, Having: x.having,
			OrderBy: items(x.order, ","), Limit: x.limit,
		}
		want, _, wantErr := answerStats(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		for k, o := range []gagg.Options{{Device: "gpu"}, {Device: "0,1"}, {Device: "gpu", MemoryLimit: 64 << 20}, {Device: "gpu", Deterministic: true}} {
			if k > 0 && (i+k)%2 == 0 {
				continue
			}
			plan, err := gagg.Plan(t.Context(), q, tuned.of(o))
			if err != nil {
				t.Fatal(err)
			}
			if divided := plan.GPU != nil && strings.Contains(plan.GPU.Regroups, "what it can compute"); divided == (x.workers || x.told) {
				t.Errorf("%+v: %s", x, plan)
			}
			want := want
			if o.Deterministic {
				c := o
				c.Device = "cpu"
				want, _, _ = answerStats(t, q, tuned.of(c))
			}
			o.Threads, o.Streams, o.GPUMemory = 2, 1, 48<<20
			got, s, err := answerStats(t, q, tuned.of(o))
			if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
				t.Errorf("%+v, %+v: %q, want %q; %v, want %v", x, o, got, want, err, wantErr)
			}
			if len(s.Distinct) > 0 && !strings.Contains(x.aggs, "distinct") {
				t.Errorf("%+v: %+v", x, s.Distinct)
			}
		}
	}
}
