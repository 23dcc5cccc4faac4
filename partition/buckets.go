package partition

import (
	"math/bits"
	"sync"
)

// Buckets is the rows placed by one owner.
type Buckets struct {
	pool  *Pool
	disk  *Disk // nil: there is none to spill to
	skip  uint  // hash bits that the levels above have spent
	shift uint

	free    [][]uint64   // by partition: what is left of its last page
	pages   [][][]uint64 // by partition: whole pages, the last one filled but for free
	blocks  [][]Block    // by partition: its rows on disk
	inPlace InPlace      // rows that are in neither; nil: there are none

	taking sync.Mutex // of blocks: partitions are prefetched by others than their owners

	// by partition, below level 0: bits that some hash has, and every hash; see SharedBits
	some, every []uint64
}

// New returns 2^n empty buckets for rows that share their top skip hash bits,
// with pages from pool. They can be spilled if there is a disk.
func New(skip, n uint, pool *Pool, disk *Disk) *Buckets {
	b := &Buckets{
		pool: pool, disk: disk, skip: skip, shift: 64 - n,
		free: make([][]uint64, 1<<n), pages: make([][][]uint64, 1<<n), blocks: make([][]Block, 1<<n),
	}
	if skip > 0 {
		b.some, b.every = make([]uint64, 1<<n), make([]uint64, 1<<n)
		for p := range b.every {
			b.every[p] = ^uint64(0)
		}
	}
	return b
}

// Scatter copies rows to the ends of their buckets. It returns
// how many it placed, which is all of them unless the pool refused a page.
func (b *Buckets) Scatter(rows []uint64) (placed int, err error) {
	return b.scatter(rows, rows, b.pool.Stride)
}

// ScatterBy is Scatter for rows that do not begin with their hashes. hashes has one hash for each
// row.
func (b *Buckets) ScatterBy(hashes, rows []uint64) (placed int, err error) {
	return b.scatter(hashes, rows, 1)
}

// scatter is ScatterBy, where hashes has a hash every step words.
func (b *Buckets) scatter(hashes []uint64, rows []uint64, step int) (placed int, err error) {
	stride := b.pool.Stride
	if b.some != nil {
		for i := 0; i < len(hashes); i += step {
			b.noteHash(hashes[i])
		}
	}
	for rows = rows[:len(hashes)/step*stride]; len(rows) > 0; {
		n := scatter(b.free, hashes, step, rows, stride, b.skip, b.shift)
		placed += n
		if rows = rows[n*stride:]; len(rows) == 0 {
			break
		}
		hashes = hashes[n*step:]
		if err := b.begin(hashes[0] << b.skip >> b.shift); err != nil {
			return placed, err
		}
	}
	return placed, nil
}

// begin begins a page of a bucket whose last one is full.
func (b *Buckets) begin(p uint64) error {
	page, err := b.pool.Get()
	if err != nil {
		return err
	}
	b.pages[p] = append(b.pages[p], page)
	b.free[p] = page
	return nil
}

// Place copies a row to the end of a bucket that the caller chooses, whatever its hash.
func (b *Buckets) Place(row []uint64, p int) error {
	if len(b.free[p]) < len(row) {
		if err := b.begin(uint64(p)); err != nil {
			return err
		}
	}
	b.free[p] = b.free[p][copy(b.free[p], row):]
	return nil
}

// runRows is how many rows ScatterRuns examines together. They are few beside a run of thousands,
// of which only the ends are missed then.
const runRows = 64

// ScatterRuns is Scatter for rows that come in runs for one bucket, as most rows from a device do.
// It copies runs page by page, in two thirds of the time. Rows outside runs take up to a tenth
// longer (docs/experiments/0012).
func (b *Buckets) ScatterRuns(rows []uint64) (placed int, err error) {
	stride := b.pool.Stride
	for len(rows) > 0 {
		some, n := rows[:min(len(rows), runRows*stride)], 0
		if b.alike(some) {
			n, err = b.scatterRun(rows)
		} else {
			n, err = b.Scatter(some)
		}
		placed += n
		if err != nil {
			return placed, err
		}
		rows = rows[n*stride:]
	}
	return placed, nil
}

