package cuda

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// Size is a number of bytes, on the device or pinned.
type Size uint64

// String is n for people: 1.5 GiB.
func (n Size) String() string { return humanize.IBytes(uint64(n)) }

// Ptr is an address in device memory. Go code cannot follow it.
type Ptr uint64

// Span is a region of device memory. It is a value: it keeps nothing alive, and
// is valid for as long as the Memory or Pinned that it came from.
type Span struct {
	Ptr  Ptr
	Size Size
}

// Slice is the part of s from byte from up to byte to. Like a slice expression
// it panics where these are out of range.
func (s Span) Slice(from, to Size) Span {
	checkRange(from, to, s.Size)
	return Span{Ptr: s.Ptr + Ptr(from), Size: to - from}
}

func checkRange(from, to, size Size) {
	if from > to || to > size {
		panic(fmt.Sprintf("cuda: span [%d:%d] of %d bytes", from, to, size))
	}
}
