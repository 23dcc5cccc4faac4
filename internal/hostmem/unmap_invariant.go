//go:build unix && !race && invariant

package hostmem

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// graves is how many freed mappings keep their addresses. The system would
// give the address of a freed buffer to the next one at once, and who still
// used the old slice would read that one's words instead of faulting.
const graves = 256

type grave struct {
	p unsafe.Pointer
	n uintptr
}

// buried is a ring of the mappings freed last.
var buried struct {
	sync.Mutex
	ring [graves]grave
	next int
}

// unmap gives the memory back and makes each use of its address fault.
func unmap(p unsafe.Pointer, n uintptr) {
	b := unsafe.Slice((*byte)(p), n)
	_ = unix.Madvise(b, unix.MADV_DONTNEED)
	_ = unix.Mprotect(b, unix.PROT_NONE)
	buried.Lock()
	defer buried.Unlock()
	oldest := &buried.ring[buried.next%graves]
	if oldest.p != nil {
		munmap(oldest.p, oldest.n)
	}
	*oldest = grave{p, n}
	buried.next++
}
