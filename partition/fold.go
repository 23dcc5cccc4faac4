package partition

// This file is how small blocks become larger ones. Who has little memory, or much of it full of
// values, spills partitions of a few rows each, again and again; the lists of such blocks would
// take more memory than what is spilled makes free.
//
// BLOCKS-FOLD: of the blocks that a partition lists, fewer than mostSmall side by side are small.
//
// What small blocks take on disk is not given back before the file is closed, since they leave no
// hole.

const (
	// smallBlock is below what a list of blocks is little beside: 48 bytes are more than 1 % of it.
	// Pages that are more than half full make no block as small.
	smallBlock = leastBlock / 2
	// mostSmall is how many small blocks are read and written as one: few enough that those of a
	// hundred partitions are listed in 150 KiB; enough that the rows of blocks of 100 bytes are
	// written three times.
	mostSmall = 32
)

// fold writes the small blocks at the end of a partition's list again, as large ones, if they are
// many. After an error the list is as it was.
func (d *Disk) fold(blocks []Block) ([]Block, error) {
	first := len(blocks)
	for first > 0 && blocks[first-1].Bytes() < smallBlock {
		first--
	}
	if len(blocks)-first < mostSmall {
		return blocks, nil
	}
	folded, err := d.rewrite(blocks[first:])
	if err != nil {
		return blocks, err
	}
	for _, b := range blocks[first:] {
		d.Free(b)
	}
	return append(blocks[:first], folded...), nil
}

// rewrite writes the rows of blocks again, in as few blocks as hold them.
func (d *Disk) rewrite(blocks []Block) (dst []Block, err error) {
	for _, b := range blocks {
		if err = d.Read(b, &d.page); err != nil {
			return dst, err
		}
		bytes := d.n*8 + d.section.Len() + int(b.Bytes())
		if d.n+len(d.page.Rows) > len(d.rows) || bytes > d.size {
			if dst, err = d.Flush(dst); err != nil {
				return dst, err
			}
		}
		d.packPage()
	}
	return d.Flush(dst)
}

// packPage adds the rows of d.page, for which there is room, with their values to the block being
// packed.
func (d *Disk) packPage() {
	rows := d.rows[d.n : d.n+copy(d.rows[d.n:], d.page.Rows)]
	d.n += len(rows)
	if d.refs == nil {
		return
	}
	add := d.section.Append(d.page.Section)
	for ; len(rows) > 0; rows = rows[d.stride:] {
		d.refs.Rebase(rows[:d.stride], add)
	}
}
