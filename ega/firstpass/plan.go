package firstpass

import (
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition"
	"github.com/gagg-dev/gagg/streams"
)

const (
	// TableShare is the share that the table may have of the memory of a Pass beside its stages. The chains have the rest once rows find no
	// slot: the more of it, the better they leave the device while others come. A guess.
	TableShare = 0.45

	// wholeTableShare is the same where all groups that there can be fit such a table up to wholeLoad: no chains are to be expected then. What
	// is left is for those who read the groups. Guesses.
	wholeTableShare = 0.85
	wholeLoad       = 0.85

	// firstSlots is how many slots the table has at least at first if nobody knows how many groups there are: so
	// few that clearing and leaving it cost nothing. A guess.
	firstSlots = 1 << 20

	// slotsMore is the same where that is no more than one of so many parts (slotsPart) of what it may have: 1e6 groups have
	// room, for whom the first move cost 6 ms of 70, and 27 where two devices moved at the same time.
	slotsMore = 1 << 22
	slotsPart = 64

	// leastSlots is the least that a pass begins with. A guess.
	leastSlots = 64

	// mostFirstSlots is the most that it has at first whatever the estimate: growing from there costs little,
	// and an estimate is often a bound. A guess.
	mostFirstSlots = 1 << 24

	// growth is how many times larger the table gets. All lanes wait while it moves, 19 ms for the second of two
	// moves to 1e8 groups; one far too large costs the clearing of it.
	growth = 8

	// growingProbes is how many slots a row looks at while the table may grow: a row that finds none in so many
	// shows that it is some two thirds full (by the formulas of linear probing, for 2^20 slots).
	growingProbes = 128

	// crowdedPart is what part of its slots a table has groups for at least, to be made larger: where rows find none in growingProbes
	// slots it is half full or fuller, unless it is small or hashes begin alike.
	crowdedPart = 8

	// wholeProbes is the same in a table that cannot grow, but has room for all groups that there can be: of 1e9 groups none lies farther
	// at a load of 0.9 (the longest distance is about ln(groups)/(load-1-ln(load)) slots).
	wholeProbes = 4096

	// frozenProbes is the same in a table that is full and stays, where a row without a slot reads them all. Few
	// groups lie farther, mostly late and so rare ones. A guess.
	frozenProbes = 8

	// bypassShare is the share of a tile's rows that found no slot in a frozen table from which on tiles go to the chains
	// without a look at it: that costs the kernels most of their time and keeps little off the link. A guess.
	bypassShare = 0.875

	// bypassTiles is how many tiles of the lane do so before some try the table again. A guess.
	bypassTiles = 29

	// stageShare is the part of the memory that the stages have if no size was asked for. A guess.
	stageShare = 0.25

	// stageLeast is the least input of a stage then. A guess: below that starting kernels is all it does.
	stageLeast = 64 << 10
)

