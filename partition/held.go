package partition

// Held stands for rows that stay with their owner, in no page, until their partition is merged.
type Held interface {
	// Rows is how many of them belong to partition p.
	Rows(p int) int
	// Copy copies those of partition p to dst, end to end, which has room for them, and returns how
	// many there were. It may be called from several goroutines at once, once for each partition.
	Copy(dst []uint64, p int) (rows int)
}

// Hold adds rows that are held elsewhere to the buckets.
func (b *Buckets) Hold(h Held) { b.held = h }

// HeldRows is how many rows of partition p are held elsewhere.
func (b *Buckets) HeldRows(p int) int {
	if b.held == nil {
		return 0
	}
	return b.held.Rows(p)
}

// CopyHeld is Held.Copy of partition p.
func (b *Buckets) CopyHeld(dst []uint64, p int) (rows int) {
	if b.held == nil {
		return 0
	}
	return b.held.Copy(dst, p)
}
