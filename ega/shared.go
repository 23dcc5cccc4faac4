package ega

import (
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// SharedPlan is how blocks combine rows in shared memory.
type SharedPlan struct {
	Slots    uint32 // of a block's table; 0: no room for one that is worth it
	Crowded  bool   // groups are more than it is good for
	Parts    uint32 // tables that it is divided into; a lane of a warp uses one
	Probes   uint32
	Threads  uint32 // of a block
	Resident int    // blocks that run at once
}

// PlanShared decides how to combine rows of so many groups. With two blocks on a multiprocessor,
// each hides the start and the end of the other. So a table takes half of the shared memory,
// unless the groups need more than half and fit into all of it. If they need much less, the table
// is divided into parts. Each part serves only some lanes of a warp, so that lanes seldom meet in
// a group.
func PlanShared(l *Layout, d cuda.Device, groups uint64) SharedPlan {
	most := d.SharedPerBlock - min(d.SharedPerBlock, kernels.EgaStaticShared)
	half := d.SharedPerMultiprocessor/2 - min(d.SharedPerMultiprocessor/2, kernels.EgaStaticShared)
	p := SharedPlan{Slots: SharedSlots(l, min(half, most)), Parts: 1, Probes: sharedProbes, Threads: kernels.EgaSharedThreads / 2, Resident: 2 * d.Multiprocessors}
	if all := SharedSlots(l, most); groups > SharedFits(p.Slots) && groups <= SharedFits(all) {
		p.Slots, p.Threads, p.Resident = all, kernels.EgaBlockThreads, d.Multiprocessors
	}
	if p.Slots < sharedLeast {
		return SharedPlan{}
	}
	if groups > SharedFits(p.Slots) {
		p.Crowded, p.Probes = true, crowdedProbes
	}
	for p.Parts < sharedParts && groups <= uint64(partLoad*float64(p.Slots/(2*p.Parts))) {
		p.Parts *= 2
	}
	return p
}

// PlanShared is the plan for rows of the kernels' layout on their device.
func (k *Kernels) PlanShared(groups uint64) SharedPlan {
	return PlanShared(&k.Layout, k.device, groups)
}

// SharedFits is how many groups a block's table of so many slots is good for.
func SharedFits(slots uint32) uint64 { return uint64(sharedLoad * float64(slots)) }

// blocks is the number of blocks for n rows: as many as run at once, or fewer.
func (p SharedPlan) blocks(n uint64) uint32 {
	threads := uint64(p.Threads)
	return uint32(min(max((n+threads-1)/threads, 1), uint64(p.Resident)))
}
