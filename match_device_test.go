package gagg_test

import (
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Conditions on texts are answered on devices, of pages of values and of dictionaries, as filters
// and as keys and arguments: the answers are the CPU's, NULLs and texts of any length included.
func TestDeviceMatches(t *testing.T) {
	gputest.Need(t, 1)
	const rows = 6000
	from := longFile(t, longRows(rows, 600, 700, 80), 600, parquet.Compression(&parquet.Snappy))
	for _, x := range []struct {
		by, aggs []string
		where    string
	}{
		{aggs: []string{"count(*)"}, where: "plain like '%org/1%'"},
		{aggs: []string{"count(*)", "sum(n)"}, where: "text like 'http://example.org/%aax'"},
		{aggs: []string{"count(*)"}, where: "text not like '%aa%' and plain <> ''"},
		{by: []string{"n"}, aggs: []string{"count(*)"}, where: "plain = '000000000000013' or text = '0000000000000014'"},
		{by: []string{"n"}, aggs: []string{"count(*)"}, where: "plain <> '000000000000013'"},
		{by: []string{"plain like '%/5%a%x'"}, aggs: []string{"count(*)", "min(n)"}},
		{by: []string{"text"}, aggs: []string{"count(*) filter (where starts_with(plain, 'http'))"}, where: "n > 0"},
		{by: []string{"n"}, aggs: []string{"sum(case when ends_with(text, 'y') or contains(plain, '00001') then n else 1 end)"}},
		{by: []string{"plain"}, aggs: []string{"count(*)"}, where: "contains(plain, '') and plain like '%%%7%%'"},
		{by: []string{"text"}, aggs: []string{"count(*)"}, where: "text like 'http%' and not ends_with(text, 'z')"},
		{by: []string{"n"}, aggs: []string{"count(*)"}, where: "text in ('000000000000013', '') and plain is not null"},
		{aggs: []string{"count(*)"}, where: "plain like '%o_g/1%' or plain ilike '%ORG/2%'"}, // by entries
	} {
		q := gagg.Query{From: from, By: x.by, Aggs: exprs(x.aggs...), Where: x.where}
		want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
		got, s, err := answerStats(t, q, gagg.Options{Device: "gpu", Threads: 1})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %d groups, want %d, or others; %v", x, len(got), len(want), err)
		}
		if e := s.Encoded; e.Rows != rows || e.Declined != 0 {
			t.Errorf("%+v: of devices %+v, fallbacks %v", x, e, s.Fallbacks)
		}
	}
}
