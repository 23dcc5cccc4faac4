package ega

import (
	"testing"

	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// h200 is what the plans look at.
var h200 = cuda.Device{Multiprocessors: 132, L2: 50 << 20, SharedPerBlock: 227 << 10, SharedPerMultiprocessor: 228 << 10}

// A block's table has all of shared memory only where that suffices and half
// does not, and is divided where groups are few.
func TestPlanShared(t *testing.T) {
	half, all := uint32(7166), uint32(14398)
	for _, c := range []struct {
		groups       uint64
		slots, parts uint32
		resident     int
	}{
		{1, half, 32, 264},
		{128, half, 8, 264},
		{129, half, 8, 264},
		{111, half, 16, 264},
		{112, half, 8, 264},
		{800, half, 2, 264},
		{1000, half, 1, 264},
		{5374, half, 1, 264},
		{5375, all, 1, 132},
		{5400, all, 1, 132},
		{10_798, all, 1, 132},
		{10_799, half, 1, 264},
		{1 << 40, half, 1, 264},
	} {
		p := PlanShared(&Pairs, h200, c.groups)
		if p.Slots != c.slots || p.Parts != c.parts || p.Resident != c.resident {
			t.Errorf("%d groups: %+v, want %+v", c.groups, p, c)
		}
		if p.Crowded != (c.groups > 10_798) {
			t.Errorf("%d groups: crowded is %v", c.groups, p.Crowded)
		}
	}
	wide := Layout{KeyWords: 8, Ops: make([]combine.Op, combine.MaxWords)}
	if p := PlanShared(&wide, cuda.Device{Multiprocessors: 1, SharedPerBlock: 20 << 10, SharedPerMultiprocessor: 40 << 10}, 1); p.Slots != 0 {
		t.Errorf("a table of %d slots in 20 KiB", p.Slots)
	}
}

func TestLayoutValidate(t *testing.T) {
	for _, l := range []Layout{Pairs, {KeyWords: 8}, {KeyWords: 1, Ops: []combine.Op{combine.Sum, combine.SumError}, Mates: []int{1}}} {
		if err := l.Validate(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
	for _, l := range []Layout{
		{},
		{KeyWords: 9},
		{KeyWords: 1, Ops: make([]combine.Op, combine.MaxWords+1)},
		{KeyWords: 1, Ops: []combine.Op{combine.LeastLast + 1}},
		{KeyWords: 1, Ops: []combine.Op{combine.Sum}},
		{KeyWords: 1, Ops: []combine.Op{combine.SumError}},
		{KeyWords: 1, Ops: []combine.Op{combine.Sum, combine.SumError}},
		{KeyWords: 1, Ops: []combine.Op{combine.Sum, combine.AddHigh}, Mates: []int{1}},
		{KeyWords: 1, Ops: []combine.Op{combine.Sum, combine.Sum, combine.SumError}, Mates: []int{2, 2}},
		{KeyWords: 1, Ops: []combine.Op{combine.Sum, combine.SumError}, Mates: []int{7}},
	} {
		if l.Validate() == nil {
			t.Errorf("%+v is valid", l)
		}
	}
}
