package exec

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/plan"
)

// Memory that a sorter takes beyond its share is not taken from other owners.
func TestSortMemory(t *testing.T) {
	r := &run{prepared: &prepared{
		budget: budget.New(budget.Memory, 1000),
		plan:   &plan.Plan{Threads: 2, Memory: plan.Memory{Limit: 1000, Merge: 100, Output: 100, Sort: 150}},
	}}
	sorter := &sorterMemory{run: r} // 600 are for merging, putting out and sorting
	for _, c := range []struct {
		others, bytes int64
		granted       bool
	}{
		{900, 100, true},  // the share
		{0, 60, false},    // beyond it, and others have all else
		{-550, 51, false}, // one byte beyond it
		{0, 50, true},     // the share again
		{-350, 250, true}, // beyond it, where no other owner is
		{0, 1, false},
		{0, -400, true},
		{0, 150, true},
	} {
		if err := draw(r.budget, c.others); err != nil {
			t.Fatal(err)
		}
		if err := draw(sorter, c.bytes); (err == nil) != c.granted || err != nil && !errors.Is(Classify(err), ErrBudget) {
			t.Errorf("others %+d, %+d: %v", c.others, c.bytes, err)
		}
	}
}

// draw draws bytes, or releases them if negative.
func draw(from budget.Lender, bytes int64) error {
	if bytes < 0 {
		from.Release(-bytes)
		return nil
	}
	return from.Draw(bytes)
}
