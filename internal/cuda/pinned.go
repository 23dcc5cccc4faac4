package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// Pinned is host memory that the device reads and writes itself: what streams
// copy from and to, and what kernels reach at its device address. Any thread of
// any context may use it; with its own context it is gone.
type Pinned struct {
	owned
	block
	from budget.Lender // it is drawn from; nil: nobody counts it
}

// block is pinned memory.
type block struct {
	host   unsafe.Pointer // not Go's
	size   Size
	device Ptr
	made   []byte // the memory, if the driver only pins it; nil: the driver has made it
}

// PinnedSpan is a region of a Pinned. It is a value, valid until that is closed.
type PinnedSpan struct {
	memory *Pinned
	from   Size
	size   Size
}

// Flags of cuMemHostAlloc and of cuMemHostRegister: pinned for all contexts, mapped into device
// memory.
const portableMapped = 1 | 2

// registerFrom is the least size for which the memory is ours and the driver only pins it. Such
// memory consists of huge pages (hostmem), which the driver does not use for its own.
const registerFrom = 4 << 20

// AllocPinned allocates n bytes, which must not be 0, on whole pages. The content is undefined.
// Pinning takes 0.25 ms a MiB, below 4 MiB 0.4 ms, beside busy threads 1 ms. If the system
// refuses (ulimit -l, a full machine) the error is ErrOutOfMemory: the caller goes on with
// pageable memory.
func (t *Thread) AllocPinned(n Size) (*Pinned, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	if spare, ok := t.context.primary.spares.block(n); ok {
		p := &Pinned{block: spare}
		p.own(t.context, kindPinned)
		return p, nil
	}
	p := &Pinned{block: block{size: n}}
	pin := t.allocate
	if n >= registerFrom {
		pin = t.register
	}
	if err := pin(p); err != nil {
		return nil, err
	}
	p.own(t.context, kindPinned)
	r := t.context.call(cuMemHostGetDevicePointer, uintptr(unsafe.Pointer(&t.result)), uintptr(p.host), 0)
	if err := t.context.check(cuMemHostGetDevicePointer, r, "map pinned memory"); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.device = Ptr(t.result.word)
	return p, nil
}

// AllocPinnedFrom is AllocPinned of memory that is drawn from a lender, to which Close releases
// it; nil: nobody counts it. Memory that a lost context has pinned may stay pinned, and stays
// drawn.
func (t *Thread) AllocPinnedFrom(from budget.Lender, n Size) (*Pinned, error) {
	from = budget.Or(from)
	if err := from.Draw(int64(n)); err != nil {
		return nil, err
	}
	p, err := t.AllocPinned(n)
	if err != nil {
		if t.context.Lost() == nil {
			from.Release(int64(n))
		}
		return nil, err
	}
	p.from = from
	return p, nil
}

// Charge draws memory that nobody counts from a lender, from now on; nil: still nobody does.
func (p *Pinned) Charge(from budget.Lender) error {
	err := budget.Or(from).Draw(int64(p.size))
	if err == nil {
		p.from = from
	}
	return err
}

// Discharge releases memory that stays to its lender: nobody counts it any more.
func (p *Pinned) Discharge() {
	budget.Or(p.from).Release(int64(p.size))
	p.from = nil
}

// allocate has the driver make the memory.
func (t *Thread) allocate(p *Pinned) error {
	r := t.context.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&t.result)), uintptr(p.size), portableMapped)
	if r != success {
		return t.context.fail(cuMemHostAlloc, r, fmt.Sprintf("allocate %v of pinned memory", p.size), pinningClass(r))
	}
	p.host = t.result.pointer()
	return nil
}

// register makes the memory and has the driver pin it. It touches the pages first: while the
// driver pins, it holds its lock, for which all threads of the process wait sooner or later.
func (t *Thread) register(p *Pinned) error {
	p.made = hostmem.Make[byte](int(p.size))
	p.host = unsafe.Pointer(unsafe.SliceData(p.made))
	touch(p.made)
	r := t.context.call(cuMemHostRegister, uintptr(p.host), uintptr(p.size), portableMapped)
	if r != success {
		err := t.context.fail(cuMemHostRegister, r, fmt.Sprintf("pin %v of memory", p.size), pinningClass(r))
		hostmem.Free(p.made)
		return err
	}
	return nil
}

// touch writes to every page of zeros.
func touch(b []byte) {
	const page = 4 << 10
	for i := 0; i < len(b); i += page {
		b[i] = 0
	}
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

// Words is the whole memory as words of 64 bits, on the terms of Bytes.
func (p *Pinned) Words() []uint64 { return words(p.Bytes()) }

// words is bytes, which begin at a word, as words of 64 bits.
func words(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

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
		err := p.context.freeBlocks(p.context.primary.spares.keepBlock(p.block))
		if p.context.Lost() == nil {
			p.Discharge()
		}
		return err
	})
}

func (c *Context) freeBlock(b *block) error {
	if b.made == nil {
		return c.check(cuMemFreeHost, c.call(cuMemFreeHost, uintptr(b.host)), "")
	}
	err := c.check(cuMemHostUnregister, c.call(cuMemHostUnregister, uintptr(b.host)), "")
	if err == nil { // else the device may still use it
		hostmem.Free(b.made)
	}
	return err
}

// Bytes is the span for the CPU; see Pinned.Bytes.
func (s PinnedSpan) Bytes() []byte { return s.memory.Bytes()[s.from : s.from+s.size : s.from+s.size] }

// Words is the span as words of 64 bits, on the terms of Bytes. It begins at a word.
func (s PinnedSpan) Words() []uint64 { return words(s.Bytes()) }

// Slice is the part from byte from up to byte to.
func (s PinnedSpan) Slice(from, to Size) PinnedSpan {
	checkRange(from, to, s.size)
	return PinnedSpan{memory: s.memory, from: s.from + from, size: to - from}
}

// Size is the number of bytes.
func (s PinnedSpan) Size() Size { return s.size }

func (s PinnedSpan) address() uintptr { return uintptr(s.memory.host) + uintptr(s.from) }
