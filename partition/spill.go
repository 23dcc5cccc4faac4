package partition

import (
	"cmp"
	"errors"
	"slices"
)

// ErrNoDisk says that buckets cannot be spilled.
var ErrNoDisk = errors.New("no disk to spill to")

// Bytes is the memory that the rows of all partitions take.
func (b *Buckets) Bytes() int64 {
	n := 0
	for _, pages := range b.pages {
		n += len(pages)
	}
	return int64(n) * int64(b.pool.words()) * 8
}

// Spill writes partitions to disk until at least want bytes of pages are free, or none is left. It
// takes those with the most pages first. If some partitions stayed in memory for good, they would
// fill it in the end. The others would be spilled a few rows at a time, and the lists of such
// small blocks outgrow the memory (docs/experiments/0004). Among partitions with as many pages
// Spill takes the last ones: those that stay are merged first, before they have to be spilled.
func (b *Buckets) Spill(want int64) error {
	if b.disk == nil {
		return ErrNoDisk
	}
	for _, p := range b.fullest() {
		if want <= 0 {
			break
		}
		want -= int64(len(b.pages[p])) * int64(b.pool.words()) * 8
		if err := b.spill(p); err != nil {
			return err
		}
	}
	return nil
}

// fullest returns the numbers of all partitions, those with the most pages first.
func (b *Buckets) fullest() []int {
	order := make([]int, len(b.pages))
	for p := range order {
		order[p] = p
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(len(b.pages[y])-len(b.pages[x]), y-x)
	})
	return order
}

// spill writes the pages of partition p to disk.
func (b *Buckets) spill(p int) (err error) {
	if len(b.pages[p]) == 0 {
		return nil
	}
	blocks := b.blocks[p]
	for i, page := range b.pages[p] {
		if i == len(b.pages[p])-1 {
			page = page[:len(page)-len(b.free[p])]
		}
		if blocks, err = b.disk.Write(blocks, page); err != nil {
			return err
		}
	}
	if b.blocks[p], err = b.disk.Flush(blocks); err != nil {
		return err
	}
	b.pool.put(b.pages[p])
	b.pages[p], b.free[p] = nil, nil
	b.blocks[p], err = b.disk.compact(b.blocks[p])
	return err
}
