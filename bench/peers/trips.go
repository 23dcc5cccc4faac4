package main

// trips is questions about a table of another kind than hits and lineitem: taxi trips, with NULLs,
// doubles, and rows in the order of time. Their answers do not depend on the order of rows.
var trips = named("x", "trips", map[int]clauses{
	1: {keys: []string{"vendor"}, aggs: []string{"count(*) as c", "avg(fare) as f", "avg(tip) as t", "avg(distance) as d"}},
	2: {keys: []string{"passengers", "year(pickup) as y"}, aggs: []string{"count(*) as c", "sum(fare) as s"}},
	3: {keys: []string{"passengers", "year(pickup) as y", "round(distance) as d"}, aggs: []string{"count(*) as c"}, order: "y, c desc, passengers, d"},
	4: {keys: []string{"from_zone", "to_zone"}, aggs: []string{"count(*) as c", "avg(distance) as d", "avg(tip) as t"}, order: "c desc, from_zone, to_zone", limit: 20},
	5: {keys: []string{"from_zone"}, aggs: []string{"median(fare) as m", "quantile_cont(distance, 0.9) as q"}},
	6: {
		keys: []string{"date_trunc('day', pickup) as day"},
		aggs: []string{"count(*) as c", "sum(fare) as f", "sum(tip) as t", "count(distinct car) as cars"},
	},
	7: {keys: []string{"car"}, aggs: []string{"sum(fare) as s", "count(*) as c", "max(tip) as m"}, where: "tip > 0", order: "s desc, car", limit: 10},
	8: {keys: []string{"driver"}, aggs: []string{"count(*) as c", "sum(fare) as s"}, having: "count(*) > 60"},
	9: {keys: []string{"hour(pickup) as h"}, aggs: []string{"avg(distance) as d", "stddev(tip) as s", "corr(distance, tip) as r"}},
	10: {
		keys: []string{"extract(dow from pickup) as w", "hour(pickup) as h"}, aggs: []string{"count(*) as c", "avg(tip / distance) as r"},
		where: "distance > 1",
	},
	11: {keys: []string{"payment"}, aggs: []string{"entropy(from_zone) as e", "count(distinct to_zone) as d"}},
	12: {
		keys: []string{"stored", "payment"},
		aggs: []string{"min(pickup) as a", "max(dropoff) as b", "sum(tip) filter (where passengers > 2) as p"},
	},
	13: {keys: []string{"date_trunc('hour', pickup) as h", "vendor"}, aggs: []string{"count(*) as c", "sum(distance) as d"}},
	14: {keys: []string{"car"}, aggs: []string{"arg_max(fare, pickup) as f", "max(pickup) as p"}},
	15: {
		aggs:  []string{"count(*) as c", "sum(tip) as t", "avg(distance) as d", "count(distinct driver) as drivers"},
		where: "pickup between timestamp '2019-03-01 00:00:00' and timestamp '2019-06-01 00:00:00' and stored = 'N'",
	},
	16: {
		keys: []string{"case when distance < 2 then 'short' when distance < 10 then 'middle' else 'long' end as far"},
		aggs: []string{"count(*) as c", "avg(fare) as f"},
	},
	17: {keys: []string{"payment"}, aggs: []string{"entropy(from_zone) as e", "median(from_zone) as m", "sum(tip) as t"}},
	18: {keys: []string{"car", "from_zone"}, aggs: []string{"count(*) as c", "avg(temperature) as t"}, order: "c desc, car, from_zone", limit: 10},
	19: {keys: []string{"driver"}, aggs: []string{"count(distinct from_zone) as p", "sum(tip) as t"}, order: "p desc, driver", limit: 10},
	20: {keys: []string{"temperature"}, aggs: []string{"count(*) as c"}},
	21: {keys: []string{"distance"}, aggs: []string{"count(*) as c", "avg(fare) as f"}, order: "c desc, distance", limit: 10},
	22: {keys: []string{"dropoff - pickup as took"}, aggs: []string{"count(*) as c"}, order: "c desc, took", limit: 10},
	23: {keys: []string{"car"}, aggs: []string{"stddev(distance) as s", "var_pop(tip) as k"}},
	24: {keys: []string{"passengers", "payment", "vendor", "stored"}, aggs: []string{"sum(fare + tip) as s", "count(tip) as n"}},
}, 24)
