package arrow18

import (
	memory15 "github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// lease is the allocator of a buffer whose memory belongs to a buffer of the other version: to free
// it is to let go of that one. Both versions call it in the same way.
type lease struct{ owner interface{ Release() } }

func (l lease) Free([]byte) { l.owner.Release() }

func (lease) Allocate(int) []byte { panic("arrow18: a shared buffer is never written to") }

func (lease) Reallocate(int, []byte) []byte { panic("arrow18: a shared buffer is never written to") }

// buffers15 is SHARED; the caller releases what is not nil.
func buffers15(all []*memory.Buffer) []*memory15.Buffer {
	shared := make([]*memory15.Buffer, len(all))
	for i, b := range all {
		if b != nil {
			b.Retain()
			shared[i] = memory15.NewBufferWithAllocator(b.Bytes(), lease{b})
		}
	}
	return shared
}

// buffers18 is SHARED; the caller releases what is not nil.
func buffers18(all []*memory15.Buffer) []*memory.Buffer {
	shared := make([]*memory.Buffer, len(all))
	for i, b := range all {
		if b != nil {
			b.Retain()
			shared[i] = memory.NewBufferWithAllocator(b.Bytes(), lease{b})
		}
	}
	return shared
}

// releaser is a pointer to what counts its references.
type releaser interface {
	comparable
	Release()
}

func releaseAll[R releaser](all []R) {
	var none R
	for _, r := range all {
		if r != none {
			r.Release()
		}
	}
}
