package main

import "slices"

// others is questions of the kinds that ClickBench and TPC-H ask, about the same tables, which
// neither asks: what is fast for those alone shows here. Their answers do not depend on the order
// of rows.
var others = slices.Concat(named("h", "hits", map[int]clauses{
	1: {keys: []string{"date_trunc('hour', EventTime) as hour"}, aggs: []string{"count(*) as c", "count(distinct UserID) as u"}, order: "hour"},
	2: {
		keys:  []string{"extract(dow from EventTime) as day", "extract(hour from EventTime) as hour"},
		aggs:  []string{"count(*) as c", "sum(ResolutionWidth) as s"},
		order: "c desc", limit: 20,
	},
	3: {keys: []string{"strftime(EventTime, '%Y-%m-%d') as day"}, aggs: []string{"count(*) as c", "avg(ResolutionHeight) as h"}, order: "day"},
	4: {
		keys: []string{"monthname(EventTime) as month", "OS"}, aggs: []string{"count(distinct UserID) as u"},
		where: "EventTime >= timestamp '2013-07-10 00:00:00'", order: "u desc", limit: 10,
	},
	5:  {keys: []string{"lower(SearchPhrase) as phrase"}, aggs: []string{"count(*) as c"}, where: "SearchPhrase <> ''", order: "c desc", limit: 10},
	6:  {keys: []string{"substr(URL, 1, 20) as begin"}, aggs: []string{"count(*) as c", "max(EventTime) as t"}, order: "c desc", limit: 10},
	7:  {keys: []string{"split_part(URL, '/', 3) as host"}, aggs: []string{"count(*) as c", "count(distinct UserID) as u"}, order: "c desc", limit: 10},
	8:  {keys: []string{"strlen(URL) as length"}, aggs: []string{"count(*) as c"}, order: "length"},
	9:  {aggs: []string{"count(*) as c"}, where: "URL ilike '%GOOGLE%' or Title ilike '%google%'"},
	10: {keys: []string{"RegionID"}, aggs: []string{"count(*) as c"}, where: "regexp_matches(URL, 'goog.*[0-9]+')", order: "c desc", limit: 10},
	11: {keys: []string{"SearchPhrase || '-' || MobilePhoneModel as pair"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	12: {
		keys: []string{"case when ResolutionWidth > 1500 then 'wide' when ResolutionWidth > 1000 then 'middle' else 'small' end as width"},
		aggs: []string{"count(*) as c", "avg(ResolutionHeight) as h"}, order: "width",
	},
	13: {
		keys: []string{"RegionID"},
		aggs: []string{"count(*) filter (where OS = 1) as a", "sum(ResolutionWidth) filter (where IsRefresh = 1) as b", "max(UserAgent) as m"},
	},
	14: {keys: []string{"RegionID"}, aggs: []string{"count(distinct UserID) as u", "count(distinct URL) as v"}, order: "u desc", limit: 10},
	15: {aggs: []string{"count(distinct UserID) as u", "count(distinct URL) as v", "count(distinct WatchID) as w"}},
	16: {keys: []string{"RegionID"}, aggs: []string{"min(URL) as a", "max(Title) as b"}, order: "RegionID", limit: 100},
	17: {keys: []string{"UserID"}, aggs: []string{"max(EventTime) as latest", "min(EventTime) as earliest"}, having: "count(*) > 20"},
	18: {keys: []string{"UserID"}, aggs: []string{"count(distinct URL) as u"}, having: "count(distinct URL) > 50"},
	19: {keys: []string{"URL"}, aggs: []string{"count(*) as c", "max(EventTime) as t"}, order: "t desc, c desc", limit: 10},
	20: {keys: []string{"UserID", "URL"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	21: {
		keys: []string{"RegionID", "OS", "UserAgent", "MobilePhone", "SearchEngineID", "IsRefresh"},
		aggs: []string{"count(*) as c"}, order: "c desc", limit: 100,
	},
	22: {keys: []string{"RegionID"}, aggs: []string{"median(ResolutionWidth) as m", "quantile_cont(ResolutionWidth, 0.95) as q"}},
	23: {keys: []string{"UserID"}, aggs: []string{"stddev(ResolutionWidth) as d", "count(*) as c"}, order: "c desc", limit: 10},
	24: {keys: []string{"RegionID"}, aggs: []string{"entropy(OS) as e"}, order: "e desc", limit: 10},
	25: {keys: []string{"RegionID"}, aggs: []string{"entropy(UserID) as e"}, order: "e desc", limit: 10},
	26: {
		keys: []string{"CounterID"}, aggs: []string{"sum(ResolutionWidth + ResolutionHeight) as size", "count(*) as c"},
		where: "OS in (1, 2, 3, 44) and ResolutionWidth between 1000 and 1400", order: "size desc", limit: 10,
	},
	27: {keys: []string{"Title"}, aggs: []string{"count(*) as c"}, where: "Title <> ''", order: "c desc", limit: 10},
	28: {keys: []string{"EventDate"}, aggs: []string{"count(distinct SearchPhrase) as p", "count(*) as c"}, order: "EventDate"},
}, 28), named("l", "lineitem", map[int]clauses{
	1: {keys: []string{"l_suppkey", "l_partkey"}, aggs: []string{"sum(l_quantity) as q"}, order: "q desc", limit: 10},
	2: {keys: []string{"date_trunc('month', l_shipdate) as month", "l_shipmode"}, aggs: []string{revenue + " as r", "count(distinct l_suppkey) as s"}},
	3: {keys: []string{"l_receiptdate - l_shipdate as days"}, aggs: []string{"count(*) as c", "avg(l_quantity) as q"}, order: "days"},
	4: {keys: []string{"l_shipinstruct"}, aggs: []string{"count(*) as c", "min(l_comment) as m"}, where: "l_comment like '%special%'"},
	5: {keys: []string{"l_comment"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 5},
	6: {keys: []string{"l_returnflag"}, aggs: []string{"median(l_extendedprice) as m"}},
	7: {
		keys: []string{"l_orderkey"}, aggs: []string{"max(l_shipdate) as m", "min(l_commitdate) as n", "sum(l_extendedprice * l_tax) as t"},
		having: "count(*) > 6",
	},
	8: {
		keys: []string{"year(l_shipdate) as y", "l_returnflag"}, aggs: []string{revenue + " as r", "avg(l_discount) as d"},
		where: "l_quantity < 30 and l_shipmode <> 'AIR'", order: "y, l_returnflag",
	},
	9: {keys: []string{"l_suppkey"}, aggs: []string{"count(distinct l_partkey) as p", "sum(l_quantity) as q"}, order: "p desc", limit: 10},
}, 9))
