package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// Stream is a queue of work for the device, done in order. Its calls return
// before the work is done: memory that it uses must stay as it is until
// Synchronize, Done or an event says so. Errors of the work come from any later
// call. It is ordered with no other stream, nor with Write and Read.
type Stream struct {
	owned
	thread *Thread
	handle uintptr
	launch launchBuffer
}

// Grid is the shape of a launch, in one dimension. Shared is dynamic shared memory
// of a block in bytes.
type Grid struct {
	Blocks, Threads, Shared uint32
}

// maxParameters is how many bytes of parameters a kernel of PTX takes on any
// architecture.
const maxParameters = 4096

// launchBuffer is how cuLaunchKernel is handed parameters that are laid out
// already.
type launchBuffer struct {
	parameters [maxParameters / 8]uint64
	size       uintptr
	extra      [5]uintptr
}

// Entries of extra: CU_LAUNCH_PARAM_…
const (
	parameterEnd uintptr = iota
	parameterBuffer
	parameterSize
)

// streamNonBlocking makes a stream ignore the default stream.
const streamNonBlocking = 1

// NewStream makes a stream of the thread.
func (t *Thread) NewStream() (*Stream, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	spares := &t.context.primary.spares
	handle := spares.spare(&spares.streams)
	if handle == 0 {
		r := t.context.call(cuStreamCreate, uintptr(unsafe.Pointer(&t.result)), streamNonBlocking)
		if err := t.context.check(cuStreamCreate, r, ""); err != nil {
			return nil, err
		}
		handle = uintptr(t.result.word)
	}
	s := &Stream{thread: t, handle: handle}
	s.own(t.context, kindStream)
	return s, nil
}

// ready fails if the stream cannot take work.
func (s *Stream) ready() error {
	if s.closed.Load() {
		return closed("stream")
	}
	return s.thread.ready()
}

// CopyIn copies from pinned memory to the device. The sizes must agree.
func (s *Stream) CopyIn(dst Span, src PinnedSpan) error {
	if err := s.copyable(cuMemcpyHtoDAsync, dst.Size, src.size, src.memory); err != nil || src.size == 0 {
		return err
	}
	return s.context.check(cuMemcpyHtoDAsync, s.context.callFast(cuMemcpyHtoDAsync, uintptr(dst.Ptr), src.address(), uintptr(src.size), s.handle), "")
}

// CopyOut copies from the device to pinned memory. The sizes must agree.
func (s *Stream) CopyOut(dst PinnedSpan, src Span) error {
	if err := s.copyable(cuMemcpyDtoHAsync, dst.size, src.Size, dst.memory); err != nil || src.Size == 0 {
		return err
	}
	return s.context.check(cuMemcpyDtoHAsync, s.context.callFast(cuMemcpyDtoHAsync, dst.address(), uintptr(src.Ptr), uintptr(src.Size), s.handle), "")
}

// Copy copies within device memory. The sizes must agree, and the spans must not
// overlap.
func (s *Stream) Copy(dst, src Span) error {
	if err := s.copyable(cuMemcpyDtoDAsync, dst.Size, src.Size, nil); err != nil || src.Size == 0 {
		return err
	}
	return s.context.check(cuMemcpyDtoDAsync, s.context.callFast(cuMemcpyDtoDAsync, uintptr(dst.Ptr), uintptr(src.Ptr), uintptr(src.Size), s.handle), "")
}

func (s *Stream) copyable(f symbol, dst, src Size, pinned *Pinned) error {
	if err := s.ready(); err != nil {
		return err
	}
	if pinned != nil && pinned.closed.Load() {
		return closed("pinned memory")
	}
	if dst != src {
		return misuse(f, "a copy of %d bytes to %d", src, dst)
	}
	return nil
}

// Fill sets every byte of dst to v.
func (s *Stream) Fill(dst Span, v byte) error {
	if err := s.ready(); err != nil || dst.Size == 0 {
		return err
	}
	return s.context.check(cuMemsetD8Async, s.context.callFast(cuMemsetD8Async, uintptr(dst.Ptr), uintptr(v), uintptr(dst.Size), s.handle), "")
}

