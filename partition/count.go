package partition

const (
	// bucketBytes is how large the groups of a partition should be: with the
	// directory that finds them they stay in the second-level cache while
	// they are merged and put out. Measured in docs/experiments/0001.
	bucketBytes = 512 << 10

	minBits = 4
	// maxBits limits the pages that are filled at a time: 4096 for each worker.
	maxBits = 12

	// MostOpenBytes is the most that pages take which one worker is filling: a page is up to twice
	// PageBytes, unless a row is larger.
	MostOpenBytes = 2 * PageBytes << maxBits
)
