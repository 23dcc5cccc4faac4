package gagg_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg"
)

// The revenue of each region, the best first.
func ExampleRun() {
	rows, err := gagg.Run(context.Background(), gagg.Query{
		From:    gagg.Files("testdata/orders.parquet"),
		By:      []string{"region"},
		Aggs:    []gagg.Agg{gagg.CountAll().As("orders"), gagg.Sum("quantity")},
		Where:   "quantity > 3",
		OrderBy: []string{"-orders"},
		Limit:   3,
	}, gagg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Release()
	for rows.Next() {
		rec := rows.Record()
		region, orders, quantity := rec.Column(0).(*array.String), rec.Column(1).(*array.Int64), rec.Column(2)
		for i := range int(rec.NumRows()) {
			fmt.Println(region.Value(i), orders.Value(i), quantity.ValueStr(i))
		}
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Oceania 1404 9148
	// Asia 1345 8743
	// Europe 1343 8912
}

// What a query would do, without doing it.
func ExamplePlan() {
	plan, err := gagg.Plan(context.Background(), gagg.Query{
		From: gagg.Files("testdata/orders.parquet"),
		By:   []string{"region", "product"},
		Aggs: []gagg.Agg{gagg.Mean("price")},
	}, gagg.Options{Threads: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range plan.Keys {
		fmt.Println(k.Key, k.Type, k.Interned)
	}
	fmt.Println(plan.KeyWords, "key words")
	// Output:
	// region string true
	// product string true
	// 1 key words
}