// Fill32 sets every 32-bit word of dst to v. Address and size are multiples of 4.
func (s *Stream) Fill32(dst Span, v uint32) error {
	if err := s.ready(); err != nil || dst.Size == 0 {
		return err
	}
	if dst.Size%4 != 0 || dst.Ptr%4 != 0 {
		return misuse(cuMemsetD32Async, "%d bytes at %#x are no 32-bit words", dst.Size, dst.Ptr)
	}
	return s.context.check(cuMemsetD32Async, s.context.callFast(cuMemsetD32Async, uintptr(dst.Ptr), uintptr(v), uintptr(dst.Size/4), s.handle), "")
}

// Launch starts a kernel. args are its parameters as a C struct lays them out, size
// bytes without padding at the end; they are copied before Launch returns. Only
// the functions generated in package kernels call it: the driver cannot check
// the layout.
func (s *Stream) Launch(f *Function, g Grid, args unsafe.Pointer, size uintptr) error {
	if err := s.ready(); err != nil {
		return err
	}
	if err := f.launchable(s.context, size); err != nil {
		return err
	}
	b := &s.launch
	extra := uintptr(0)
	if size > 0 {
		extra = uintptr(unsafe.Pointer(&b.extra))
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&b.parameters)), size), unsafe.Slice((*byte)(args), size))
	b.size = size
	b.extra = [5]uintptr{parameterBuffer, uintptr(unsafe.Pointer(&b.parameters)), parameterSize, uintptr(unsafe.Pointer(&b.size)), parameterEnd}
	r := s.context.callFast(cuLaunchKernel, f.handle, uintptr(g.Blocks), 1, 1, uintptr(g.Threads), 1, 1, uintptr(g.Shared), s.handle,
		0, extra)
	runtime.KeepAlive(s)
	if r == success {
		return nil
	}
	return s.context.fail(cuLaunchKernel, r, fmt.Sprintf("launch %s with %d blocks of %d threads", f.name, g.Blocks, g.Threads), classOf(r))
}

// Record makes e happen when the work queued so far is done.
func (s *Stream) Record(e *Event) error {
	if err := s.ready(); err != nil {
		return err
	}
	if err := e.usable("event"); err != nil {
		return err
	}
	return s.context.check(cuEventRecord, s.context.callFast(cuEventRecord, e.handle, s.handle), "")
}

// Wait lets work queued from now on wait for the last Record of e, of any stream
// of the context. The caller does not wait.
func (s *Stream) Wait(e *Event) error {
	if err := s.ready(); err != nil {
		return err
	}
	if err := e.usable("event"); err != nil {
		return err
	}
	return s.context.check(cuStreamWaitEvent, s.context.callFast(cuStreamWaitEvent, s.handle, e.handle, 0), "")
}

// Done reports whether all work queued so far is done.
func (s *Stream) Done() (bool, error) {
	if err := s.ready(); err != nil {
		return false, err
	}
	r := s.context.callFast(cuStreamQuery, s.handle)
	if r == notReady {
		return false, nil
	}
	return r == success, s.context.check(cuStreamQuery, r, "")
}

// Synchronize waits until all work queued so far is done.
func (s *Stream) Synchronize() error {
	if err := s.ready(); err != nil {
		return err
	}
	return s.context.check(cuStreamSynchronize, s.context.callFast(cuStreamSynchronize, s.handle), "")
}

// OnStream lets do work on a stream of its own of the thread. The stream's work has ended then.
func (t *Thread) OnStream(do func(s *Stream) error) error {
	s, err := t.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// Close waits for the work of the stream and frees it. An error of the work that
// nobody asked for is returned by the next call on the context, as ever.
func (s *Stream) Close() error {
	return s.close(func() error {
		waited := s.context.check(cuStreamSynchronize, s.context.callFast(cuStreamSynchronize, s.handle), "")
		spares := &s.context.primary.spares
		if errors.Is(waited, ErrLost) || waited == nil && spares.keep(&spares.streams, s.handle) {
			return waited
		}
		return errors.Join(waited, s.context.destroyStream(s.handle))
	})
}

func (c *Context) destroyStream(handle uintptr) error {
	return c.check(cuStreamDestroy, c.callFast(cuStreamDestroy, handle), "")
}
