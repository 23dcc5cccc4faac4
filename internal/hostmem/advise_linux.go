package hostmem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// advise asks for huge pages for the whole huge pages within b. It is a hint:
// its failure means nothing.
func advise(b []byte) {
	lead := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1))
	if whole := (len(b) - lead) &^ (hugePage - 1); lead < len(b) && whole > 0 {
		_ = unix.Madvise(b[lead:lead+whole], unix.MADV_HUGEPAGE)
	}
}
