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
	pool   *Pool
	shift  uint
	chains []chain
}

type chain struct {
	pages [][]uint64
	rows  int
}

// New returns 2^bits empty buckets whose pages come from pool.
func New(bits uint, pool *Pool) *Buckets {
	return &Buckets{pool: pool, shift: 64 - bits, chains: make([]chain, 1<<bits)}
}

// Scatter copies the rows of a tile to the ends of their buckets. On an
// error, the pool's, some of them may have been placed.
func (b *Buckets) Scatter(tile []uint64) error {
	stride := b.pool.Stride
	for len(tile) > 0 {
		row := tile[:stride]
		tile = tile[stride:]
		c := &b.chains[row[0]>>b.shift]
		if c.rows == len(c.pages)<<b.pool.PageBits {
			page, err := b.pool.get()
			if err != nil {
				return err
			}
			c.pages = append(c.pages, page)
		}
		last := &c.pages[len(c.pages)-1]
		*last = append(*last, row...)
		c.rows++
	}
	return nil
}

// Partitions is the number of partitions.
func (b *Buckets) Partitions() int { return len(b.chains) }

// Bits is the number of hash bits that choose the partition.
func (b *Buckets) Bits() uint { return 64 - b.shift }

// Rows is how many rows partition p holds.
func (b *Buckets) Rows(p int) int { return b.chains[p].rows }

// Pages returns the pages of partition p, in the order they were filled.
func (b *Buckets) Pages(p int) [][]uint64 { return b.chains[p].pages }

// Release gives the pages of partition p back to the pool.
func (b *Buckets) Release(p int) {
	b.pool.put(b.chains[p].pages)
	b.chains[p] = chain{}
}
