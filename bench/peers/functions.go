package main

import "slices"

// functions is questions whose keys and arguments are computed by a function of texts, numbers or
// times, value by value: patterns, casts to and from texts, NULLs, and lists of different values.
var functions = slices.Concat(named("f", "commits", map[int]clauses{
	1:  {keys: []string{"regexp_extract(message, '([0-9]{2,4})', 1) as n"}, aggs: []string{"count(*) as c"}, order: "c desc, n", limit: 10},
	2:  {keys: []string{"regexp_replace(substr(message, 1, 40), '[0-9]+', '#', 'g') as m"}, aggs: []string{"count(*) as c"}, order: "c desc, m", limit: 10},
	3:  {keys: []string{"regexp_extract(author, '@([a-z]+)\\.(com|org)', 1) as d"}, aggs: []string{"count(*) as c", "count(distinct repo) as r"}},
	4:  {aggs: []string{"count(*) as c", "max(length(message)) as l"}, where: "regexp_matches(message, '(fix|bug)[a-z]* [0-9]+')"},
	5:  {keys: []string{"regexp_replace(repo, '[0-9]+', '#') as r"}, aggs: []string{"count(*) as c", "sum(additions) as a"}},
	6:  {keys: []string{"coalesce(language, 'none') as l"}, aggs: []string{"count(*) as c", "avg(additions) as a"}},
	7:  {keys: []string{"case when language is null then 'none' when language in ('Go', 'Rust') then 'systems' else 'other' end as kind"}, aggs: []string{"count(*) as c", "max(seen) as latest"}},
	8:  {keys: []string{"nullif(files, 1) as f"}, aggs: []string{"count(*) as c"}},
	9:  {keys: []string{"concat(language, '/', merge) as k"}, aggs: []string{"count(*) as c"}},
	10: {keys: []string{"concat_ws('-', language, files) as k"}, aggs: []string{"count(*) as c"}, order: "c desc, k", limit: 10},
	11: {keys: []string{"cast(seen as varchar) as s"}, aggs: []string{"count(*) as c"}, order: "c desc, s", limit: 10},
	12: {keys: []string{"cast(cast(seen as date) as varchar) as s"}, aggs: []string{"count(*) as c"}},
	13: {keys: []string{"try_cast(left(message, 3) as integer) as n"}, aggs: []string{"count(*) as c"}},
	14: {keys: []string{"strptime(strftime(seen, '%Y-%m-%d'), '%Y-%m-%d') as d"}, aggs: []string{"count(*) as c"}},
	15: {keys: []string{"split_part(message, ' ', 2) as w"}, aggs: []string{"count(*) as c"}, order: "c desc, w", limit: 10},
	16: {keys: []string{"reverse(repo) as r"}, aggs: []string{"count(*) as c"}, order: "c desc, r", limit: 10},
	17: {keys: []string{"language"}, aggs: []string{"count(distinct repo) as r", "approx_quantile(additions, 0.9) as q", "mode(files) as f"}},
	18: {keys: []string{"strftime(seen, '%Y-%m-%d %a') as d"}, aggs: []string{"count(*) as c"}},
}, 18), named("f", "payments", map[int]clauses{
	21: {keys: []string{"cast(amount as varchar) as a"}, aggs: []string{"count(*) as c"}, order: "c desc, a", limit: 10},
	22: {keys: []string{"substr(cast(id as varchar), 1, 2) as i"}, aggs: []string{"count(*) as c", "sum(amount) as s"}},
	23: {keys: []string{"round(amount * rate, 2) as a"}, aggs: []string{"count(*) as c"}, order: "c desc, a", limit: 10},
	24: {keys: []string{"cast(cast(amount as varchar) as double) as a"}, aggs: []string{"count(*) as c"}, order: "c desc, a", limit: 10},
	25: {keys: []string{"date_diff('hour', cast(booked as timestamp), created) as gap"}, aggs: []string{"count(*) as c"}, order: "c desc, gap", limit: 10},
	26: {keys: []string{"coalesce(note, '-') as n"}, aggs: []string{"count(*) as c"}, order: "c desc, n", limit: 10},
	27: {keys: []string{"account % 100 as bucket"}, aggs: []string{"approx_quantile(amount, 0.5) as q", "mode(amount) as m"}},
	28: {keys: []string{"merchant"}, aggs: []string{"bool_or(refunded) as r", "sum(coalesce(fee, 0)) as f"}, order: "f desc, merchant", limit: 10},
}, 28))
