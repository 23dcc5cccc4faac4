package partition

import "errors"

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

// Spill writes partitions to disk until at least want bytes of pages are
// free, or none is left. It takes the last partitions first: what stays in
// memory is then what is merged first, before it must be moved.
func (b *Buckets) Spill(want int64) error {
	if b.disk == nil {
		return ErrNoDisk
	}
	for p := len(b.pages) - 1; p >= 0 && want > 0; p-- {
		want -= int64(len(b.pages[p])) * int64(b.pool.words()) * 8
		if err := b.spill(p); err != nil {
			return err
		}
	}
	return nil
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
	return nil
}
