package firstpass

import (
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/streams"
)

// plan divides the device memory of a Pass.
type plan struct {
	layout *ega.Layout
	lanes  int
	slot   int // bytes of the input of a stage
	rows   int // rows of such an input at most
	made   MadeConfig
	most   int // rows of a job, of either kind

	device, stages cuda.Size // of the pass; of that, the part of all stages
	mostSlots      uint32    // that the table may have
	// the table has room for all possible groups, or jobs with rows without a slot are declined
	whole  bool
	lists  bool   // there are lists
	listed uint64 // rows that may have values in them
	slots  uint32 // that it has at first
}

// makePlan divides the memory. Its error is a SmallError, or that a slot holds no row.
func makePlan(c *Config) (plan, error) {
	p := plan{layout: &c.Layout, lanes: c.Streams, slot: c.SlotBytes, made: c.Made, device: cuda.Size(max(c.Device, 0))}
	stages := cuda.Size(c.Streams * c.Depth)
	if p.slot == 0 {
		p.slot = min(streams.DefaultSlotBytes, max(stageLeast, int(stageShare*float64(p.device)/float64(2*stages))/stageLeast*stageLeast))
	}
	p.rows = p.slot / int(p.layout.RowBytes())
	if p.rows == 0 {
		return p, fmt.Errorf("slots of %v hold no row of %v", cuda.Size(p.slot), p.layout.RowBytes())
	}
	p.most = max(p.rows, p.made.Rows)
	p.stages = stages * (cuda.Allocated(cuda.Size(p.slot)+cuda.AllocUnit) + cuda.Allocated(p.scratch()+cuda.AllocUnit))
	least, pools := ega.TableBytes(p.layout, leastSlots), cuda.Size(p.lanes)*evict.LeastMemory(p.layout, p.most)
	need := p.stages + max(least+pools, cuda.Size(float64(least)/TableShare)+1)
	if p.device < need {
		return p, &ega.SmallError{Has: p.device, Need: need}
	}
	p.planLists(c, p.device-need)
	rest := p.device - p.stages
	most := func(share float64) uint32 {
		return ega.TableSlots(p.layout, min(rest-pools, cuda.Size(share*float64(rest))))
	}
	p.mostSlots = most(TableShare)
	if whole := most(wholeTableShare); p.lists || c.Bound > 0 && float64(c.Bound) <= wholeLoad*float64(whole) {
		p.mostSlots, p.whole = whole, true
	}
	p.slots = min(max(firstSlots, min(slotsMore, p.mostSlots/slotsPart)), p.mostSlots)
	if c.Groups > 0 {
		wanted := uint64(min(float64(c.Groups)/ega.TableLoad, mostFirstSlots))
		p.slots = uint32(min(max(wanted, leastSlots), uint64(p.mostSlots)))
	}
	return p, nil
}

// planLists sets memory aside for lists: for all rows that there can be, or for as many as fit
// into a part of the spare memory.
func (p *plan) planLists(c *Config, spare cuda.Size) {
	if p.lists = len(c.Lists) > 0; !p.lists {
		return
	}
	each := listedBytes(p.layout, len(c.Lists))
	aligned := 4 * cuda.Size(len(c.Lists)) * cuda.AllocUnit // records, how many there are, values
	p.listed = min(c.ListRows, mostListed, uint64(spare/listsShare/each))
	if p.listed < uint64(p.made.Rows) && p.listed < c.ListRows {
		p.listed = 0 // few jobs would find room
	}
	p.device -= min(cuda.Size(p.listed)*each+aligned, spare)
}

// scratch is the memory of a stage beside its input: room for the rest of a tile, or what a
// madeTile needs.
func (p *plan) scratch() cuda.Size {
	if p.made.Rows == 0 {
		return cuda.Size(p.slot)
	}
	return max(cuda.Size(p.slot), 2*p.madeBytes()+cuda.Size(p.made.WorkBytes))
}

// madeBytes is the room for the rows of a madeTile, and for their rest.
func (p *plan) madeBytes() cuda.Size {
	return cuda.Allocated(cuda.Size(p.made.Rows) * p.layout.RowBytes())
}

// next is the number of slots to which a table with that many slots and groups may grow; 0: it may
// not. While it grows, the dense groups lie beside the old table and then beside the new one; the
// two tables never exist at once (BUDGET).
func (p *plan) next(slots uint32, groups uint64) uint32 {
	dense := cuda.Allocated(cuda.Size(groups) * p.layout.RowBytes())
	if dense > p.beside(slots) {
		return 0
	}
	next := uint32(min(growth*uint64(slots), uint64(p.mostSlots), uint64(ega.TableSlots(p.layout, p.device-p.stages-dense))))
	if next < slots+slots/4 { // not worth the moving
		return 0
	}
	return next
}

// probes is how many slots a row looks at in a table with that many slots that is not frozen.
func (p *plan) probes(slots uint32) uint32 {
	if p.whole && p.next(slots, 0) == 0 {
		return wholeProbes
	}
	return growingProbes
}

// beside is the memory that the stages and a table with that many slots leave, for chains or for
// the readers of the groups.
func (p *plan) beside(slots uint32) cuda.Size {
	return p.device - p.stages - ega.TableBytes(p.layout, slots)
}
