// Package hostmem allocates the large host buffers of a run: hash tables,
// pages of partitions, chunks of arenas, blocks to read and write.
//
// They lie off the Go heap, in anonymous mappings of their own, and are freed
// by Free, not by the garbage collector. The collector would let a heap of a
// limited size grow to twice of it before it looks, and would give memory
// back to the system when it likes; here resident memory is what was made and
// touched and not yet freed, so that a budget that counts buffers limits the
// process.
//
// Buffers of fewer than 256 KiB are Go memory: a mapping of its own costs a
// small buffer more than it saves. From 2 MiB on a mapping begins at a
// multiple of 2 MiB and the kernel is asked for huge pages, where it knows
// them: a table of tens of megabytes then needs dozens of entries of the TLB
// instead of thousands (docs/experiments/0001).
//
// Measured on two busy cores of a virtual AMD EPYC, Linux 6.18: to make a
// buffer, touch it all and free it costs 0.4 µs for each KiB of a buffer of 256
// KiB or 1 MiB, almost all of it page faults, and 0.03 to 0.12 µs with huge
// pages; to grow one from 32 to 64 MiB costs 0.1 ms, by a copy 7.5 ms. So where
// more may be resident than what buffers have (Slack), those of 32 KiB to 2 MiB
// lie in huge pages that they share, and are used again (hugeHeap): real
// queries on 16 cores take a tenth less time with it (docs/experiments/0017).
//
// MADE-FREED: Free and Grow take a slice of Make or Grow, from its first
// element on and with all its capacity (its length does not matter), once.
// The slice, and each part of it, is invalid from then on: to use it is a
// fault that ends the process, or worse, damages a buffer made later.
//
// Two builds find such mistakes. Under -tags invariant every buffer, small
// ones too, is a mapping, the address of a freed one faults and is not used
// again for a while, Grow always moves, and what breaks MADE-FREED panics.
// Under -race buffers are Go memory, which the race detector watches, and
// Free writes to it, so that a use at the same time is reported.
package hostmem

import (
	"math"
	"sync/atomic"
	"unsafe"
)

const (
	// mapFrom is the size from which a buffer is a mapping: some dozens of
	// pages, so that rounding to pages and two system calls do not count.
	mapFrom = 256 << 10
	// shareFrom is the size from which a buffer shares huge pages, where there is slack.
	shareFrom = unitBytes
	unitBytes = 32 << 10
	// hugeFrom is the size from which huge pages are asked for.
	hugeFrom = hugePage
	// hugePage is the size and the alignment of the pages asked for.
	hugePage = 2 << 20
)

// Element is what a buffer consists of: nothing that points into the Go heap,
// since the garbage collector does not look into mappings.
type Element interface {
	byte | uint16 | uint32 | uint64
}

// Make returns n zeros, with no capacity beyond them. There is no error: when
// the system refuses a mapping (it does for want of addresses or of mappings,
// hardly ever for want of memory, which it finds out about later) the buffer
// is Go memory, and if there is none either the Go runtime ends the process,
// as for any other allocation.
func Make[T Element](n int) []T {
	if n > 0 && n <= math.MaxInt/int(unsafe.Sizeof(T(0))) { // else make says what is wrong
		if p := acquire(n * int(unsafe.Sizeof(T(0)))); p != nil {
			return unsafe.Slice((*T)(p), n)
		}
	}
	return make([]T, n)
}

// left is whether Leave was called.
var left atomic.Bool

// Leave leaves all buffers to the system, for a process that ends next: Free
// does nothing from now on. To unmap a gigabyte in small pages takes 70 ms on
// a machine of 16 cores, to end with it next to nothing.
func Leave() { left.Store(true) }

// Slack lets so many bytes more be resident beside all buffers, or fewer if
// negative. With slack, buffers of 32 KiB or more share huge pages, and what is
// freed is kept and used again.
func Slack(bytes int64) { allow(bytes) }

// Free gives the memory of s back to the system at once, or within the slack
// to other buffers. See MADE-FREED. A slice without capacity is nothing to free.
func Free[T Element](s []T) {
	if cap(s) > 0 && !left.Load() {
		release(unsafe.Pointer(unsafe.SliceData(s)), cap(s)*int(unsafe.Sizeof(s[0])))
	}
}

// Grow returns n elements that begin with all those of s, up to its capacity,
// and go on with zeros. s is freed: see MADE-FREED. Large buffers are moved
// by their page tables where the system can, so that no memory is held or
// touched twice. When s has the capacity for n elements, it stays valid and
// Grow returns the first n of it.
func Grow[T Element](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	elem := int(unsafe.Sizeof(T(0)))
	if cap(s) > 0 && n <= math.MaxInt/elem {
		if p := enlarge(unsafe.Pointer(unsafe.SliceData(s)), cap(s)*elem, n*elem); p != nil {
			return unsafe.Slice((*T)(p), n)
		}
	}
	grown := Make[T](n)
	copy(grown, s[:cap(s)])
	Free(s)
	return grown
}
