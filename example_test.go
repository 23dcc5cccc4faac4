package gagg_test

import (
	"context"
	"fmt"
	"log"
	"strings"

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

// Subtotals: by region and quantity, by region, and of everything.
func ExampleQuery_sets() {
	show(gagg.Query{
		From:    gagg.Files("testdata/orders.parquet"),
		By:      []string{"region", "quantity"},
		Sets:    gagg.Rollup,
		Aggs:    []gagg.Agg{gagg.CountAll().As("n"), gagg.Expr("grouping(region, quantity) as left_out")},
		Where:   "quantity < 3 and region < 'B'",
		OrderBy: []string{"region", "left_out", "quantity"},
	})
	// Output:
	// Africa 1 375 0
	// Africa 2 355 0
	// Africa (null) 730 1
	// Americas 1 369 0
	// Americas 2 373 0
	// Americas (null) 742 1
	// Asia 1 396 0
	// Asia 2 370 0
	// Asia (null) 766 1
	// (null) (null) 2238 3
}

// A column for each quantity.
func ExampleQuery_pivot() {
	show(gagg.Query{
		From:  gagg.Files("testdata/orders.parquet"),
		By:    []string{"region", "quantity"},
		Aggs:  []gagg.Agg{gagg.CountAll()},
		Where: "quantity < 4",
		Pivot: "quantity",
		Limit: 2,
	})
	// Output:
	// Africa 375 355 323
	// Americas 369 373 308
}

// show prints the rows of a query.
func show(q gagg.Query) {
	rows, err := gagg.Run(context.Background(), q, gagg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Release()
	for rows.Next() {
		for i := range int(rows.Record().NumRows()) {
			var cells []string
			for _, column := range rows.Record().Columns() {
				cells = append(cells, column.ValueStr(i))
			}
			fmt.Println(strings.Join(cells, " "))
		}
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
}

// A profile of the columns: here their names, how many values they have, and the most frequent one.
func ExampleSummarize() {
	rows, err := gagg.Summarize(context.Background(), gagg.Query{From: gagg.Files("testdata/orders.parquet")}, gagg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Release()
	for rows.Next() {
		rec := rows.Record()
		for i := range int(rec.NumRows()) {
			fmt.Println(rec.Column(0).ValueStr(i), rec.Column(2).ValueStr(i), rec.Column(12).ValueStr(i))
		}
	}
	// Output:
	// region 12000 Oceania
	// customer 12000 C0001
	// product 12000 saw
	// quantity 12000 1
	// price 12000 19.78
	// ordered_at 12000 2024-01-01 00:02:18
	// discount 2953 0.05
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

// States as values: of two shares of an input, which other processes might make, and merged.
func ExampleMerge() {
	var states []gagg.Source
	for i := range 2 {
		part, err := gagg.Run(context.Background(), gagg.Query{
			From:    gagg.Files("testdata/orders.parquet"),
			By:      []string{"region"},
			Aggs:    []gagg.Agg{gagg.CountAll().As("orders"), gagg.CountDistinct("customer").As("customers"), gagg.Median("price")},
			Part:    gagg.Part{Number: i + 1, Of: 2},
			Partial: true,
		}, gagg.Options{})
		if err != nil {
			log.Fatal(err)
		}
		defer part.Release()
		states = append(states, gagg.Records(part))
	}
	show(gagg.Query{From: gagg.Merge(states...), OrderBy: []string{"region"}, Limit: 2})
	// Output:
	// Africa 2366 655 21.29
	// Americas 2383 666 20.85
}
