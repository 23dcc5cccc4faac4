package plan

import (
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/query"
)

// The plan says in words which groups leave a device, or why all do.
func TestSelection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by, agg, having, order string
		limit, offset          int64
		want                   string
		all                    bool
	}{
		{by: "region", agg: "count(*) as n", order: "-n", all: true},
		{by: "region", agg: "count(*) as n", limit: 3, offset: 2, want: "the first 5 in order of hash"},
		{by: "region", agg: "count(*) as n", having: "n > 3", limit: 3, want: "those that pass the filter on groups, of these the first 3 in order of hash"},
		{by: "region", agg: "sum(price::decimal(38,2)) as n", limit: 1, want: "the first 1 in order of hash"},
		{by: "region", agg: "sum(price::decimal(38,2)) as n", having: "count(*) > 3", limit: 1, want: "those that pass the filter on groups, of these the first 1 in order of hash"},
		{by: "region", agg: "median(price) as n", limit: 1, want: "lists are read with all groups", all: true},
		{by: "region", agg: "count(*) as n", order: "-n", limit: 3, offset: 4, want: "the first 7 by the first term of the order"},
		{by: "region", agg: "sum(quantity) as n", having: "n > 3", want: "those that pass the filter on groups"},
		{by: "region", agg: "avg(price) as n", having: "count(*) > 3", order: "n", limit: 1, want: "those that pass the filter on groups, of these the first 1 by the first term of the order"},
		{by: "region", agg: "count(*)", order: "region", limit: 1, want: "GPUs do not compute the filter on groups, the first term of the order, or a column that may fail", all: true},
		{by: "region", agg: "sum(price::decimal(38,2)) as n", order: "n", limit: 1, want: "the first 1 by the first term of the order"},
		{by: "region", agg: "count(*) as n|var_samp(quantity) as v", order: "v", limit: 1, want: "GPUs do not compute var_samp(quantity) of groups", all: true},
		{by: "region", agg: "count(*) as n", having: "n * 9223372036854775807 > 3", want: "those that pass the filter on groups"},
		{by: "region", agg: "count(*) as n|n * 2 as m", order: "-n", limit: 1, want: "the first 1 by the first term of the order"},
	} {
		q := grouped(c.by, strings.Split(c.agg, "|")...)
		if q.Having, q.Limit, q.Offset = c.having, c.limit, c.offset; c.order != "" {
			q.OrderBy = []string{c.order}
		}
		if strings.Contains(c.agg, "n * 2") {
			q.Aggs = []query.Agg{{Text: "count(*) as n"}, {Text: "count(*) * 2 as m"}}
		}
		p := planning(t, orders, q, Options{Device: spec(t, "gpu"), DevicePresent: true})
		s, says := p.selection(p.DeviceStates())
		if all := s == nil; all != c.all || says != c.want {
			t.Errorf("%+v: all leave: %t, %q", c, all, says)
		}
		if s != nil && (s.Best != uint64(c.limit+c.offset) || len(s.Values) == 0 && len(s.Steps) > 0 || s.Count.Mask == 0) {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}
