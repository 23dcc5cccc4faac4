package cuda

import (
	"errors"
	"fmt"
	"unsafe"
)

// Memory is an allocation of device memory. Any thread of its context may use
// it.
type Memory struct {
	owned
	span  Span
	block Span // that the driver gave, which may be larger
}

// Alloc allocates n bytes, which must not be 0, with an alignment of at least
// 256 bytes. The content is undefined. The call waits for work of the context, unless
// spares are kept; it belongs to the start of a run.
func (t *Thread) Alloc(n Size) (*Memory, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	block, ok := t.context.primary.spares.memoryOf(n)
	if !ok {
		var err error
		if block, err = t.alloc(n); err != nil {
			return nil, err
		}
	}
	m := &Memory{span: block.Slice(0, n), block: block}
	m.own(t.context, kindMemory)
	t.context.memory.Count(int64(n))
	return m, nil
}

// alloc has the driver allocate n bytes, if need be in place of spares.
func (t *Thread) alloc(n Size) (Span, error) {
	allocate := func() code {
		return t.context.call(cuMemAlloc, uintptr(unsafe.Pointer(&t.result)), uintptr(n))
	}
	r := allocate()
	if r != success && errors.Is(classOf(r), ErrOutOfMemory) {
		if idle := t.context.primary.spares.takeMemory(); len(idle) > 0 {
			if err := t.context.freeMemory(idle); err != nil {
				return Span{}, err
			}
			r = allocate()
		}
	}
	if r != success {
		return Span{}, t.context.fail(cuMemAlloc, r, fmt.Sprintf("allocate %v of device memory", n), classOf(r))
	}
	return Span{Ptr: Ptr(t.result.word), Size: n}, nil
}

// Span is the whole of the memory.
func (m *Memory) Span() Span { return m.span }

// Close frees the memory. Work of streams on it must have ended.
func (m *Memory) Close() error {
	return m.close(func() error {
		defer m.context.memory.Release(int64(m.span.Size))
		most := m.context.device.Memory / spareShare
		return m.context.freeMemory(m.context.primary.spares.keepMemory(m.block, most))
	})
}

// Write copies src to the device and waits for that. It is not ordered with the
// work of streams: synchronize them first. Being pageable, src crosses at a fifth
// of the rate of pinned memory.
func (t *Thread) Write(dst Span, src []byte) error {
	if err := t.transferable(cuMemcpyHtoDAsync, dst.Size, len(src)); err != nil || len(src) == 0 {
		return err
	}
	return t.finish(cuMemcpyHtoDAsync, t.context.call(cuMemcpyHtoDAsync, uintptr(dst.Ptr),
		uintptr(unsafe.Pointer(unsafe.SliceData(src))), uintptr(len(src)), t.transfer.handle))
}

// Read copies from the device to dst and waits for that, like Write.
func (t *Thread) Read(dst []byte, src Span) error {
	if err := t.transferable(cuMemcpyDtoHAsync, src.Size, len(dst)); err != nil || len(dst) == 0 {
		return err
	}
	return t.finish(cuMemcpyDtoHAsync, t.context.call(cuMemcpyDtoHAsync, uintptr(unsafe.Pointer(unsafe.SliceData(dst))),
		uintptr(src.Ptr), uintptr(len(dst)), t.transfer.handle))
}

// transferable checks a Write or Read and makes its stream. There is a stream
// because cuMemcpyHtoD itself returns before its last bytes are there, which
// streams that ignore the default stream, as ours do, would see.
func (t *Thread) transferable(f symbol, device Size, host int) (err error) {
	if err := t.ready(); err != nil {
		return err
	}
	if device != Size(host) {
		return misuse(f, "a copy between %d bytes of device memory and %d of the host's", device, host)
	}
	if t.transfer == nil {
		t.transfer, err = t.NewStream()
	}
	return err
}

func (t *Thread) finish(f symbol, r code) error {
	if err := t.context.check(f, r, ""); err != nil {
		return err
	}
	return t.transfer.Synchronize()
}
