package gagg_test

import (
	"slices"
	"strings"
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
		{aggs: []string{"count(*)"}, where: "plain like '%o_g/1%' or plain ilike '%O_G/2%'"}, // by entries
		{aggs: []string{"count(*)"}, where: "plain ilike '%ORG/2%X' or text not ilike 'http%'"},
		{by: []string{"lower(plain) = 'http://example.org/5/aax'", "n"}, aggs: []string{"count(*)"}, where: "contains(lower(text), '/5') or n > 0"},
		{aggs: []string{"count(*)"}, where: "lower(plain) like '%ORG%' or lower(left(text, 20)) = 'http://example.org/7'"},
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

// Conditions without regard to case are answered on devices too, of letters of ASCII and others. Of
// the letters that become ASCII the CPU answers for the row group.
func TestDeviceMatchesFolded(t *testing.T) {
	gputest.Need(t, 1)
	rows := cutRows(6000)
	for i := range rows {
		if text := rows[i].Text; text != nil {
			*text = strings.ToUpper((*text)[:len(*text)/2]) + (*text)[len(*text)/2:]
			if i >= 3000 && i%100 == 1 {
				*text += "\u212a\u0130"
			}
		}
	}
	from := longFile(t, rows, 3000, parquet.Compression(&parquet.Snappy))
	for _, x := range []struct {
		where    string
		declined bool
	}{
		{"plain ilike '%example%' or text ilike 'AB%'", false},
		{"plain ilike '%BCaSC%' and lower(text) <> ''", false},
		{"plain ilike 'é%'", false}, // by entries
		{"plain ilike '%ki%'", true},
		{"lower(text) like '%i'", true},
		{"lower(plain) <> 'k'", true},
	} {
		q := gagg.Query{From: from, By: []string{"n"}, Aggs: exprs("count(*)"), Where: x.where}
		want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
		got, s, err := answerStats(t, q, gagg.Options{Device: "gpu", Threads: 1})
		if err != nil || !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%+v: %q, want %q; %v", x, got, want, err)
		}
		if (s.Encoded.Declined > 0) != x.declined {
			t.Errorf("%+v: of devices %+v, fallbacks %v", x, s.Encoded, s.Fallbacks)
		}
	}
}
