// Package partition divides groups into partitions by the top bits of their
// hash and keeps each partition as a chain of pages.
//
// Terms: a row is one group, Stride 64-bit words, of which the first is the
// hash of its key; a tile is some rows that lie one after the other; a
// bucket is the rows of one partition that one worker has placed, a chain of
// pages of 2^PageBits rows each, all full but the last.
//
// HASH-BITS: the partition of a row is the top Bits bits of its hash; tables
// within a partition use the bits below them.
//
// A Buckets value belongs to one worker while it is filled. Once all workers
// have stopped filling, partition p of all of them together is read by
// whoever merges p: pages may then be changed in place, each row by the one
// goroutine that owns its partition.
package partition

// Buckets is the rows placed by one worker.
type Buckets struct {
	pool  *Pool
	shift uint
	free  [][]uint64   // by partition: what is left of its last page
	pages [][][]uint64 // by partition: whole pages, the last one filled but for free
}

// New returns 2^bits empty buckets whose pages come from pool.
func New(bits uint, pool *Pool) *Buckets {
	return &Buckets{pool: pool, shift: 64 - bits, free: make([][]uint64, 1<<bits), pages: make([][][]uint64, 1<<bits)}
}

// Scatter copies the rows of a tile to the ends of their buckets. On an
// error, the pool's, some of them may have been placed.
//
// The loop over words is faster than copy for rows of a cache line or two,
// and what it needs of a partition is 24 bytes, so that those of a thousand
// partitions stay in the first-level cache.
func (b *Buckets) Scatter(tile []uint64) error {
	stride := b.pool.Stride
	for ; len(tile) > 0; tile = tile[stride:] {
		p := tile[0] >> b.shift
		dst := b.free[p]
		if len(dst) < stride {
			page, err := b.pool.get()
			if err != nil {
				return err
			}
			b.pages[p] = append(b.pages[p], page)
			dst = page
		}
		b.free[p] = dst[stride:]
		for i, w := range tile[:stride] { //nolint:staticcheck // a copy is a call: 4 % of q10
			dst[i] = w
		}
	}
	return nil
}

// Partitions is the number of partitions.
func (b *Buckets) Partitions() int { return len(b.pages) }

// Bits is the number of hash bits that choose the partition.
func (b *Buckets) Bits() uint { return 64 - b.shift }

// Rows is how many rows partition p holds.
func (b *Buckets) Rows(p int) int {
	return len(b.pages[p])<<b.pool.PageBits - len(b.free[p])/b.pool.Stride
}

// Pages appends the pages of partition p to dst, in the order they were
// filled, each as long as its rows.
func (b *Buckets) Pages(dst [][]uint64, p int) [][]uint64 {
	dst = append(dst, b.pages[p]...)
	if n := len(dst); len(b.free[p]) > 0 {
		dst[n-1] = dst[n-1][:len(dst[n-1])-len(b.free[p])]
	}
	return dst
}

// Release gives the pages of partition p back to the pool.
func (b *Buckets) Release(p int) {
	b.pool.put(b.pages[p])
	b.pages[p], b.free[p] = nil, nil
}