// plan is who gets how much of the device memory of a Pass.
type plan struct {
	layout *ega.Layout
	lanes  int
	slot   int // bytes of the input of a stage
	rows   int // of such an input, at most
	made   MadeConfig
	most   int // rows of a job, of either kind

	device, stages cuda.Size // all of it; what all stages have
	mostSlots      uint32    // that the table may have
	whole          bool      // it has room for all groups that there can be, or rows without a slot are declined
	lists          bool      // there are lists
	listed         uint64    // rows that may have values in them
	slots          uint32    // that it has at first
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
	least, pools := ega.TableBytes(p.layout, leastSlots), cuda.Size(p.lanes)*(leastPool(p.layout, p.most)+leastSendBytes(p.layout))
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

// planLists sets memory aside for lists: for as many rows as there will be, or as a part of what there is to spare has room for.
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

// scratch is the memory of a stage beside its input: room for the rest of a tile, or what a madeTile needs.
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

// next is how many slots a table of so many, with so many groups, may grow to; 0: it may not. The groups made dense are beside the old
// table, and then beside the new one, but never both (BUDGET).
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

// probes is how many slots a row looks at in a table of so many that is not frozen.
func (p *plan) probes(slots uint32) uint32 {
	if p.whole && p.next(slots, 0) == 0 {
		return wholeProbes
	}
	return growingProbes
}

// beside is the memory beside the stages and a table of so many slots: for chains, or for those who read the groups.
func (p *plan) beside(slots uint32) cuda.Size {
	return p.device - p.stages - ega.TableBytes(p.layout, slots)
}

// pool is what each lane has for pages beside a table of so many slots, and for the pieces in which their rows leave.
func (p *plan) pool(slots uint32) (pages, pieces cuda.Size) {
	const share = 16 // for pieces one part of so many: a guess
	each := p.beside(slots) / cuda.Size(p.lanes)
	spare := each - min(each, leastPool(p.layout, p.most))
	pieces = sendBytes(p.layout, min(each/share, spare))
	return each - pieces, pieces
}

// poolPlan is the shape of a lane's chains.
type poolPlan struct {
	page  cuda.Size // bytes
	pages uint32
	bits  uint // 2^bits chains
}

const (
	// poolPage is the size of a page where memory is plenty: the fewer, the shorter are the lists of pages; the smaller, the fewer rows
	// have a page to themselves. A guess.
	poolPage = 128 << 10

	// poolPages is how many pages there are at least before they are made larger: twice what all chains want.
	poolPages = 2 * poolChain << poolBits

	// poolMost is the most pages, of which partition.Chains knows twice as many.
	poolMost = 1 << 20

	// poolBits: 2^7 chains, each of which goes to the host in long pieces for one host bucket or a few. A guess.
	poolBits = 7

	// poolChain is how many pages there are for each chain, so that most of what leaves at once are whole pages. A guess.
	poolChain = 4

	// poolPageRows is the least rows of a page, of partition.Chains.
	poolPageRows = 32

	// poolPerPage is what a page takes besides itself: in the list of pages 4 bytes, in two directories of up to four
	// slots a page 64, and its bit.
	poolPerPage = 72

	// poolPerChain is what a chain takes: 28 bytes, and the slots for a page that is asked for in vain.
	poolPerChain = 28 + poolPerPage

	// poolFixed is a stretch of the bitmap, counters, and what allocations take more.
	poolFixed = 8 << 10
)

const (
	// setBytes is the size of a set of chains where memory is plenty: it leaves in 3 ms, beside which it counts little that its
	// chains are looked up first; and what is left in the sets when the input ends is little, too. Of 256 MiB were a little slower.
	setBytes = 128 << 20

	// setAppends is how many appends a set has room for at least where memory is plenty. A guess.
	setAppends = 4

	// mostSets: one is filled, one leaves, and others are there for when placers are slow for a while. A guess.
	mostSets = 4
)

// planSets is how many sets of chains a lane may have in so much memory, and their plan: two at least, so that one is filled while
// the other leaves, unless they would have no room for an append.
func planSets(l *ega.Layout, memory cuda.Size, rows int) (sets int, each poolPlan) {
	enough := max(setBytes, setAppends*cuda.Size(rows)*l.RowBytes())
	for sets = int(min(max(memory/enough, 2), mostSets)); sets > 1; sets-- {
		if each = planPool(l, min(memory/cuda.Size(sets), enough), rows); each.pages >= each.least(l, rows) {
			return sets, each
		}
	}
	return 1, planPool(l, min(memory, enough), rows)
}

// planPool is the chains that so much memory has room for, for appends of so many rows.
func planPool(l *ega.Layout, memory cuda.Size, rows int) poolPlan {
	p := poolPlan{page: leastPage(l), bits: poolBits}
	for p.page < poolPage && memory/(2*p.page) >= poolPages || memory/p.page > poolMost {
		p.page *= 2
	}
	for {
		fixed := p.fixed(l, rows)
		p.pages = uint32((memory - min(memory, fixed)) / (p.page + poolPerPage))
		if p.bits == 1 || p.pages >= max(poolChain<<p.bits, p.least(l, rows)) {
			return p
		}
		p.bits--
	}
}

// fixed is the memory beside the pages.
func (p poolPlan) fixed(l *ega.Layout, rows int) cuda.Size {
	bits := cuda.Size(rows)/8 + 8
	return poolFixed + bits + poolPerPage*cuda.Size(rows/p.pageRows(l)+1) + poolPerChain<<p.bits
}

// pageRows is how many rows a page holds.
func (p poolPlan) pageRows(l *ega.Layout) int { return int(p.page / l.RowBytes()) }

// bound is the most pages that chains with so many rows have: each one that is not full.
func (p poolPlan) bound(l *ega.Layout, rows uint64) uint64 {
	return rows/uint64(p.pageRows(l)) + 1<<p.bits
}

// room says whether there are pages for so many rows in any case.
func (p poolPlan) room(l *ega.Layout, rows uint64) bool { return p.bound(l, rows) <= uint64(p.pages) }

// least is how many pages there have to be for one append.
func (p poolPlan) least(l *ega.Layout, rows int) uint32 { return uint32(p.bound(l, uint64(rows))) }

func leastPage(l *ega.Layout) cuda.Size {
	return max(cuda.Size(1)<<bits.Len64(uint64(poolPageRows*l.RowBytes()-1)), 1<<5)
}

// leastPool is the least memory for chains.
func leastPool(l *ega.Layout, rows int) cuda.Size {
	p := poolPlan{page: leastPage(l), bits: 1}
	return p.fixed(l, rows) + cuda.Size(p.least(l, rows)+1)*(p.page+poolPerPage)
}

// config is the shape of the pool.
func (p poolPlan) config() gpumem.Config { return gpumem.Config{Pages: p.pages, PageBytes: p.page} }

// device is how the chains divide rows.
func (p poolPlan) device(l *ega.Layout) partition.DeviceRows {
	return partition.DeviceRows{Stride: l.Stride(), Bits: p.bits}
}
