package groups

// The values of reading groups. Where docs/experiments/0014 is named, a lower and a higher value
// were measured there on an H100.

const (
	// fineSlots is the number of slots of a fine bucket, which may have up to twice as many: few,
	// so that its rows are sorted fast, but enough that the positions of buckets take little
	// memory beside the rows. With 8 reading 2e7 groups took 26 % longer, with 128 4 % less
	// (0014). But rows of a bucket of more than 96 are not put in order (ORDER_MOST of
	// ega_order.cu), and of 128 to 256 slots half full most buckets would have as many.
	fineSlots = 32

	// MostBits is the most of Config.Bits, and of fine buckets, whose numbers take 256 MiB then, on
	// the device.
	MostBits = 26

	// The host knows where buckets are, which are 2^bucketShift fine ones, or less if there are not
	// 2^leastBucketBits buckets: some hundred groups, small beside a piece, so that their positions
	// take 128 KiB for 2^20 fine buckets. To copy them to fresh memory takes as long as their
	// pages.
	bucketShift     = 5
	leastBucketBits = 8

	// placesShare: the positions of buckets have at most one of this many parts of the memory
	// beside the table. They take 4 bytes for fineSlots or more slots of 24 bytes or more, which
	// is at most a 192th of a table: the share decides only where the table has 98 % of the
	// memory.
	placesShare = 4

	// A piece is one of readPieces parts of a partition, so that the next one crosses while one is
	// read, and pinning memory for it takes no longer than that. It has readLeast bytes at least.
	// With 1 and with 16 pieces, and with 64 KiB and with 1 MiB, reading 2e7 groups differed by no
	// more than 6 % (0014).
	readPieces = 4
	readLeast  = 256 << 10

	// DefaultReadBytes is the usual value of Config.ReadBytes: 4 MiB cross in 80 µs, at 48 of the
	// link's 53 GB/s (docs/experiments/0012). Twice as much is pinned for each reader, at 0.25 ms
	// a MiB.
	DefaultReadBytes = 4 << 20

	// partBytes is about the most bytes of rows that are handed out at a time. They stay in the
	// cache of a core that goes over them more than once. With 64 KiB reading took 3 % less, with
	// 1 MiB 8 % more (0014).
	partBytes = 256 << 10

	// If more than one in selectShare of the groups is wanted, all are read. A group that is
	// selected is placed and merged on the host (plan.Costs: Group) before it is finished (Put),
	// so two groups in five would take as long as all. Finding them takes some time too.
	selectShare = 4

	// selectSlack is how many groups beyond those wanted may be copied: as many rows of a few
	// words as fit into a piece of 256 KiB, and one in selectPart of the groups. To copy fewer,
	// all groups would have to be read once more.
	selectSlack = 4 << 10
	selectPart  = 64

	// selectSure: in a table of as many slots, 256 MiB of 32 bytes, a count of all ranks takes .1
	// ms by the memory's rate, hardly more than to wait for a count of some of them.
	selectSure = 8 << 20

	// selectEvery: of a larger table so many slots make one of a sample. The groups of a sample
	// that are selected stand for so many each, which is to be few beside selectSlack.
	selectEvery = 64

	// selectChance: a sample that has some groups of a kind on the average has so many more at
	// most, and half as many times the square root. That it has more is a matter of 1 in 10,000.
	selectChance = 8

	// selectLeast is the least groups of which a sample tells anything.
	selectLeast = 64 << 10

	// valuesBytes is the size of a buffer for values: small beside the cache of a core, and large
	// enough for a copy, which takes 6 µs however small it is: 512 KiB cross in 10 µs.
	valuesBytes = 512 << 10

	// regroupRows is the most rows of a piece: 4 million of 32 bytes are 128 MiB, which kernels go
	// through in .1 ms by the memory's rate, some times what a launch and a wait take.
	regroupRows = 4 << 20

	// regroupFirst is the slots of the first piece, whose groups say how the others are combined.
	regroupFirst = 1 << 20

	// regroupShare: rows of a piece have at most one of so many parts of the memory that is left,
	// of which the table gets the rest.
	regroupShare = 4

	// regroupLeast is the least slots of the other table.
	regroupLeast = 64

	// regroupProbes: a row looks at as many slots as in a table of the first pass with room for all
	// groups (firstpass: wholeProbes). If one finds none the table is too small, or hashes crowd.
	regroupProbes = 4096

	// regroupFewProbes is the same of a table that may be too small. Rows find a slot up to a load
	// of .9 then; beyond that they soon give up, as each would look at all of the others.
	regroupFewProbes = 256

	// regroupSure: a table of as many slots is cleared, counted, located and selected from in 1 ms
	// by the memory's rate, a few times what an estimate takes: 256 MiB of 32 bytes.
	regroupSure = 8 << 20

	// regroupMargin: a table has slots for so many times the estimate of its groups, which is a
	// bound but for chance. If it gets full all the same, all begins again with as many slots as
	// there may be groups.
	regroupMargin = 1.25
)
