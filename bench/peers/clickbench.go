package main

import (
	"fmt"
	"strings"
)

// named gives a table's questions their names.
func named(prefix, table string, questions map[int]clauses, last int) []question {
	var out []question
	for i := range last + 1 {
		if c, ok := questions[i]; ok {
			out = append(out, question{name: fmt.Sprint(prefix, i), data: table, real: &c})
		}
	}
	return out
}

// of62 is the conditions that questions 37 to 42 of ClickBench begin with.
const of62 = "CounterID = 62 and EventDate >= '2013-07-01' and EventDate <= '2013-07-31' and IsRefresh = 0"

// clickbench is the questions of ClickBench that are an aggregation, by their
// numbers from 1 on. 20 and 24 to 27 select rows.
var clickbench = named("c", "hits", map[int]clauses{
	1: {aggs: []string{"count(*) as c"}},
	2: {aggs: []string{"count(*) as c"}, where: "AdvEngineID <> 0"},
	3: {aggs: []string{"sum(AdvEngineID) as s", "count(*) as c", "avg(ResolutionWidth) as w"}},
	4: {aggs: []string{"avg(UserID) as u"}},
	5: {aggs: []string{"count(distinct UserID) as u"}},
	6: {aggs: []string{"count(distinct SearchPhrase) as p"}},
	7: {aggs: []string{"min(EventDate) as low", "max(EventDate) as high"}},
	8: {keys: []string{"AdvEngineID"}, aggs: []string{"count(*) as c"}, where: "AdvEngineID <> 0", order: "c desc"},
	9: {keys: []string{"RegionID"}, aggs: []string{"count(distinct UserID) as u"}, order: "u desc", limit: 10},
	10: {
		keys:  []string{"RegionID"},
		aggs:  []string{"sum(AdvEngineID) as s", "count(*) as c", "avg(ResolutionWidth) as w", "count(distinct UserID) as u"},
		order: "c desc", limit: 10,
	},
	11: {keys: []string{"MobilePhoneModel"}, aggs: []string{"count(distinct UserID) as u"}, where: "MobilePhoneModel <> ''", order: "u desc", limit: 10},
	12: {
		keys: []string{"MobilePhone", "MobilePhoneModel"}, aggs: []string{"count(distinct UserID) as u"},
		where: "MobilePhoneModel <> ''", order: "u desc", limit: 10,
	},
	13: {keys: []string{"SearchPhrase"}, aggs: []string{"count(*) as c"}, where: "SearchPhrase <> ''", order: "c desc", limit: 10},
	14: {keys: []string{"SearchPhrase"}, aggs: []string{"count(distinct UserID) as u"}, where: "SearchPhrase <> ''", order: "u desc", limit: 10},
	15: {keys: []string{"SearchEngineID", "SearchPhrase"}, aggs: []string{"count(*) as c"}, where: "SearchPhrase <> ''", order: "c desc", limit: 10},
	16: {keys: []string{"UserID"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	17: {keys: []string{"UserID", "SearchPhrase"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	18: {keys: []string{"UserID", "SearchPhrase"}, aggs: []string{"count(*) as c"}, limit: 10},
	19: {
		keys: []string{"UserID", "extract(minute from EventTime) as m", "SearchPhrase"}, aggs: []string{"count(*) as c"},
		order: "c desc", limit: 10,
	},
	21: {aggs: []string{"count(*) as c"}, where: "URL like '%google%'"},
	22: {
		keys: []string{"SearchPhrase"}, aggs: []string{"min(URL) as url", "count(*) as c"},
		where: "URL like '%google%' and SearchPhrase <> ''", order: "c desc", limit: 10,
	},
	23: {
		keys: []string{"SearchPhrase"}, aggs: []string{"min(URL) as url", "min(Title) as t", "count(*) as c", "count(distinct UserID) as u"},
		where: "Title like '%Google%' and URL not like '%.google.%' and SearchPhrase <> ''", order: "c desc", limit: 10,
	},
	28: {
		keys: []string{"CounterID"}, aggs: []string{"avg(strlen(URL)) as l", "count(*) as c"},
		where: "URL <> ''", having: "count(*) > 100000", order: "l desc", limit: 25,
	},
	29: {
		keys:  []string{`regexp_replace(Referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') as k`},
		aggs:  []string{"avg(strlen(Referer)) as l", "count(*) as c", "min(Referer) as r"},
		where: "Referer <> ''", having: "count(*) > 100000", order: "l desc", limit: 25,
	},
	30: {aggs: ninetySums()},
	31: {
		keys: []string{"SearchEngineID", "ClientIP"}, aggs: []string{"count(*) as c", "sum(IsRefresh) as s", "avg(ResolutionWidth) as w"},
		where: "SearchPhrase <> ''", order: "c desc", limit: 10,
	},
	32: {
		keys: []string{"WatchID", "ClientIP"}, aggs: []string{"count(*) as c", "sum(IsRefresh) as s", "avg(ResolutionWidth) as w"},
		where: "SearchPhrase <> ''", order: "c desc", limit: 10,
	},
	33: {
		keys: []string{"WatchID", "ClientIP"}, aggs: []string{"count(*) as c", "sum(IsRefresh) as s", "avg(ResolutionWidth) as w"},
		order: "c desc", limit: 10,
	},
	34: {keys: []string{"URL"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	35: {keys: []string{"1 as one", "URL"}, aggs: []string{"count(*) as c"}, order: "c desc", limit: 10},
	36: {
		keys: []string{"ClientIP", "ClientIP - 1 as ip1", "ClientIP - 2 as ip2", "ClientIP - 3 as ip3"}, aggs: []string{"count(*) as c"},
		order: "c desc", limit: 10,
	},
	37: {keys: []string{"URL"}, aggs: []string{"count(*) as v"}, where: of62 + " and DontCountHits = 0 and URL <> ''", order: "v desc", limit: 10},
	38: {keys: []string{"Title"}, aggs: []string{"count(*) as v"}, where: of62 + " and DontCountHits = 0 and Title <> ''", order: "v desc", limit: 10},
	39: {
		keys: []string{"URL"}, aggs: []string{"count(*) as v"},
		where: of62 + " and IsLink <> 0 and IsDownload = 0", order: "v desc", limit: 10, offset: 1000,
	},
	40: {
		keys: []string{
			"TraficSourceID", "SearchEngineID", "AdvEngineID",
			"case when SearchEngineID = 0 and AdvEngineID = 0 then Referer else '' end as Src", "URL as Dst",
		},
		aggs: []string{"count(*) as v"}, where: of62, order: "v desc", limit: 10, offset: 1000,
	},
	41: {
		keys: []string{"URLHash", "EventDate"}, aggs: []string{"count(*) as v"},
		where: of62 + " and TraficSourceID in (-1, 6) and RefererHash = 3594120000172545465",
		order: "v desc", limit: 10, offset: 100,
	},
	42: {
		keys: []string{"WindowClientWidth", "WindowClientHeight"}, aggs: []string{"count(*) as v"},
		where: of62 + " and DontCountHits = 0 and URLHash = 2868770270353813622",
		order: "v desc", limit: 10, offset: 10000,
	},
	43: {
		keys: []string{"date_trunc('minute', EventTime) as m"}, aggs: []string{"count(*) as v"},
		where: strings.NewReplacer("07-01", "07-14", "07-31", "07-15").Replace(of62) + " and DontCountHits = 0",
		order: "m", limit: 10, offset: 1000,
	},
}, 43)

// ninetySums is the aggregates of question 30.
func ninetySums() []string {
	sums := []string{"sum(ResolutionWidth) as s0"}
	for i := 1; i < 90; i++ {
		sums = append(sums, fmt.Sprintf("sum(ResolutionWidth + %d) as s%d", i, i))
	}
	return sums
}
