package feedback_test

import (
	"fmt"

	"github.com/gagg-dev/gagg/feedback"
)

// A partition of 3000 rows goes into a table with room for 1000 groups. Every second row is a new
// group: the table is full before all rows are loaded, and what is left goes elsewhere.
func ExampleLoadConfig_Of() {
	load, groups, left := feedback.DefaultLoadConfig.Of(1000), int64(0), int64(3000)
	for left > 0 && !load.Full(groups) {
		rows := min(load.NextLoad(groups), left)
		groups, left = groups+rows/2, left-rows
		fmt.Printf("%d rows: %d groups, %d rows left\n", rows, groups, left)
	}
	// Output:
	// 750 rows: 375 groups, 2250 rows left
	// 375 rows: 562 groups, 1875 rows left
}

// Blocks of a device that sent on 95 of 100 rows have combined next to nothing: the next tiles go
// row by row.
func ExamplePreaggregateConfig_DecidePreaggregate() {
	c := feedback.DefaultPreaggregateConfig
	fmt.Println(c.DecidePreaggregate(100, 95) == feedback.SendRows, c.DecidePreaggregate(100, 40) == feedback.PreaggregateRows)
	// Output: true true
}
