//go:build unix && !race && !invariant

package hostmem

import "unsafe"

func unmap(p unsafe.Pointer, n uintptr) { munmap(p, n) }
