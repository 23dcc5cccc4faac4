package feedback

import "testing"

// The gain grows with the rows to come as far as rows find their groups in the table.
func TestExpectedGain(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name string
		f    GainCounts
		left uint64
		want float64
	}{
		{"nothing is known", GainCounts{}, 100, 0},
		{"no table", GainCounts{Rows: 10, Rest: 10}, 100, 0},
		{"nothing follows", GainCounts{Rows: 400, Rest: 100, Groups: 100}, 0, 3},
		{"half of what follows", GainCounts{Rows: 400, Rest: 100, Groups: 100}, 600, 6},
		{"nobody finds a group", GainCounts{Rows: 400, Rest: 300, Groups: 100}, 1e6, 1},
		{"groups of rows under way", GainCounts{Rows: 400, Rest: 300, Groups: 150}, 1e6, 100. / 150},
		{"more is left than was seen", GainCounts{Rows: 100, Rest: 300, Groups: 100}, 100, 0},
	} {
		if got := x.f.Expected(x.left); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}
