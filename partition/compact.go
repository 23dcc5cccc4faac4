package partition

// This file turns small blocks into larger ones. An owner with little memory, or with much of it
// full of values, spills partitions of a few rows each, again and again. The lists of such blocks
// would take more memory than the spilling frees.
//
// BLOCKS-COMPACT: in the list of blocks of a partition, fewer than mostSmall adjacent blocks are
// small.
//
// The disk space of small blocks is freed only when the file is closed: they are too small for a
// hole in the file.

const (
	// smallBlock is the size below which a block is small: the 48 bytes of its entry in the list
	// are more than 1 % of it. Pages that are more than half full never make such a block.
	smallBlock = leastBlock / 2
	// mostSmall is how many small blocks are read and written as one. They are few enough that the
	// lists of a hundred partitions take 150 KiB, and so many that rows of blocks of 100 bytes are
	// written only three times.
	mostSmall = 32
)

// compact rewrites the small blocks at the end of a partition's list as large ones, if there are
// many. After an error the list is unchanged.
func (d *Disk) compact(blocks []Block) ([]Block, error) {
	first := len(blocks)
	for first > 0 && blocks[first-1].Bytes() < smallBlock {
		first--
	}
	if len(blocks)-first < mostSmall {
		return blocks, nil
	}
	compacted, err := d.rewrite(blocks[first:])
	if err != nil {
		return blocks, err
	}
	for _, b := range blocks[first:] {
		d.Free(b)
	}
	return append(blocks[:first], compacted...), nil
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
