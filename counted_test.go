package gagg_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// countedTrials is queries with aggregates of the values of one argument, which may be counted.
var countedTrials = []struct {
	by, aggs, where string // lists, by ; and |
	order, having   string
	limit           int64
	not             bool // they are not counted
	workers         bool // they are, but not by devices
	apart           bool // they are counted in subqueries
}{
	{by: "s", aggs: "median(i)|quantile(i, 0.9)|quantile_disc(i, 0.25)|mode(i)|entropy(i)|histogram(i)"},
	{by: "s;b", aggs: "mode(t)|count(*)|sum(l)|histogram(t)|entropy(t)", where: "i > 3"},
	{aggs: "mode(t)|entropy(t)|count(t)|max(t)|first(t)"},
	{aggs: "median(l)|quantile(l, [0.1, 0.5, 0.999])|quantile_disc(l, [0, 1])|sum(l)|count(*)"},
	{by: "i", aggs: "median(f)|mode(f)|quantile_disc(f, 0.75)|avg(f)|approx_quantile(f, 0.5)"},
	{by: "l", aggs: "median(d)|mode(d)|min(d)|max(d)|count(d)"},
	{by: "t", aggs: "mode(e)|median(e)|approx_top_k(e, 3)|any_value(e)"},
	{by: "s;i", aggs: "median(c)|mode(c)|sum(c)|sum(w)"},
	{by: "s", aggs: "mode(w)|entropy(w)|stddev(g)", workers: true},
	{by: "b", aggs: "mode(b)|histogram(b)|count(*)"},
	{by: "f", aggs: "approx_quantile(l, 0.9)|arg_max(t, l)|string_agg(s, ',')", not: true, apart: true},
	{by: "s", aggs: "median(i) as m|count(*) as n", order: "m desc,s", limit: 7},
	{by: "i", aggs: "mode(s) as m|count(*) as n", having: "count(*) > 3", order: "n,i"},
	{by: "s", aggs: "median(i) filter (where b)|count(*)"},
	{by: "s", aggs: "median(i * 2 + 1)|mode(i * 2 + 1)|sum(i)"},
	{by: "s", aggs: "median(i)|median(l)", not: true, apart: true},
	{by: "s", aggs: "median(i)|count(distinct i)|sum(distinct i)|sum(i)"},
	{by: "b;s", aggs: "count(distinct t)|mode(t)"},
	{by: "s", aggs: "median(i)|count(distinct l)", not: true, apart: true},
	{by: "s", aggs: "approx_count_distinct(i)|count(*)|sum(l)"},
	{by: "i;b", aggs: "approx_count_distinct(t)|count(distinct t)|mode(t)", having: "count(*) > 2"},
	{by: "s", aggs: "mad(i)", not: true},
	{by: "s", aggs: "median(w)", not: true},
}

// Values are counted by group, or listed as ever: the answers are the same, ties of mode included.
func TestCounted(t *testing.T) {
	t.Parallel()
	from := gagg.Files(regroupFile(t, inShort(4_000, 20_000)))
	for i, x := range countedTrials {
		q := gagg.Query{
			From: from, By: items(x.by, ";"), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, Having: x.having,
			OrderBy: items(x.order, ","), Limit: x.limit,
		}
		for k, o := range []gagg.Options{
			{Threads: 3, BatchRows: 100}, {Threads: 2, Partitions: 64}, {Threads: 3, MemoryLimit: 8 << 20}, {Threads: 1}, {Threads: 2, Deterministic: true},
		} {
			if testing.Short() && (i+k)%2 == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%d/%d", i, k), func(t *testing.T) {
				t.Parallel()
				o.Device = "cpu"
				want, _, wantErr := answerStats(t, q, tune{gagg.LeastMemory(tightMemory), gagg.CountsNone()}.of(o))
				o = tune{gagg.LeastMemory(tightMemory), gagg.CountsValues()}.of(o)
				got, _, err := answerStats(t, q, o)
				if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
					t.Errorf("%+v: %v, want %v; %q, want %q", x, err, wantErr, got, want)
				}
				if plan, err := gagg.Plan(t.Context(), q, o); err != nil || plan.Counted == x.not || (len(plan.Subqueries) > 0) != (x.apart && o.MemoryLimit == 0) {
					t.Errorf("%+v: %s, %v", x, plan, err)
				}
			})
		}
	}
}

// A memory limit that is enough for lists is enough: nothing is counted where it is not for both
// groupings.
func TestCountedMemory(t *testing.T) {
	t.Parallel()
	q := gagg.Query{From: gagg.Files(regroupFile(t, 4_000)), By: []string{"s"}, Aggs: exprs("mode(i)", "sum(l)")}
	least := leastLimit(t, q, tune{gagg.CountsNone()}.of(gagg.Options{Device: "cpu"}))
	for _, x := range []struct {
		limit   int64
		counted bool
	}{{least, false}, {4 * least, true}} {
		o := tune{gagg.CountsValues()}.of(gagg.Options{Device: "cpu", Threads: 1, MemoryLimit: x.limit})
		plan, err := gagg.Plan(t.Context(), q, o)
		if err != nil || plan.Counted != x.counted {
			t.Fatalf("%d bytes: counted %v, %v", x.limit, plan.Counted, err)
		}
		if got, want := mustAnswer(t, q, o), mustAnswer(t, q, gagg.Options{Device: "cpu"}); !slices.Equal(got, want) {
			t.Errorf("%d bytes: %q, want %q", x.limit, got, want)
		}
	}
}

// Where nothing tells how often values come, a run begins to count them, and begins anew if they
// come too seldom: the answer is the same. One that begins anew does not try again.
func TestCountedTried(t *testing.T) {
	t.Parallel()
	from := gagg.Files(regroupFile(t, 20_000))
	for _, x := range []struct {
		by, agg string
		repeats float64
		again   int
	}{
		{"s", "median(i)", 1, 0},
		{"s", "median(i)", 1e6, 1},
		{"l", "median(i)", 5, 1},
		{"s", "mode(i)", 1, 1},
		{"s", "max(i)", 1e6, 0},
	} {
		q := gagg.Query{From: from, By: []string{x.by}, Aggs: exprs(x.agg, "count(*)"), Where: "b"}
		want := mustAnswer(t, q, tune{gagg.CountsNone()}.of(gagg.Options{Device: "cpu"}))
		var log bytes.Buffer
		o := tune{gagg.CountsTried(x.repeats)}.of(gagg.Options{Device: "cpu", Threads: 1, BatchRows: 100, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		got := mustAnswer(t, q, o)
		if again := strings.Count(log.String(), "read again"); again != x.again || !slices.Equal(got, want) {
			t.Errorf("%+v: %d times anew; %q, want %q", x, again, got, want)
		}
		if plan, err := gagg.Plan(t.Context(), q, o); err != nil || plan.Counted == (x.agg == "max(i)") {
			t.Errorf("%+v: %s, %v", x, plan, err)
		}
	}
}
