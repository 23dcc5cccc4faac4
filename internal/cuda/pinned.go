package cuda

import (
	"errors"
	"fmt"
	"unsafe"
)

// Pinned is host memory that the device reads and writes itself: what streams
// copy from and to, and what kernels reach at its device address. Any thread of
// its context may use it.
type Pinned struct {
	owned
	host   unsafe.Pointer // not Go's
	size   Size
	device Ptr
}

// PinnedSpan is a region of a Pinned. It is a value, valid until that is closed.
type PinnedSpan struct {
	memory *Pinned
	from   Size
	size   Size
}

// Flags of cuMemHostAlloc: pinned for all contexts, mapped into device memory.
const hostAllocPortableMapped = 1 | 2

// AllocPinned allocates n bytes, which must not be 0, on whole pages. The content
// is undefined. Pinning takes 0.3 ms a MiB. Whatever the system refuses it with
// (ulimit -l, a full machine) is ErrOutOfMemory: the caller goes on with pageable
// memory.
func (t *Thread) AllocPinned(n Size) (*Pinned, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	r := t.context.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&t.result)), uintptr(n), hostAllocPortableMapped)
	if r != success {
		return nil, t.context.fail(cuMemHostAlloc, r, fmt.Sprintf("allocate %v of pinned memory", n), pinningClass(r))
	}
	p := &Pinned{host: t.result.pointer(), size: n}
	p.own(t.context, kindPinned)
	r = t.context.call(cuMemHostGetDevicePointer, uintptr(unsafe.Pointer(&t.result)), uintptr(p.host), 0)
	if err := t.context.check(cuMemHostGetDevicePointer, r, "map pinned memory"); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.device = Ptr(t.result.word)
	return p, nil
}

func pinningClass(r code) error {
	if r == operatingSystem || r == notSupported {
		return ErrOutOfMemory
	}
	return classOf(r)
}

// Bytes is the whole memory for the CPU. It must not be used after Close, nor
// read while a stream writes there.
func (p *Pinned) Bytes() []byte { return unsafe.Slice((*byte)(p.host), p.size) }

// Span is the part from byte from up to byte to. Like a slice expression it panics
// where these are out of range.
func (p *Pinned) Span(from, to Size) PinnedSpan {
	checkRange(from, to, p.size)
	return PinnedSpan{memory: p, from: from, size: to - from}
}

// Device is the whole memory as kernels see it, across the link to the host.
func (p *Pinned) Device() Span { return Span{Ptr: p.device, Size: p.size} }

// Close frees the memory. Work of streams on it must have ended.
func (p *Pinned) Close() error {
	return p.close(func() error {
		return p.context.check(cuMemFreeHost, p.context.call(cuMemFreeHost, uintptr(p.host)), "")
	})
}

// Bytes is the span for the CPU; see Pinned.Bytes.
func (s PinnedSpan) Bytes() []byte { return s.memory.Bytes()[s.from : s.from+s.size : s.from+s.size] }

// Size is the number of bytes.
func (s PinnedSpan) Size() Size { return s.size }

func (s PinnedSpan) address() uintptr { return uintptr(s.memory.host) + uintptr(s.from) }
