package gagg

import (
	"errors"
	"testing"
)

// Memory that is set aside counts against the limit like any other, but it is held, and the peak, only as far as it is made.
func TestBudgetAside(t *testing.T) {
	b := budget{limit: 1000}
	b.heldBack.Store(100)
	want := func(step string, used, held, peak int64) {
		t.Helper()
		if b.used.Load() != used || b.held.Load() != held || b.peak.Load() != peak {
			t.Errorf("%s: %d used, %d held, peak %d, want %d, %d, %d", step, b.used.Load(), b.held.Load(), b.peak.Load(), used, held, peak)
		}
	}
	none := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	none(b.grow(200))
	none(b.setAside(600))
	want("set aside", 800, 200, 200)
	for _, refused := range []error{b.grow(101), b.setAside(101)} {
		if !errors.Is(classify(refused), ErrBudget) {
			t.Errorf("beyond what is not held back: %v", refused)
		}
	}
	want("refused", 800, 200, 200)
	b.made(500)
	want("made", 800, 700, 700)
	b.made(-100)
	none(b.grow(-400)) // some of what was made
	want("freed", 400, 200, 700)
	none(b.setAside(-200))
	none(b.grow(-200))
	b.count(900)
	if err := b.grow(1); err == nil {
		t.Error("others have as much as before")
	}
	b.count(200)
	want("beyond the limit", 1100, 1100, 1100)
	b.count(-1100)
	want("all given back", 0, 0, 1100)
}
