//go:build unix && !linux && !race

package hostmem

import (
	"errors"
	"unsafe"
)

func adviseHuge(unsafe.Pointer, uintptr) {}

// remap is left to a copy: NetBSD's mremap has other terms, others have none.
func remap(unsafe.Pointer, uintptr, uintptr) (unsafe.Pointer, error) {
	return nil, errors.ErrUnsupported
}
