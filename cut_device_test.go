package gagg_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// cutRows is rows of texts that parts are taken of: with separators, blanks, characters of one to
// four bytes, and bytes that are none.
func cutRows(rows int) (out []longRow) {
	rng := rand.New(rand.NewPCG(36, 1))
	pieces := []string{
		"http://", "/", "/", "//", ".", "a", "bc", "example", "12345678", "ascii of many bytes", "é", "ß", "日本", "😀", " ", " ", "\u00a0",
		"\u2003", "\u202f", "\u205f", "\u3000", "\u1680", "\xff", "\xc2", "\xe2\x80", "\xf0\x9f\x98", "\xed\xa0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80",
	}
	for i := range rows {
		var b strings.Builder
		for range rng.IntN(8) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		if i%3 == 0 {
			fmt.Fprintf(&b, "/%d", i%5000)
		}
		row, text := longRow{N: int64(i%7) - 3}, b.String()
		if i%13 > 0 {
			row.Text, row.Plain = &text, &text
		}
		out = append(out, row)
	}
	return out
}

// Devices take parts out of texts, as keys, as distinct values, and in conditions, to the byte as
// the CPU does.
func TestDeviceCuts(t *testing.T) {
	gputest.Need(t, 1)
	const rows = 12_000
	from := longFile(t, cutRows(rows), rows/2, parquet.Compression(&parquet.Snappy))
	rng := rand.New(rand.NewPCG(36, 2))
	number := func() int { return rng.IntN(15) - 6 }
	var random func(of string, deep int) string
	random = func(of string, deep int) string {
		separator := []string{"/", "//", ".", "a", "://", "", "日", "\xff"}[rng.IntN(8)]
		part := []string{
			fmt.Sprintf("substr(%s, %d, %d)", of, number(), number()), fmt.Sprintf("substr(%s, %d)", of, number()),
			fmt.Sprintf("left(%s, %d)", of, number()), fmt.Sprintf("right(%s, %d)", of, number()),
			fmt.Sprintf("split_part(%s, '%s', %d)", of, separator, number()/2), fmt.Sprintf("%strim(%s)", []string{"", "l", "r"}[rng.IntN(3)], of),
		}[rng.IntN(6)]
		if deep > 0 {
			return random(part, deep-1)
		}
		return part
	}
	type question struct {
		by, aggs, where string // lists, by ; and |
		order           string
		limit           int64
		divided         bool // a key is made of parts
	}
	questions := []question{
		{by: "split_part(plain, '/', 3)", aggs: "count(*) as c|count(distinct n)", order: "c desc|split_part(plain, '/', 3)", limit: 10},
		{by: "substr(text, 1, 20)", aggs: "count(*)|max(n)|min(plain)"},
		{by: "n", aggs: "count(distinct left(plain, 3))|sum(n)"},
		{by: "right(text, 30);trim(plain)", aggs: "count(*)", where: "substr(plain, 2, 1) <> '/' and strlen(trim(text)) > 3"},
		{by: "n", aggs: "count(*)|sum(strlen(split_part(plain, '/', -1)))", where: "split_part(text, '/', 2) like '%a%c%' or left(plain, 4) = 'http'"},
		{by: "left(plain, 20)", aggs: "count(*)|sum(n)", limit: 10},
		{by: "n;length(text)", aggs: "avg(length(plain))|max(length(trim(plain)))", where: "length(split_part(text, '/', 1)) < 7"},
		{by: "substr(plain, 9223372036854775807, 9223372036854775807);left(text, -9223372036854775807)", aggs: "count(*)"},
		{by: "split_part(plain, '/', 9223372036854775807);right(plain, 9223372036854775807)", aggs: "count(*)"},
	}
	questions = append(questions,
		question{by: "upper(split_part(plain, '/', 3)) || '!'", aggs: "count(*)|sum(n)", divided: true},
		question{by: "case when n > 1 then left(text, 2) else trim(plain) end", aggs: "count(*)", divided: true})
	for range 6 {
		questions = append(questions,
			question{by: random([]string{"text", "plain"}[rng.IntN(2)], rng.IntN(3)), aggs: "count(*)|sum(n)"},
			question{by: "n", aggs: "count(*)", where: random("plain", rng.IntN(2)) + " like 'a%' or strlen(" + random("text", 0) + ") = 3"})
	}
	for _, x := range questions {
		q := gagg.Query{
			From: from, By: items(x.by, ";"), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, OrderBy: items(x.order, "|"), Limit: x.limit,
		}
		want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
		o := gagg.Options{Device: "gpu", Threads: 1}
		plan, err := gagg.Plan(t.Context(), q, o)
		if err != nil || plan.GPU == nil || strings.Contains(plan.GPU.Regroups, "what it can compute") != x.divided {
			t.Errorf("%+v: %v; %v", x, plan, err)
		}
		got, s, err := answerStats(t, q, o)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q; %v", x, got, want, err)
		}
		if e := s.Encoded; e.Rows != rows || e.Declined != 0 {
			t.Errorf("%+v: of devices %+v, fallbacks %v", x, e, s.Fallbacks)
		}
	}
}
