package feedback

import (
	"errors"
	"fmt"
)

// LoadConfig holds the thresholds of Load, as shares of the capacity of a
// table.
type LoadConfig struct {
	// Full is the load at which a table counts as full, alpha in paper 003:
	// the least that must be used before the rest goes elsewhere.
	Full float64
	// Max is the load that is never exceeded, beta in paper 003.
	//
	// Between the two lies what is reserved, so that each load is large: from
	// a table that is not full Max - Full of its capacity can still be
	// filled.
	Max float64
}

// DefaultLoadConfig loads at least a quarter of the capacity at a time. By Knuth's formula for
// linear probing a new key looks at (1+1/(1-load)²)/2 slots: 2.5 at half load, 8.5 at three
// quarters, 13 at four fifths. At 0.25 and at 0.75 in place of Full the first pass, whose table is
// planned alike, took 2 to 5 % longer (docs/experiments/0014). Max bounds what a wrong estimate may
// cost: between 0.75 and 0.8 a look-up is half as long again.
var DefaultLoadConfig = LoadConfig{Full: 0.5, Max: 0.75}

// Validate reports every problem: the thresholds must rise from 0 to 1.
func (c LoadConfig) Validate() error {
	var errs []error
	if !(c.Full >= 0) {
		errs = append(errs, fmt.Errorf("feedback: the load %v at which a table counts as full is below 0", c.Full))
	}
	if !(c.Max <= 1) {
		errs = append(errs, fmt.Errorf("feedback: the largest load %v of a table is above 1", c.Max))
	}
	if !(c.Full < c.Max) {
		errs = append(errs, fmt.Errorf("feedback: the largest load %v of a table is not above the load %v at which it counts as full",
			c.Max, c.Full))
	}
	return errors.Join(errs...)
}

// Load says how the rows of a partition are loaded into a table of a fixed
// capacity, when nobody knows whether the groups they make fit (paper 003, §4.2.2):
//
//	for rows are left and not Full(groups):
//		load NextLoad(groups) rows, or as many as are left
//		groups = how many the table then has
//
// Two things hold whatever the rows are. LOAD-MAX: the table never has more
// groups than Max of its capacity, even if every row is a new group. LOAD-MIN:
// each load but the last has at least Least rows, so that there are at most
// rows/Least + 1 loads. What is left when the table is full takes another
// way: the table's groups stay, the rest is aggregated elsewhere and combined
// with them, or the partition is divided.
type Load struct {
	full, most int64 // in groups
}

// Of returns the thresholds for a table with room for capacity groups. c is
// valid. A table with any room at all is not full while it is empty, and
// takes at least one row at a time.
func (c LoadConfig) Of(capacity int64) Load {
	if capacity <= 0 {
		return Load{full: -1}
	}
	most := max(int64(c.Max*float64(capacity)), 1)
	return Load{full: min(int64(c.Full*float64(capacity)), most-1), most: most}
}

// Full reports whether a table with so many groups counts as full.
func (l Load) Full(groups int64) bool { return groups > l.full }

// NextLoad is how many rows may be loaded next into a table with so many
// groups: at least Least until the table is full, none from then on.
func (l Load) NextLoad(groups int64) int64 {
	if l.Full(groups) {
		return 0
	}
	return l.most - groups
}

// Least is the smallest load: (Max - Full) of the capacity, in whole groups.
func (l Load) Least() int64 { return l.most - max(l.full, 0) }
