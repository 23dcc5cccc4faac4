package partition

import (
	"errors"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/spill"
)

// BlockBytes is about the greatest size of a block. It is large enough for sequential disk access
// and for the start of a checksum or a codec to cost little, and small enough that many blocks can
// be open at a time. A row with longer values makes a longer block.
const BlockBytes = 256 << 10

const (
	// leastBlock is two pages of the system's cache.
	leastBlock = 8 << 10
	// blockShare is how many blocks fit the memory that merges them at least:
	// rows with one hash are sorted in it, and runs of them merged.
	blockShare = 32
)

// BlockBytesFor is about the size of blocks that are merged in so many bytes
// of memory; 0: no limit.
func BlockBytesFor(merge int64) int {
	if merge == 0 {
		return BlockBytes
	}
	return int(min(max(merge/blockShare, leastBlock), BlockBytes))
}

// Block is rows on disk.
type Block struct {
	extent spill.Extent
	Rows   int32
	// Long says that the values are longer than a block. Such a block is written in parts. The
	// page into which it is read draws the memory for it from a budget.
	Long bool
}

// Bytes is the size of a block in memory.
func (b Block) Bytes() int64 { return int64(b.extent.Raw) }

// Refs changes the words of a row that refer to values in an arena.
type Refs interface {
	// Move copies all values of a row to another place and makes the row
	// refer to the copies.
	Move(row []uint64, to arena.Putter) error
	// Rebase adds to all refs of a row.
	Rebase(row []uint64, add uint64)
}

// Disk spills the buckets of one owner. It has one file, and the memory to write blocks to it. One
// goroutine uses it, except for Read.
type Disk struct {
	open   func() (*spill.File, error)
	file   *spill.File // nil: nothing was written yet
	refs   Refs        // nil: rows refer to nothing
	stride int
	size   int // of a block, about

	rows    []uint64 // of the block being packed
	n       int      // words of rows in use
	section arena.Section
	block   []byte
	page    Page // a small block that is read to be compacted

	parts  spill.Extent // of the values that are on disk before the rest of the block is (long.go)
	failed error        // of writing them
}

// DiskBytes is about the most memory that a Disk takes, whatever the values: the block being
// packed, twice if rows refer to values, and the buffers of its file to write and to read.
const DiskBytes = 4 * BlockBytes

// NewDisk returns a disk that writes to the file that open gives when the
// first block is written, in blocks of about size bytes. refs is nil if rows
// refer to nothing.
func NewDisk(open func() (*spill.File, error), refs Refs, stride, size int) *Disk {
	return &Disk{open: open, refs: refs, stride: stride, size: size}
}

// Close closes the file, whose blocks are gone then.
func (d *Disk) Close() error {
	hostmem.Free(d.rows)
	d.rows = nil
	d.section.Free()
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}

// Write makes blocks of rows that lie one after the other and appends them to
// dst. The rows are changed: what they refer to has moved.
func (d *Disk) Write(dst []Block, rows []uint64) ([]Block, error) {
	for len(rows) > 0 {
		n, err := d.pack(rows)
		if err != nil {
			return dst, err
		}
		rows = rows[n:]
		if len(rows) > 0 || d.full() {
			if dst, err = d.Flush(dst); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// pack adds as many of the rows to the block as there is room for, and
// returns how many words they are.
func (d *Disk) pack(rows []uint64) (int, error) {
	if d.rows == nil {
		d.rows = hostmem.Make[uint64](max(d.size/8/d.stride, 1) * d.stride)
	}
	if d.refs == nil {
		n := copy(d.rows[d.n:], rows)
		d.n += n
		return n, nil
	}
	at := 0
	for ; at < len(rows) && !d.full(); at += d.stride {
		row := d.rows[d.n : d.n+d.stride]
		copy(row, rows[at:])
		if err := errors.Join(d.refs.Move(row, d), d.failed); err != nil {
			return at, err
		}
		d.n += d.stride
	}
	return at, nil
}

func (d *Disk) full() bool {
	return d.n == len(d.rows) || d.n*8+d.section.Len() >= d.size || d.parts.Raw > 0
}

// Flush writes the block being packed, if it has rows, and appends it to dst.
func (d *Disk) Flush(dst []Block) ([]Block, error) {
	if d.n == 0 {
		return dst, nil
	}
	if d.parts.Raw > 0 {
		return d.endLong(dst)
	}
	b := bytesOf(d.rows[:d.n])
	if d.refs != nil {
		d.block = append(append(d.block[:0], b...), d.section.Bytes()...)
		b = d.block
	}
	if err := d.begin(); err != nil {
		return dst, err
	}
	n := d.n / d.stride
	e, err := d.file.Append(b, n, d.stride)
	if err != nil {
		return dst, err
	}
	d.n = 0
	d.section.Reset()
	return append(dst, Block{extent: e, Rows: int32(n)}), nil
}

// begin makes the file, if there is none.
func (d *Disk) begin() (err error) {
	if d.file == nil {
		d.file, err = d.open()
	}
	return err
}

// Prefetch tells the system that the block will be read soon.
func (d *Disk) Prefetch(b Block) { d.file.Prefetch(b.extent) }

// Free gives the space of a block back.
func (d *Disk) Free(b Block) { d.file.Free(b.extent) }

// Page is a block that was read: its rows, whose refs are offsets into the
// section.
type Page struct {
	Rows    []uint64
	Section []byte

	// From is what memory for a long block is drawn from; nil: there is no limit.
	From budget.Lender

	buf  []byte
	long []byte // made by hostmem
}

// Read reads a block into p, reusing its memory. Several goroutines may read
// at once.
func (d *Disk) Read(b Block, p *Page) error {
	p.Free()
	if b.Long {
		return d.readLong(b, p)
	}
	var err error
	if p.buf, err = d.file.Read(b.extent, p.buf); err != nil {
		return err
	}
	n := int(b.Rows) * d.stride
	p.Rows = wordsOf(p.buf, n)
	p.Section = p.buf[8*n:]
	return nil
}

func wordsOf(b []byte, n int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
