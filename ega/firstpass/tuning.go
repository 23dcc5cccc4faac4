package firstpass

import "math"

// The values of the first pass. Where docs/experiments/0014 is named, a lower and a higher value
// were measured there on an H100.

// How the device's memory is divided.
const (
	// TableShare is the share that the table may have of the memory beside the stages. The chains
	// have the rest once rows find no slot: the more memory they have, the better evicted rows
	// leave the device while others come. With 0.25 a pass whose groups nearly fit took 27 %
	// longer, with 0.65 one whose rows are all of different groups 14 % (0014).
	TableShare = 0.45

	// wholeTableShare is the same share if all possible groups fit such a table up to wholeLoad.
	// No chains are expected then, and the rest of the memory is for reading the groups. Each
	// reader wants two pieces of 4 MiB: 8 readers have them from 430 MiB on, and smaller pieces
	// with less memory. At a load of 0.9 the longest distance of a row would be more than twice
	// that at wholeLoad (see wholeProbes).
	wholeTableShare = 0.85
	wholeLoad       = 0.85

	// stageShare is the part of the memory that the stages have if no size was asked for. It
	// decides only below 384 MiB, with two streams: above, the input of a stage is
	// streams.DefaultSlotBytes.
	stageShare = 0.25

	// stageLeast is the least input of a stage then: 64 KiB cross in 1.3 µs, while a copy takes 6
	// µs however small it is and a launch 4. With half as much a pass would take nearly twice as
	// long.
	stageLeast = 64 << 10

	// listsShare: records and values of lists have at most one of this many parts of the memory
	// beside the stages. With one key word a value takes 32 bytes and a group, in a table half
	// full, 80: with a half each both end at 2.5 values a group. With more values a group the
	// lists end first, with fewer the table.
	listsShare = 2

	// mostListed is the most values of a list, of which kernels add up as many in 32 bits.
	mostListed = math.MaxUint32
)

// How many slots the table has.
const (
	// firstSlots is the least number of slots at first if the number of groups is not known: so
	// few that clearing and replacing the table cost nothing. With 2^16 5000 groups took 1 %
	// longer, with 2^22 6 % (0014).
	firstSlots = 1 << 20

	// slotsMore replaces firstSlots if it is at most one of slotsPart parts of the slots that the
	// table may have. 1e6 groups have room then. For these the first move cost 6 ms of 70, and 27
	// ms where two devices moved at the same time.
	slotsMore = 1 << 22
	slotsPart = 64

	// leastSlots is the least number of slots that a pass begins with: two for each lane of a
	// warp. One warp clears them; fewer would save nothing.
	leastSlots = 64

	// mostFirstSlots is the most that it has at first whatever the estimate, which is often a
	// bound. Growing from there is one move: 19 ms for 1e8 groups (see growth), while clearing 2^24
	// slots of 64 bytes takes 0.4 ms at 2.5 TB/s.
	mostFirstSlots = 1 << 24

	// growth is how many times larger the table gets. All lanes wait while the groups move: 19 ms
	// for the second of two moves to 1e8 groups. A table that is far too large costs only the
	// clearing of its slots. With 2 and with 32 2e7 groups took 2 and 7 % less (0014).
	growth = 8
)

// How many slots a row looks at.
const (
	// growingProbes is for a table that may grow: a row that finds no slot in so many shows that it
	// is some two thirds full (by the formulas of linear probing, for 2^20 slots).
	growingProbes = 128

	// wholeProbes is for a table that cannot grow, but has room for all groups that there can be:
	// of 1e9 groups none lies farther at a load of 0.9 (the longest distance is about
	// ln(groups)/(load-1-ln(load)) slots).
	wholeProbes = 4096

	// frozenProbes is for a table that is full and stays. A row without a slot looks at all of
	// these slots. Few groups lie farther away, mostly rare ones that came late. With 2 a pass
	// took 7 to 9 % longer, with 32 as long (0014).
	frozenProbes = 8

	// crowdedPart: a table is made larger only if one of this many parts of its slots is taken.
	// When rows find no slot among growingProbes slots, it is half full or fuller, unless it is
	// small or hashes begin alike.
	crowdedPart = 8

	// tryRows is how many rows of the first tile are combined before the others, to see whether
	// hashes crowd. The pass waits for their kernel once, some tens of microseconds: fewer rows
	// would save nothing of that. If they crowd they look at growingProbes slots each in vain: 12
	// MB of slots of 24 bytes, some 5 µs.
	tryRows = 4 << 10

	// tryMissed: hashes crowd if one in this many of these rows, or more, finds no slot.
	tryMissed = 8
)

// When tiles bypass a table that is full.
const (
	// bypassShare: if this share of a tile's rows, or more, finds no slot in a frozen table, the
	// next tiles go to the chains without a look at it. That look takes most of the kernels' time
	// and keeps few rows off the link. With 0.5 a pass of groups that meet again took 45 % longer,
	// with 0.97 7 % (0014).
	bypassShare = 0.875

	// bypassTiles is how many tiles of the lane bypass the table before some try it again. With 7
	// a pass took up to 8 % longer, with 120 3 % (0014).
	bypassTiles = 29
)
