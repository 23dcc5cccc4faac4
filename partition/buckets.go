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

import "math/bits"

// pageBytes is about the size of a page (its rows are a power of two): large enough that a chain is mostly whole
// cache lines and few allocations, small enough that 256 half-empty last
// pages for each worker do not count (8 MiB).
const pageBytes = 32 << 10

// Buckets is the rows placed by one worker.
type Buckets struct {
	Stride   int  // words a row
	PageBits uint // a page has 2^PageBits rows
	shift    uint
	chains   []chain
	grow     func(bytes int64) error
}

type chain struct {
	pages [][]uint64 // each at most Stride<<PageBits words long
	rows  int
}

// New returns 2^partitionBits empty buckets for rows of stride words. grow is told of
// each page before it is allocated, and may refuse.
func New(partitionBits uint, stride int, grow func(bytes int64) error) *Buckets {
	return &Buckets{
		Stride:   stride,
		PageBits: uint(bits.Len(uint(pageBytes / 8 / stride))),
		shift:    64 - partitionBits,
		chains:   make([]chain, 1<<partitionBits),
		grow:     grow,
	}
}

// Scatter copies the rows of a tile to the ends of their buckets. On an
// error, which is grow's, some of them may have been placed.
func (b *Buckets) Scatter(tile []uint64) error {
	for len(tile) > 0 {
		row := tile[:b.Stride]
		tile = tile[b.Stride:]
		c := &b.chains[row[0]>>b.shift]
		if c.rows == len(c.pages)<<b.PageBits {
			if err := b.addPage(c); err != nil {
				return err
			}
		}
		last := &c.pages[len(c.pages)-1]
		*last = append(*last, row...)
		c.rows++
	}
	return nil
}

func (b *Buckets) addPage(c *chain) error {
	words := b.Stride << b.PageBits
	if err := b.grow(int64(words) * 8); err != nil {
		return err
	}
	c.pages = append(c.pages, make([]uint64, 0, words))
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

// Release drops the pages of partition p and returns how many bytes they had.
func (b *Buckets) Release(p int) int64 {
	n := int64(len(b.chains[p].pages)) * int64(b.Stride<<b.PageBits) * 8
	b.chains[p] = chain{}
	return n
}
