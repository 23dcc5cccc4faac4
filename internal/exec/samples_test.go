package exec

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/cpu"
)

// What is believed is the median of the last paces, one for each worker, however much it has read.
func TestSamples(t *testing.T) {
	t.Parallel()
	var s samples
	for i, x := range []struct {
		read    int64
		seconds float64
		median  float64 // seconds a row
		rounds  int
	}{
		{10, 80, 8, 0},
		{10, 80, 8, 0},
		{10, 80, 8, 1},
		{20, 20, 8, 1}, // of 1, 8, 8
		{20, 60, 3, 1}, // of 1, 3, 8
		{40, 80, 2, 2}, // of 1, 3, 2
		{20, 20, 2, 2}, // of 1, 3, 2
		{10, 10, 1, 2}, // of 1, 1, 2
		{10, 90, 1, 3}, // of 1, 1, 9
	} {
		seen, rounds := s.add(cpu.Sample{Read: x.read, Seconds: x.seconds}, 3)
		if pace := seen.Seconds / float64(seen.Read); pace != x.median || rounds != x.rounds {
			t.Errorf("sample %d: %v, %d; want %v, %d", i, pace, rounds, x.median, x.rounds)
		}
	}
}
