package feedback

import "testing"

// The gain grows with the rows to come as far as rows find their groups in the table.
func TestExpectedGain(t *testing.T) {
	for _, x := range []struct {
		name string
		f    GainFacts
		left uint64
		want float64
	}{
		{"nothing is known", GainFacts{}, 100, 0},
		{"no table", GainFacts{Rows: 10, Rest: 10}, 100, 0},
		{"nothing follows", GainFacts{Rows: 400, Rest: 100, Groups: 100}, 0, 3},
		{"half of what follows", GainFacts{Rows: 400, Rest: 100, Groups: 100}, 600, 6},
		{"nobody finds a group", GainFacts{Rows: 400, Rest: 300, Groups: 100}, 1e6, 1},
		{"groups of rows under way", GainFacts{Rows: 400, Rest: 300, Groups: 150}, 1e6, 100. / 150},
		{"more is left than was seen", GainFacts{Rows: 100, Rest: 300, Groups: 100}, 100, 0},
	} {
		if got := x.f.Expected(x.left); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}
