package partition

const (
	// bucketBytes is how large the groups of a partition should be: with the
	// directory that finds them they stay in the second-level cache while
	// they are merged and put out. Measured in docs/experiments/0001.
	bucketBytes = 512 << 10

	minBits = 4
	// maxBits bounds the pages being filled at a time: 4096 for each worker.
	maxBits = 12
)

// Bits is the number of hash bits that divide groups groups, each a row of
// rowBytes bytes, into partitions of a good size.
func Bits(groups float64, rowBytes int) uint {
	return Level{Groups: groups, RowBytes: int64(rowBytes), Left: 64}.Plan().Bits
}
