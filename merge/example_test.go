package merge_test

import (
	"fmt"

	"github.com/gagg-dev/gagg/merge"
)

// Eight partitions, and room for 100 at a time: buddies are put together while they fit.
func ExampleBuddies() {
	for _, r := range merge.Buddies([]int64{10, 20, 30, 40, 90, 5, 60, 50}, 100) {
		fmt.Println(r)
	}
	// Output:
	// partitions 0 to 3
	// partitions 4 to 5
	// partition 6
	// partition 7
}
