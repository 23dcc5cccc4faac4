package ega

// The values of tables. docs/experiments/0006 and 0014 measured them on an H200 and an H100.

const (
	// TableLoad is how full a table is planned to be. Fuller tables need long probes. At 0.25 and
	// at 0.75 the first pass took 2 to 5 % longer (0014).
	TableLoad = 0.5

	// MaxSlots is the most slots of a table: their numbers have 32 bits, of which two values are
	// taken.
	MaxSlots = 1<<32 - 2
)

// The values of a block's table in shared memory.
const (
	// sharedLoad is how full it may get before rows miss it. From 0.5 to 0.9 it makes no difference
	// (0014).
	sharedLoad = 0.75

	// sharedProbes is how many slots of a block's table a row looks at if all groups are to fit:
	// nearly all rows find theirs. Misses are slow where groups are few, as those of all blocks
	// then contend for few words of device memory: with eight probes, in parts half full, 129
	// groups took ten times as long as with 32 (0006).
	sharedProbes = 32

	// crowdedProbes is the same if there are more groups. Frequent keys come early and find a free
	// slot; rows of other keys should give up soon.
	crowdedProbes = 2

	// partLoad is how full a part may get: a search for 32 lanes is as long as the longest of them.
	// At 0.5 a thousand groups took an eighth longer (0006); at 0.125 as well as at 0.5 5000 groups
	// took 5 to 7 % (0014).
	partLoad = 0.25

	// sharedParts is the most parts: one for each lane of a warp.
	sharedParts = 32

	// sharedLeast is the least slots that are worth it: two for each lane of a warp. It decides
	// only for rows of more than 1.7 KiB on a device of 227 KiB, and no layout has such rows.
	sharedLeast = 64
)
