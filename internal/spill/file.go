package spill

import (
	"fmt"
	"math"
	"sync"

	"github.com/gagg-dev/gagg/internal/hostmem"
)

// fsBlock is the unit in which file systems can give bytes in the middle of
// a file back.
const fsBlock = 4096

// File is an appended file of blocks. One goroutine appends; reading,
// prefetching, freeing and closing may overlap with it and each other.
type File struct {
	space  *Space
	number uint32
	handle Handle

	writing sync.Mutex // held by Append; guards the next three
	buf     []byte     // header and payload of the block being written
	encoder encoder
	seq     uint32 // number of the next block

	mu      sync.Mutex // guards the rest; never held while data is written or read
	closed  bool
	end     int64     // where the next block goes
	freed   []hole    // blocks that are not needed again and still lie on disk
	listed  int64     // blocks that somebody may have in a list
	held    int64     // bytes that count as used
	memory  int64     // bytes of all buffers
	readers []*reader // not in use
}

// MemoryBytes returns the bytes of the buffers that the file holds: one for
// Append and one for each of the Reads that there have been at once.
func (f *File) MemoryBytes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.memory
}

// BufferBytes returns the most that a buffer holds if no block has more than the given bytes: a
// block larger than mostWhole has parts. A file that is appended to, and read by one goroutine at
// a time, has two of them.
func BufferBytes(block int) int64 { return int64(min(block, mostWhole)) + headerSize + codedRoom }

// grow returns a buffer of at least n bytes, in place of b.
func (f *File) grow(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:cap(b)]
	}
	f.mu.Lock()
	f.memory += int64(n - cap(b))
	f.mu.Unlock()
	free(b)
	return hostmem.Make[byte](n)
}

// free frees what grow returned.
func free(b []byte) { hostmem.Free(b[:cap(b)]) }

// Append writes a block: rows of stride 64-bit words each, which are its
// first rows*stride*8 bytes, and any bytes behind them. The block is not
// kept. After an error the file is as it was before. A large one has parts: see AppendPart.
func (f *File) Append(block []byte, rows, stride int) (Extent, error) {
	if err := checkShape(len(block), rows, stride); err != nil {
		return Extent{}, err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if len(block) > mostWhole {
		return f.appendParts(block, rows, stride)
	}
	return f.append(block, rows, stride, false)
}

// append writes a block, or a part of one. f.writing is held.
func (f *File) append(block []byte, rows, stride int, part bool) (Extent, error) {
	if f.isClosed() { // and stays as it is, since closing waits for f.writing
		return Extent{}, ErrClosed
	}
	f.buf = f.grow(f.buf, len(block)+headerSize+codedRoom)
	coded, h := f.encoder.encode(f.buf[:headerSize], block, rows, stride)
	h.part = part
	h.rows, h.stride = uint32(rows), uint16(stride)
	h.seq, h.file = f.seq, f.number
	h.raw, h.stored = uint32(len(block)), uint32(len(coded))
	return f.write(coded, &h)
}

func checkShape(n, rows, stride int) error {
	if uint64(n) > MaxBlock {
		return fmt.Errorf("spill: a block of %d bytes, more than %d", n, int64(MaxBlock))
	}
	if rows < 0 || stride < 0 || stride > math.MaxUint16 || stride > 0 && rows > n/8/stride {
		return fmt.Errorf("spill: %d rows of %d words do not fit a block of %d bytes", rows, stride, n)
	}
	return nil
}

// write seals b, whose payload is there, and puts it behind the other blocks.
func (f *File) write(b []byte, h *header) (Extent, error) {
	n := int64(h.stored)
	off, err := f.allocate(n)
	if err != nil {
		return Extent{}, err
	}
	h.off = off
	h.seal(b, f.space.seed)
	err = writeAll(f.handle, b, off)
	if isFull(err) && f.space.reclaim() {
		err = writeAll(f.handle, b, off)
	}
	if err != nil {
		f.giveBack(n)
		return Extent{}, f.space.failure(err, "write")
	}
	f.seq++
	f.mu.Lock()
	f.end = off + n
	if !h.part {
		f.list(1)
	}
	f.mu.Unlock()
	f.space.written.Add(n)
	f.space.raw.Add(int64(h.raw))
	return Extent{Off: off, Stored: h.stored, Raw: h.raw}, nil
}

// allocate draws n bytes of disk for a block and returns its offset.
func (f *File) allocate(n int64) (int64, error) {
	err := f.space.disk.Draw(n)
	if err != nil && f.space.reclaim() {
		err = f.space.disk.Draw(n)
	}
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held += n
	return f.end, nil
}

// giveBack undoes allocate.
func (f *File) giveBack(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held -= n
	f.space.disk.Release(n)
}

// Prefetch says that the block is read soon.
func (f *File) Prefetch(e Extent) { f.handle.Prefetch(e.Off, int64(e.Stored)) }

// hole is the part of a freed block that a file system can give back: whole
// blocks of its own.
type hole struct{ off, n int64 }

// Free says that a block is not needed again. Its bytes are given back to the
// disk and the limit when these run out, as far as the file system can, and
// else when the file is closed. Giving them back at once would cost more than
// the block: a file system writes what it still holds in memory before it
// punches a hole into it.
func (f *File) Free(e Extent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := (e.Off + fsBlock - 1) &^ (fsBlock - 1)
	n := (e.Off+int64(e.Stored))&^(fsBlock-1) - from
	switch {
	case f.closed:
	case n > 0:
		f.freed = append(f.freed, hole{from, n})
	default:
		f.list(-1)
	}
}

// reclaim gives freed blocks back, and reports whether there were any.
func (f *File) reclaim() (some bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	for _, h := range f.freed {
		if f.handle.Punch(h.off, h.n) == nil {
			f.held -= h.n
			f.space.disk.Release(h.n)
			some = true
		}
	}
	f.list(-len(f.freed))
	f.freed = nil
	return some
}

// Close closes the file, which removes it, and gives its bytes back to the
// limit. A second call does nothing.
func (f *File) Close() error {
	f.space.mu.Lock()
	defer f.space.mu.Unlock()
	delete(f.space.files, f)
	if err := f.close(); err != nil {
		return f.space.failure(err, "close")
	}
	return nil
}

func (f *File) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// close waits for an Append. f.space.mu is held.
func (f *File) close() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	free(f.buf)
	for _, r := range f.readers {
		free(r.buf)
	}
	f.buf, f.readers, f.memory = nil, nil, 0
	f.space.disk.Release(f.held)
	f.held, f.freed = 0, nil
	f.list(-int(f.listed))
	return f.space.drop(f.number, f.handle)
}
