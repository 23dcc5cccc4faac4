package partition

// InPlace stands for rows that stay with their owner, in no page, until their partition is merged.
type InPlace interface {
	// Rows is how many of them belong to partition p.
	Rows(p int) int
	// Copy copies those of partition p to dst, end to end, which has room for them, and returns how
	// many there were. It may be called from several goroutines at once, once for each partition.
	Copy(dst []uint64, p int) (rows int)
}

// AddInPlace adds rows that stay with their owner to the buckets.
func (b *Buckets) AddInPlace(rows InPlace) { b.inPlace = rows }

// InPlaceRows is how many rows of partition p stay with their owner.
func (b *Buckets) InPlaceRows(p int) int {
	if b.inPlace == nil {
		return 0
	}
	return b.inPlace.Rows(p)
}

// CopyInPlace is InPlace.Copy of partition p.
func (b *Buckets) CopyInPlace(dst []uint64, p int) (rows int) {
	if b.inPlace == nil {
		return 0
	}
	return b.inPlace.Copy(dst, p)
}
