package cuda

import (
	"math"
	"time"
	"unsafe"
)

// Event is a point in the work of a stream, with its time.
type Event struct {
	owned
	thread *Thread
	handle uintptr
}

// NewEvent makes an event. Until it is recorded it counts as done.
func (t *Thread) NewEvent() (*Event, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	spares := &t.context.primary.spares
	handle := spares.spare(&spares.events)
	if handle == 0 {
		r := t.context.call(cuEventCreate, uintptr(unsafe.Pointer(&t.result)), 0)
		if err := t.context.check(cuEventCreate, r, ""); err != nil {
			return nil, err
		}
		handle = uintptr(t.result.word)
	}
	e := &Event{thread: t, handle: handle}
	e.own(t.context, kindEvent)
	return e, nil
}

func (e *Event) ready() error {
	if e.closed.Load() {
		return closed("event")
	}
	return e.thread.ready()
}

// Synchronize waits until the work before the last Record is done.
func (e *Event) Synchronize() error {
	if err := e.ready(); err != nil {
		return err
	}
	return e.context.check(cuEventSynchronize, e.context.callFast(cuEventSynchronize, e.handle), "")
}

// Done reports whether the work before the last Record is done.
func (e *Event) Done() (bool, error) {
	if err := e.ready(); err != nil {
		return false, err
	}
	r := e.context.callFast(cuEventQuery, e.handle)
	if r == notReady {
		return false, nil
	}
	return r == success, e.context.check(cuEventQuery, r, "")
}

// Since is the device's time from start to e, with a resolution of half a
// microsecond. Both must have been recorded and be done.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if err := e.ready(); err != nil {
		return 0, err
	}
	if err := start.usable("event"); err != nil {
		return 0, err
	}
	t := e.thread
	r := t.context.call(cuEventElapsedTime, uintptr(unsafe.Pointer(&t.result)), start.handle, e.handle)
	if err := t.context.check(cuEventElapsedTime, r, ""); err != nil {
		return 0, err
	}
	milliseconds := math.Float32frombits(uint32(t.result.int32()))
	return time.Duration(float64(milliseconds) * float64(time.Millisecond)), nil
}

// Close frees the event. Streams that wait for it are not disturbed.
func (e *Event) Close() error {
	return e.close(func() error {
		spares := &e.context.primary.spares
		if e.context.keeping() && e.context.callFast(cuEventQuery, e.handle) == success && spares.keep(&spares.events, e.handle) {
			return nil
		}
		return e.context.destroyEvent(e.handle)
	})
}

func (c *Context) destroyEvent(handle uintptr) error {
	return c.check(cuEventDestroy, c.call(cuEventDestroy, handle), "")
}
