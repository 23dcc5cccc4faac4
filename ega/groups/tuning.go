package groups

const (
	// fineSlots is how many slots there are for a fine bucket, or up to twice as many: few, that its rows are soon put in order, and enough
	// that numbers of buckets are a small part of the rows. A guess.
	fineSlots = 32

	// MostBits is the most of Config.Bits, and of fine buckets, whose numbers take 256 MiB then.
	MostBits = 26

	// placesShare: the numbers of buckets have up to one of so many parts of the memory beside the table. A guess.
	placesShare = 4

	// A piece that crosses is a share of a partition, so that the next one crosses while one is read, and pinning memory for it
	// takes no longer than that; but no less than what keeps the link busy. Guesses.
	readPieces = 4
	readLeast  = 256 << 10

	// DefaultReadBytes is what Config.ReadBytes mostly is: the link's full rate. A guess.
	DefaultReadBytes = 4 << 20

	// partBytes is about the most rows that are handed out at a time: what a core has in its
	// cache when it walks over them more than once. A guess.
	partBytes = 256 << 10

	// valuesBytes is the size of a buffer for values: a small part of what a core has in its cache, and enough for a copy. A guess.
	valuesBytes = 512 << 10
)
