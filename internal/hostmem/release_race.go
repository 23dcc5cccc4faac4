//go:build race

package hostmem

import "unsafe"

// release writes to the buffer, so that the race detector reports who uses
// it without being ordered before Free.
func release(p unsafe.Pointer, size int) { clear(unsafe.Slice((*byte)(p), size)) }
