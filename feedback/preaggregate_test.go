package feedback

import "testing"

func TestDecidePreaggregate(t *testing.T) {
	t.Parallel()
	c := DefaultPreaggregateConfig
	for _, x := range []struct {
		why        string
		rows, sent uint64
		want       PreaggregateDecision
	}{
		{"all rows differ", 1800, 1800, SendRows},
		{"a million groups alike: two rows of a block meet now and then", 1800, 1798, SendRows},
		{"ten thousand groups alike", 1800, 1647, SendRows},
		{"a fifth of the rows have one key", 1800, 1441, PreaggregateRows},
		{"few groups in each of 264 blocks", 470_000, 264 * 100, PreaggregateRows},
		{"all rows have one key", 470_000, 264, PreaggregateRows},
		{"just as many as may be", 1000, 900, PreaggregateRows},
	} {
		if got := c.DecidePreaggregate(x.rows, x.sent); got != x.want {
			t.Errorf("%s: got %d, want %d", x.why, got, x.want)
		}
	}
}

// Of any 32 tiles in a row one is a sample, and not the first one after a decision in any case.
func TestSamples(t *testing.T) {
	t.Parallel()
	c := PreaggregateConfig{Sample: 32}
	samples := 0
	for tile := uint64(1); tile <= 320; tile++ {
		if c.Samples(tile) {
			samples++
			if tile%32 != 0 {
				t.Errorf("tile %d is a sample", tile)
			}
		}
	}
	if samples != 10 {
		t.Errorf("%d samples of 320 tiles", samples)
	}
}
