package firstpass

import (
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/streams"
)

// On any device, the parts of the plan stay within it, and a lane has room for a tile.
func TestPlan(t *testing.T) {
	for _, l := range []ega.Layout{
		{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}},
		{Hash: true, KeyWords: 2, Ops: []combine.Op{combine.Add, combine.MaxInt, combine.MinInt}},
		{Hash: true, KeyWords: 8, Ops: make([]combine.Op, 16)},
		{Hash: true, KeyWords: ega.MaxKeyWords, Ops: make([]combine.Op, combine.MaxWords)},
	} {
		for _, lanes := range []int{1, 2, 8} {
			for device := int64(16 << 20); device <= 200<<30; device = device*5/2 + 12345 {
				c := Config{Layout: l, Streams: lanes, Device: device, Made: madeFor(&l, lanes, device)}.withDefaults()
				p, err := makePlan(&c)
				if err != nil {
					t.Fatalf("%d lanes, %d bytes: %v", lanes, device, err)
				}
				if each := p.stages / cuda.Size(c.Streams*c.Depth); each < cuda.Size(p.slot)+p.scratch() {
					t.Errorf("%+v: a stage has %v, its input and scratch memory are %v and %v", p, each, cuda.Size(p.slot), p.scratch())
				}
				if p.slots > p.mostSlots || p.next(p.mostSlots, 0) != 0 {
					t.Errorf("%+v: more slots than the most", p)
				}
				for slots := p.slots; slots != 0; {
					checkLanes(t, &p, slots)
					slots = checkGrowth(t, &p, slots)
				}
			}
		}
	}
}

// madeFor is jobs of SubmitMade whose rows take up to a tenth of the memory, or none on a device in
// three.
func madeFor(l *ega.Layout, lanes int, device int64) MadeConfig {
	if device%3 == 0 {
		return MadeConfig{}
	}
	all := device / 10 / int64(2*lanes*streams.DefaultDepth) / int64(l.RowBytes())
	return MadeConfig{Rows: int(min(all, MaxMadeRows)), WorkBytes: 12345}
}

// checkGrowth looks at the move of as many groups as a table has slots to a larger one.
func checkGrowth(t *testing.T, p *plan, slots uint32) (next uint32) {
	t.Helper()
	dense := cuda.Allocated(cuda.Size(slots) * p.layout.RowBytes())
	if next = p.next(slots, uint64(slots)); next == 0 {
		return 0
	}
	for _, n := range []uint32{slots, next} {
		if p.stages+ega.TableBytes(p.layout, n)+dense > p.device {
			t.Errorf("BUDGET: %+v: %d to %d slots: %d beside a table of %d", p, slots, next, dense, n)
		}
	}
	return next
}

// A table may have most of the memory if it has room for all groups that there can be, and rows
// look far for a slot in it then.
func TestPlanWhole(t *testing.T) {
	layout := ega.Layout{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}}
	config := Config{Layout: layout, Device: 8 << 30}.withDefaults()
	part, err := makePlan(&config)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bound uint64
		whole bool
	}{
		{1000, true},
		{uint64(part.mostSlots) * 3 / 2, true},
		{uint64(part.mostSlots) * 2, false},
		{1 << 40, false},
	} {
		config.Bound = c.bound
		p, err := makePlan(&config)
		if err != nil || p.whole != c.whole || p.whole != (p.mostSlots > part.mostSlots) {
			t.Errorf("%d groups at most: whole is %t, %d slots of %d, %v", c.bound, p.whole, p.mostSlots, part.mostSlots, err)
		}
		if p.whole != (p.probes(p.mostSlots) == wholeProbes) || p.probes(p.slots) != growingProbes {
			t.Errorf("%+v: %d probes at first, %d at last", p, p.probes(p.slots), p.probes(p.mostSlots))
		}
		checkLanes(t, &p, p.mostSlots)
	}
}

// checkLanes looks at what lanes have to evict rows beside a table of so many slots.
func checkLanes(t *testing.T, p *plan, slots uint32) {
	t.Helper()
	each := p.beside(slots) / cuda.Size(p.lanes)
	if each < evict.LeastMemory(p.layout, p.most) {
		t.Errorf("%+v, %d slots: %v for a lane has no room for a tile", p, slots, each)
	}
	if p.stages+ega.TableBytes(p.layout, slots)+cuda.Size(p.lanes)*each > p.device {
		t.Errorf("BUDGET: %+v, %d slots: %v for each lane", p, slots, each)
	}
}

// A first estimate decides with how many slots a table begins, within limits, and the memory where
// there is none.
func TestPlanGroups(t *testing.T) {
	for _, c := range []struct {
		groups uint64
		device int64
		slots  uint32
	}{
		{0, 1 << 30, firstSlots},
		{0, 64 << 30, slotsMore},
		{1, 8 << 30, leastSlots},
		{1000, 8 << 30, 2000},
		{1 << 40, 8 << 30, mostFirstSlots},
	} {
		config := Config{Layout: ega.Layout{Hash: true, KeyWords: 1}, Device: c.device, Groups: c.groups}.withDefaults()
		p, err := makePlan(&config)
		if err != nil || p.slots != c.slots {
			t.Errorf("%d groups: %d slots, want %d, %v", c.groups, p.slots, c.slots, err)
		}
	}
}
