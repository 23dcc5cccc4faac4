package groups

// The values of reading groups. Where docs/experiments/0014 is named, a lower and a higher value
// were measured there on an H100.

const (
	// fineSlots is how many slots there are for a fine bucket, or up to twice as many: few, that
	// its rows are soon put in order, and enough that numbers of buckets are a small part of the
	// rows. With 8 reading 2e7 groups took 26 % longer, with 128 4 % less (0014). But rows of a
	// bucket of more than 96 are not put in order (ORDER_MOST of ega_order.cu), and of 128 to 256
	// slots half full most buckets would have as many.
	fineSlots = 32

	// MostBits is the most of Config.Bits, and of fine buckets, whose numbers take 256 MiB then.
	MostBits = 26

	// placesShare: the numbers of buckets have up to one of so many parts of the memory beside the
	// table. They take 4 bytes for fineSlots slots or more of 24 bytes or more, and so a 192th of a
	// table: the share decides only where the table has 98 % of the memory.
	placesShare = 4

	// A piece that crosses is one of readPieces parts of a partition, so that the next one crosses
	// while one is read, and pinning memory for it takes no longer than that; but readLeast bytes
	// at least. With 1 and with 16 pieces, and with 64 KiB and with 1 MiB, reading 2e7 groups
	// differed by no more than 6 % (0014).
	readPieces = 4
	readLeast  = 256 << 10

	// DefaultReadBytes is what Config.ReadBytes mostly is: 4 MiB cross in 80 µs, at 48 of the
	// link's 53 GB/s (docs/experiments/0012). Twice as much is pinned for each reader, at 0.25 ms a
	// MiB.
	DefaultReadBytes = 4 << 20

	// partBytes is about the most rows that are handed out at a time: what a core has in its cache
	// when it walks over them more than once. With 64 KiB reading took 3 % less, with 1 MiB 8 %
	// more (0014).
	partBytes = 256 << 10

	// Where more than one in selectShare of the groups are wanted all are read: a group that is
	// selected is placed and merged on the host (plan.Costs: Group) before it is finished (Put), so
	// that two in five would take as long. Looking for them takes some more.
	selectShare = 4

	// selectSlack is how many more groups than are wanted may leave: as many as cross in one piece
	// of 256 KiB, of rows of some words, and one in selectPart of the groups. Finding fewer takes
	// one more look at all groups.
	selectSlack = 4 << 10
	selectPart  = 64

	// valuesBytes is the size of a buffer for values: a small part of what a core has in its cache,
	// and enough for a copy, which takes 6 µs however small it is: 512 KiB cross in 10 µs.
	valuesBytes = 512 << 10
)
