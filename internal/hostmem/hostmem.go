// Package hostmem allocates large host buffers that are read and written at
// random: hash tables and pages of partitions.
//
// They are Go memory, freed by the garbage collector; but the kernel is asked
// to back them with huge pages, where it knows them. A table of tens of
// megabytes then needs dozens of entries of the TLB instead of thousands, and
// touching it for the first time costs one page fault for 2 MiB instead of
// 512. Measured in docs/experiments/0001.
package hostmem

import "unsafe"

// hugePage is the size of the pages asked for, and the alignment that they
// need.
const hugePage = 2 << 20

// Make returns n zeros.
func Make[T uint32 | uint64](n int) []T {
	s := make([]T, n)
	size := n * int(unsafe.Sizeof(s[0]))
	if size >= 2*hugePage { // else it may hold no whole huge page
		advise(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size))
	}
	return s
}
