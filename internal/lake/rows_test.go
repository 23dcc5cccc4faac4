package lake

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
)

// Rows may be added in any order, and sets united; each block is drawn once.
func TestRows(t *testing.T) {
	t.Parallel()
	memory := budget.New(budget.Memory, 0)
	var a, b Rows
	for _, row := range []uint64{70000, 3, 1 << 40, 4, 3, 65536} {
		if err := a.Add(row, memory); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []uint64{5, 200000} {
		if err := b.Add(row, memory); err != nil {
			t.Fatal(err)
		}
	}
	if a.Count() != 5 || memory.Reserved() != 5*blockBytes {
		t.Errorf("%d rows, %d bytes", a.Count(), memory.Reserved())
	}
	if err := a.Unite(&b, memory); err != nil || a.Count() != 7 {
		t.Error(a.Count(), err)
	}
	for _, test := range []struct {
		first int64
		n     int
		want  []int32
	}{{2, 5, []int32{0, 4}}, {65535, 3, []int32{0, 2}}, {69999, 3, []int32{0, 2}}, {200000, 2, []int32{1}}, {1 << 40, 1, nil}} {
		if got := a.Left(test.first, test.n, nil); !slices.Equal(got, test.want) {
			t.Errorf("%d rows from %d: %v, want %v", test.n, test.first, got, test.want)
		}
	}
	tight := budget.New(budget.Memory, blockBytes)
	var c Rows
	if err := c.Unite(&a, tight); budget.Refusal(err, budget.Memory) == nil {
		t.Errorf("%v where memory is short", err)
	}
}
