//go:build !race

package hostmem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks for huge pages. It is a hint: its failure means nothing.
func adviseHuge(p unsafe.Pointer, n uintptr) {
	_ = unix.Madvise(unsafe.Slice((*byte)(p), n), unix.MADV_HUGEPAGE)
}

// remap makes the mapping of old bytes at p n bytes large, where it is or
// elsewhere. A mapping of huge pages moves from one multiple of their size to
// another, since the kernel would split them otherwise.
func remap(p unsafe.Pointer, old, n uintptr) (unsafe.Pointer, error) {
	if old < hugeFrom {
		return unix.MremapPtr(p, old, nil, n, unix.MREMAP_MAYMOVE)
	}
	if q, err := unix.MremapPtr(p, old, nil, n, 0); err == nil {
		return q, nil
	}
	target, err := mapAligned(n, unix.PROT_NONE)
	if err != nil {
		return nil, err
	}
	// On a failure target is left alone: the kernel may have unmapped it, and
	// something else may lie there by now. It is addresses, not memory.
	return unix.MremapPtr(p, old, target, n, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED)
}
