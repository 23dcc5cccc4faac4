package main

// payments is questions about card payments: decimals, UUIDs, texts with NULLs, ZSTD.
var payments = named("p", "payments", map[int]clauses{
	1:  {keys: []string{"currency"}, aggs: []string{"count(*) as c", "sum(amount) as s", "avg(fee) as f", "max(amount) as m"}},
	2:  {keys: []string{"account"}, aggs: []string{"sum(amount * rate) as s", "count(*) as c"}, order: "s desc", limit: 20},
	3:  {keys: []string{"merchant"}, aggs: []string{"count(*) as c", "sum(amount) as s", "count(distinct account) as a"}, order: "s desc", limit: 20},
	4:  {keys: []string{"date_trunc('month', booked) as month", "status"}, aggs: []string{"count(*) as c", "sum(amount) as s"}},
	5:  {keys: []string{"booked", "currency"}, aggs: []string{"sum(amount - coalesce(fee, 0)) as net"}, where: "status in ('settled', 'pending') and not refunded"},
	6:  {keys: []string{"country", "category"}, aggs: []string{"avg(amount) as a", "stddev(amount::double) as s", "median(amount) as m"}},
	7:  {keys: []string{"account"}, aggs: []string{"max(created) as latest", "arg_max(merchant, created) as m"}, having: "count(*) > 3"},
	8:  {aggs: []string{"count(distinct id) as ids", "count(distinct account) as a", "count(note) as n"}},
	9:  {keys: []string{"account", "merchant"}, aggs: []string{"count(*) as c", "sum(amount) as s"}, order: "c desc, s desc", limit: 10},
	10: {keys: []string{"case when amount < 10 then 'small' when amount < 1000 then 'middle' else 'large' end as size"}, aggs: []string{"count(*) as c", "avg(fee / amount) as r"}, where: "amount > 0"},
	11: {keys: []string{"substr(note, 1, 8) as begin"}, aggs: []string{"count(*) as c", "max(length(note)) as l"}, order: "c desc", limit: 10},
	12: {keys: []string{"status"}, aggs: []string{"count(*) as c"}, where: "note like '%customer 42%'"},
	13: {keys: []string{"hour(created) as h", "country"}, aggs: []string{"count(*) as c", "sum(amount) filter (where refunded) as r", "bool_or(refunded) as anyof"}},
	14: {keys: []string{"category"}, aggs: []string{"count(distinct merchant) as m", "count(distinct country) as n", "min(merchant) as least"}},
	15: {keys: []string{"round(amount) as a"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	16: {keys: []string{"currency || '/' || country as pair"}, aggs: []string{"count(*) as c", "sum(amount) as s"}},
	17: {keys: []string{"merchant"}, aggs: []string{"count(*) as c"}, where: "merchant ilike '%gmbh%' and amount between 100 and 500", order: "c desc", limit: 10},
	18: {keys: []string{"datediff('day', booked, created::date) as days"}, aggs: []string{"count(*) as c", "sum(amount) as s"}},
	19: {keys: []string{"account % 100 as bucket"}, aggs: []string{"count(*) as c", "sum(fee) as f", "approx_count_distinct(account) as d"}},
	20: {keys: []string{"id"}, aggs: []string{"sum(amount) as s"}, order: "s desc", limit: 10},
}, 20)

// readings is questions about readings of sensors: doubles, and rows in the order of time, in data
// pages v2 with encodings of differences, ZSTD.
var readings = named("r", "readings", map[int]clauses{
	1:  {keys: []string{"sensor"}, aggs: []string{"avg(temperature) as t", "min(temperature) as a", "max(temperature) as b", "count(*) as c"}},
	2:  {keys: []string{"sensor", "date_trunc('hour', seen) as hour"}, aggs: []string{"avg(temperature) as t", "avg(pressure) as p"}},
	3:  {keys: []string{"site", "time_bucket(interval '5 minutes', seen) as t5"}, aggs: []string{"avg(humidity) as h", "max(pressure) as p"}},
	4:  {keys: []string{"sensor"}, aggs: []string{"arg_max(temperature, seen) as latest", "max(seen) as seen"}},
	5:  {keys: []string{"state"}, aggs: []string{"count(*) as c", "quantile_cont(pressure, 0.99) as q", "avg(battery) as b"}},
	6:  {keys: []string{"floor(temperature) as t"}, aggs: []string{"count(*) as c", "avg(humidity) as h"}},
	7:  {keys: []string{"firmware", "state"}, aggs: []string{"count(*) as c", "count(distinct sensor) as s"}},
	8:  {keys: []string{"site"}, aggs: []string{"corr(temperature, humidity) as c", "regr_slope(temperature, pressure) as s"}},
	9:  {aggs: []string{"count(*) as c", "avg(temperature) as t", "stddev(pressure) as s"}, where: "seen >= timestamp '2024-03-01 01:00:00' and seen < timestamp '2024-03-01 02:00:00'"},
	10: {keys: []string{"sensor"}, aggs: []string{"sum(case when temperature > 20 then 1 else 0 end) as hot", "avg(temperature * 1.8 + 32) as f"}, having: "count(*) > 10", order: "hot desc", limit: 50},
	11: {keys: []string{"cast(temperature as integer) as t", "state"}, aggs: []string{"count(*) as c"}},
	12: {keys: []string{"minute(seen) as m"}, aggs: []string{"count(*) as c", "avg(abs(pressure - 1000)) as d"}},
	13: {keys: []string{"sensor"}, aggs: []string{"median(pressure) as m", "mad(humidity) as d"}},
	14: {keys: []string{"battery"}, aggs: []string{"count(*) as c", "avg(temperature) as t"}, where: "temperature is not null and firmware like 'v1.%'"},
	15: {keys: []string{"sensor"}, aggs: []string{"max(seen) - min(seen) as span", "count(temperature) as n"}, order: "n", limit: 10},
	16: {keys: []string{"epoch(seen)::bigint // 60 as minute"}, aggs: []string{"count(*) as c", "avg(pressure) as p", "count(distinct site) as s"}},
	17: {keys: []string{"pressure"}, aggs: []string{"count(*) as c"}, order: "c desc, pressure", limit: 5},
	18: {keys: []string{"humidity"}, aggs: []string{"count(*) as c", "sum(battery) as b"}, order: "c desc", limit: 5},
	19: {keys: []string{"site"}, aggs: []string{"first(firmware) filter (where state = 0) as f", "mode(state) as m"}},
	20: {keys: []string{"round(pressure, 1) as p"}, aggs: []string{"count(*) as c", "max(temperature) as t"}, order: "c desc", limit: 10},
}, 20)

// commits is questions about commits: long texts that are nearly all different, and times in no
// order.
var commits = named("m", "commits", map[int]clauses{
	1:  {keys: []string{"author"}, aggs: []string{"count(*) as c", "sum(additions - deletions) as net"}, order: "c desc", limit: 20},
	2:  {keys: []string{"split_part(repo, '/', 1) as org"}, aggs: []string{"count(*) as c", "count(distinct author) as a"}, order: "c desc", limit: 20},
	3:  {keys: []string{"repo"}, aggs: []string{"count(*) as c", "count(distinct author) as a", "max(seen) as latest"}, order: "a desc", limit: 20},
	4:  {keys: []string{"language"}, aggs: []string{"count(*) as c", "avg(additions) as a", "median(files) as f"}},
	5:  {keys: []string{"year(seen) as y", "month(seen) as m", "language"}, aggs: []string{"count(*) as c", "sum(additions) as s"}},
	6:  {keys: []string{"regexp_extract(author, '@(.*)$', 1) as domain"}, aggs: []string{"count(*) as c"}, order: "c desc"},
	7:  {keys: []string{"message"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	8:  {keys: []string{"merge"}, aggs: []string{"count(*) as c", "avg(length(message)) as l", "max(files) as f"}},
	9:  {keys: []string{"author"}, aggs: []string{"min(seen) as a", "max(seen) as b", "count(*) as c"}, where: "not merge and language = 'Go'", order: "c desc", limit: 10},
	10: {keys: []string{"upper(language) as l"}, aggs: []string{"count(*) as c"}, where: "message like 'Fix%' or message like '%tests%'"},
	11: {keys: []string{"dayname(seen) as d", "hour(seen) as h"}, aggs: []string{"count(*) as c", "count(distinct author) as a"}},
	12: {keys: []string{"repo", "language"}, aggs: []string{"sum(additions) as a", "sum(deletions) as d"}, order: "a desc", limit: 10},
	13: {keys: []string{"additions"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	14: {aggs: []string{"count(distinct sha) as s", "count(distinct message) as m"}},
	15: {keys: []string{"author", "repo"}, aggs: []string{"count(*) as c", "sum(files) as f"}, having: "count(*) > 2", order: "c desc", limit: 10},
	16: {keys: []string{"length(message) as l"}, aggs: []string{"count(*) as c", "min(message) as m"}},
	17: {keys: []string{"language"}, aggs: []string{"quantile_cont(additions, 0.5) as a", "quantile_cont(additions, 0.99) as b", "stddev(deletions) as s"}},
	18: {keys: []string{"replace(repo, 'project-', '') as r"}, aggs: []string{"count(*) as c", "sum(files) as f"}, order: "c desc", limit: 10},
	19: {keys: []string{"substr(sha, 1, 2) as s"}, aggs: []string{"count(*) as c", "avg(files) as f"}},
	20: {keys: []string{"date_trunc('week', seen) as w"}, aggs: []string{"count(*) as c", "count(distinct repo) as r", "sum(additions + deletions) as churn"}},
}, 20)