// alike examines a few of the rows and reports whether they are for one bucket. Rows in random
// order hardly ever are.
func (b *Buckets) alike(rows []uint64) bool {
	n := len(rows) / b.pool.Stride
	at := func(row int) uint64 { return rows[row*b.pool.Stride] << b.skip >> b.shift }
	p := at(0)
	return n == runRows && at(n-1) == p && at(n/2) == p && at(n/4) == p && at(3*n/4) == p
}

// scatterRun copies rows from the first one on that are for its bucket, up to the end of a page.
func (b *Buckets) scatterRun(rows []uint64) (placed int, err error) {
	stride := b.pool.Stride
	p := rows[0] << b.skip >> b.shift
	if len(b.free[p]) < stride {
		if err := b.begin(p); err != nil {
			return 0, err
		}
	}
	dst := b.free[p]
	most := min(len(rows), len(dst)/stride*stride)
	n := stride
	for n < most && rows[n]<<b.skip>>b.shift == p {
		n += stride
	}
	if b.some != nil {
		b.note(rows[:n])
	}
	b.free[p] = dst[copy(dst, rows[:n]):]
	return n / stride, nil
}

// note updates the bits for SharedBits.
func (b *Buckets) note(rows []uint64) {
	for ; len(rows) > 0; rows = rows[b.pool.Stride:] {
		b.noteHash(rows[0])
	}
}

func (b *Buckets) noteHash(h uint64) {
	p := h << b.skip >> b.shift
	b.some[p] |= h
	b.every[p] &= h
}

// SharedBits is how many top hash bits all rows of partition p share, 64 if their hashes are
// equal. At level 0 the rows are not examined: the result is the number of bits that chose the
// partition.
func (b *Buckets) SharedBits(p int) uint {
	if b.some == nil {
		return b.skip + b.Bits()
	}
	return uint(bits.LeadingZeros64(b.some[p] &^ b.every[p]))
}

// Partitions is the number of partitions.
func (b *Buckets) Partitions() int { return len(b.pages) }

// Bits is the number of hash bits that choose the partition at this level.
func (b *Buckets) Bits() uint { return 64 - b.shift }

// Rows is how many rows of partition p are in memory.
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

// Blocks is the blocks of partition p, in the order they were written.
func (b *Buckets) Blocks(p int) []Block { return b.blocks[p] }

// PartitionRows is how many rows partition p has: in memory, on disk and with their owner.
func (b *Buckets) PartitionRows(p int) int64 {
	n := int64(b.Rows(p) + b.InPlaceRows(p))
	for _, blk := range b.blocks[p] {
		n += int64(blk.Rows)
	}
	return n
}

// AllRows is how many rows all partitions have.
func (b *Buckets) AllRows() (n int64) {
	for p := range b.pages {
		n += b.PartitionRows(p)
	}
	return n
}

// TakeBlocks is Blocks, but from now on the caller has to free the blocks.
func (b *Buckets) TakeBlocks(p int) []Block {
	b.taking.Lock()
	defer b.taking.Unlock()
	blocks := b.blocks[p]
	b.blocks[p] = nil
	return blocks
}

// Disk returns the disk with the blocks.
func (b *Buckets) Disk() *Disk { return b.disk }

// Prefetch tells the system that the blocks of partition p will be read soon, unless they were
// taken.
func (b *Buckets) Prefetch(p int) {
	b.taking.Lock()
	defer b.taking.Unlock()
	for _, blk := range b.blocks[p] {
		b.disk.Prefetch(blk)
	}
}

// Release gives the pages of partition p back to the pool.
func (b *Buckets) Release(p int) {
	b.pool.put(b.pages[p])
	b.pages[p], b.free[p] = nil, nil
}
