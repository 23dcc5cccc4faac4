package main

// revenue is what several questions of TPC-H add up.
const revenue = "sum(l_extendedprice * (1 - l_discount))"

// tpch is the aggregations of lineitem in TPC-H by the numbers of its queries,
// with the validation values of the specification: 1 and 6 as they are, of the
// others what they group of this table alone.
var tpch = named("t", "lineitem", map[int]clauses{
	1: {
		keys: []string{"l_returnflag", "l_linestatus"},
		aggs: []string{
			"sum(l_quantity) as sum_qty", "sum(l_extendedprice) as sum_base_price", revenue + " as sum_disc_price",
			"sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge", "avg(l_quantity) as avg_qty",
			"avg(l_extendedprice) as avg_price", "avg(l_discount) as avg_disc", "count(*) as count_order",
		},
		where: "l_shipdate <= date '1998-09-02'", order: "l_returnflag, l_linestatus",
	},
	3: {
		keys: []string{"l_orderkey"}, aggs: []string{revenue + " as revenue"},
		where: "l_shipdate > date '1995-03-15'", order: "revenue desc", limit: 10,
	},
	6: {
		aggs: []string{"sum(l_extendedprice * l_discount) as revenue"},
		where: "l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' " +
			"and l_discount between 0.05 and 0.07 and l_quantity < 24",
	},
	12: {
		keys: []string{"l_shipmode"}, aggs: []string{"count(*) as line_count"},
		where: "l_shipmode in ('MAIL', 'SHIP') and l_commitdate < l_receiptdate and l_shipdate < l_commitdate " +
			"and l_receiptdate >= date '1994-01-01' and l_receiptdate < date '1995-01-01'",
		order: "l_shipmode",
	},
	15: {
		keys: []string{"l_suppkey"}, aggs: []string{revenue + " as total_revenue"},
		where: "l_shipdate >= date '1996-01-01' and l_shipdate < date '1996-04-01'",
	},
	17: {keys: []string{"l_partkey"}, aggs: []string{"avg(l_quantity) as quantity"}},
	18: {keys: []string{"l_orderkey"}, aggs: []string{"sum(l_quantity) as quantity"}, having: "sum(l_quantity) > 300"},
}, 18)
