//go:build unix && !race

package hostmem

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// buffer is a buffer that is not yet freed.
type buffer struct {
	size  int      // bytes asked for
	heap  []uint64 // the buffer itself, where the system refused a mapping
	place place    // where it is in a huge page that it shares
}

// live knows the buffers by address: what Free is given says how large its
// slice is, but not whether it was mapped.
var live = struct {
	sync.Mutex
	at    map[unsafe.Pointer]buffer
	bytes int64 // of mappings
}{at: map[unsafe.Pointer]buffer{}}

// Live is the bytes of the mappings that were made and not freed, rounded up
// to pages: for tests that want a run to have freed all it made.
func Live() int64 {
	live.Lock()
	defer live.Unlock()
	return live.bytes
}

// acquire returns size zero bytes, or nil if a buffer so small is left to the
// Go heap.
func acquire(size int) unsafe.Pointer {
	if size >= shareFrom && size < hugePage && !invariant.Enabled {
		if p, dirty := shared.allocate(size); p.chunk != nil {
			p.zero(dirty)
			enter(p.data(), buffer{size: size, place: p})
			return p.data()
		}
	}
	if size < mapFrom && !invariant.Enabled {
		return nil
	}
	b := buffer{size: size}
	p, err := mapZeros(size)
	if err != nil {
		b.heap = make([]uint64, (size+7)/8)
		p = unsafe.Pointer(unsafe.SliceData(b.heap))
	}
	enter(p, b)
	return p
}

// release unmaps the buffer at p.
func release(p unsafe.Pointer, size int) {
	b, ok := leave(p, size)
	switch {
	case !ok || b.heap != nil:
	case b.place.chunk != nil:
		shared.free(b.place, b.size)
	default:
		unmap(p, pages(b.size))
	}
}

// enlarge makes the mapping at p size bytes large and returns where it is
// then, or nil if it is better made anew and copied: it is no mapping, the
// system has no mremap, or it becomes large enough for huge pages, which it
// was not placed and filled for.
func enlarge(p unsafe.Pointer, old, size int) unsafe.Pointer {
	if old < shareFrom || old < hugeFrom && size >= hugeFrom || invariant.Enabled {
		return nil
	}
	b, ok := leave(p, old)
	if !ok {
		return nil
	}
	if b.place.chunk != nil {
		q, dirty, ok := shared.extend(b.place, old, size)
		if ok {
			q.zero(dirty)
			enter(p, buffer{size: size, place: q})
			return p
		}
	} else if b.heap == nil {
		if q, err := remap(p, pages(old), pages(size)); err == nil {
			enter(q, buffer{size: size})
			return q
		}
	}
	enter(p, b)
	return nil
}

func enter(p unsafe.Pointer, b buffer) {
	live.Lock()
	defer live.Unlock()
	live.at[p] = b
	live.bytes += b.mapped()
}

// leave forgets the buffer of size bytes at p; it reports false for one that
// is Go memory, being small.
func leave(p unsafe.Pointer, size int) (buffer, bool) {
	live.Lock()
	defer live.Unlock()
	b, ok := live.at[p]
	invariant.Check(ok && b.size == size, "MADE-FREED: no whole buffer that is in use")
	delete(live.at, p)
	live.bytes -= b.mapped()
	return b, ok
}

func (b *buffer) mapped() int64 {
	if b.heap != nil {
		return 0
	}
	return int64(pages(b.size))
}

var pageSize = uintptr(os.Getpagesize())

// pages rounds size up to whole pages.
func pages(size int) uintptr { return (uintptr(size) + pageSize - 1) &^ (pageSize - 1) }

func mapZeros(size int) (unsafe.Pointer, error) {
	n := pages(size)
	if size < hugeFrom {
		return mmap(n, unix.PROT_READ|unix.PROT_WRITE)
	}
	p, err := mapAligned(n, unix.PROT_READ|unix.PROT_WRITE)
	if err == nil {
		adviseHuge(p, n)
	}
	return p, err
}

// mapAligned maps n bytes from a multiple of hugePage on: it maps so many
// more that there is one, and gives back what lies before and after.
func mapAligned(n uintptr, prot int) (unsafe.Pointer, error) {
	spare := hugePage - pageSize
	p, err := mmap(n+spare, prot)
	if err != nil {
		return nil, err
	}
	lead := -uintptr(p) & (hugePage - 1)
	aligned := unsafe.Add(p, lead)
	if lead > 0 {
		munmap(p, lead)
	}
	if spare > lead {
		munmap(unsafe.Add(aligned, n), spare-lead)
	}
	return aligned, nil
}

func mmap(n uintptr, prot int) (unsafe.Pointer, error) {
	return unix.MmapPtr(-1, 0, nil, n, prot, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// munmap cannot fail for whole pages of ours, but for want of mappings where
// it splits one: then the pages stay, and nobody knows them any more.
func munmap(p unsafe.Pointer, n uintptr) { _ = unix.MunmapPtr(p, n) }
