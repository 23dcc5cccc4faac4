package ega

import (
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// sharedPlan is how blocks combine rows in shared memory.
type sharedPlan struct {
	slots    uint32 // of a block's table; 0: no room for one that is worth it
	crowded  bool   // groups are more than it is good for
	parts    uint32 // tables it is divided into, for so many kinds of lanes
	probes   uint32
	threads  uint32 // of a block
	resident int    // blocks that run at once
}

const (
	// sharedLoad is how full a block's table may get before rows miss it. A guess.
	sharedLoad = 0.75

	// sharedProbes is how many slots of it a row looks at if all groups are to fit: nearly all
	// rows of these find theirs. A miss is dear where groups are few, as all blocks'
	// misses then meet in few words of device memory: with eight probes, in parts half full, 129 groups
	// took ten times as long as with 32 (docs/experiments/0006).
	sharedProbes = 32

	// crowdedProbes is the same if groups are more: frequent keys come early and find their
	// slot free, the others are to give up soon.
	crowdedProbes = 2

	// partLoad is how full a part may get: a search for 32 lanes is as long as the longest of
	// them. At half as full again a thousand groups took an eighth longer (docs/experiments/0006).
	partLoad = 0.25

	// sharedParts is the most parts: a lane of a warp each.
	sharedParts = 32

	// sharedLeast is the least slots that are worth it. A guess.
	sharedLeast = 64
)

// planShared decides how to combine rows of so many groups. Two blocks a
// multiprocessor hide each other's start and end, so a table takes half of the memory
// unless groups need more and all of it suffices. Where they need much less the table is divided into
// parts, each of which sees only some lanes of a warp, so that these seldom
// meet in a group.
func planShared(l *Layout, d cuda.Device, groups uint64) sharedPlan {
	most := d.SharedPerBlock - min(d.SharedPerBlock, kernels.EgaStaticShared)
	half := d.SharedPerMultiprocessor/2 - min(d.SharedPerMultiprocessor/2, kernels.EgaStaticShared)
	p := sharedPlan{slots: SharedSlots(l, min(half, most)), parts: 1, probes: sharedProbes, threads: kernels.EgaSharedThreads / 2, resident: 2 * d.Multiprocessors}
	if all := SharedSlots(l, most); groups > fits(p.slots) && groups <= fits(all) {
		p.slots, p.threads, p.resident = all, kernels.EgaBlockThreads, d.Multiprocessors
	}
	if p.slots < sharedLeast {
		return sharedPlan{}
	}
	if groups > fits(p.slots) {
		p.crowded, p.probes = true, crowdedProbes
	}
	for p.parts < sharedParts && groups <= uint64(partLoad*float64(p.slots/(2*p.parts))) {
		p.parts *= 2
	}
	return p
}

// planShared is that for rows of the kernels' layout on their device.
func (k *Kernels) planShared(groups uint64) sharedPlan {
	return planShared(&k.Layout, k.device, groups)
}

// sharedMost is how many groups the largest table of a block takes.
func sharedMost(l *Layout, d cuda.Device) uint64 {
	return fits(SharedSlots(l, d.SharedPerBlock-min(d.SharedPerBlock, kernels.EgaStaticShared)))
}

// fits is how many groups a block's table of so many slots is good for.
func fits(slots uint32) uint64 { return uint64(sharedLoad * float64(slots)) }

// blocks is how many there are for n rows: as many as run at once, or fewer.
func (p sharedPlan) blocks(n uint64) uint32 {
	threads := uint64(p.threads)
	return uint32(min(max((n+threads-1)/threads, 1), uint64(p.resident)))
}
