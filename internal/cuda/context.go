package cuda

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/budget"
)

// Context is the primary context of a device: one in a process, counted by the
// driver, so that gagg shares it with whatever else in the process uses the
// device. Its methods may be called from any goroutine.
type Context struct {
	driver  *Driver
	device  Device
	handle  uintptr // CUcontext
	ordinal uintptr // CUdevice
	primary *primary

	lost   atomic.Pointer[Error] // invariant LOST
	closed atomic.Bool
	keeps  atomic.Bool // see KeepSpares
	open   [kinds]atomic.Int64

	memory *budget.Budget // of the device, without a limit: what is allocated through the context
}

// kind is what a context can hold.
type kind int

const (
	kindThread kind = iota
	kindMemory
	kindPinned
	kindStream
	kindEvent
	kinds
)

var kindNames = [kinds]string{"locked threads", "device allocations", "pinned allocations", "streams", "events"}

// Context retains the primary context of a device, which takes 0.1 s for the
// first in a process. The classes of its errors are ErrNoDevice, ErrBusy,
// ErrUnsupported, ErrOutOfMemory and ErrLost.
func (d *Driver) Context(ordinal int) (*Context, error) {
	n, err := d.deviceCount()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, &Error{Op: fmt.Sprintf("device %d", ordinal), Text: fmt.Sprintf("there are %d devices, numbered from 0", n), class: ErrNoDevice}
	}
	device, err := d.query(ordinal)
	if err != nil {
		return nil, err
	}
	if err := device.Usable(); err != nil {
		return nil, err
	}
	return d.retain(device)
}

func (d *Driver) retain(device Device) (*Context, error) {
	what := fmt.Sprintf("take device %d (%s)", device.Ordinal, device.Name)
	var number, handle out
	if err := d.start(cuDeviceGet, d.library.call(cuDeviceGet, uintptr(unsafe.Pointer(&number)), uintptr(device.Ordinal)), what); err != nil {
		return nil, err
	}
	r := d.library.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&handle)), uintptr(number.word))
	if err := d.start(cuDevicePrimaryCtxRetain, r, what); err != nil {
		return nil, err
	}
	c := &Context{driver: d, device: device, handle: uintptr(handle.word), ordinal: uintptr(number.word), memory: budget.New(budget.Device, 0)}
	c.primary = d.enter(c.handle)
	return c, nil
}

// Device is the facts about the device.
func (c *Context) Device() Device { return c.device }

// Lost is the error after which the context is of no use; nil: none so far.
func (c *Context) Lost() error {
	if e := c.lost.Load(); e != nil {
		return e
	}
	return nil
}

// Held lists what is still open, such as "2 streams, 1 events"; empty: nothing.
func (c *Context) Held() string {
	var held []string
	for k := range kinds {
		if n := c.open[k].Load(); n != 0 {
			held = append(held, fmt.Sprintf("%d %s", n, kindNames[k]))
		}
	}
	return strings.Join(held, ", ")
}

// Peak is the most device memory that was allocated at a time through this context.
func (c *Context) Peak() Size { return Size(c.memory.Peak()) }

// Close releases the context. The last of its device unloads the modules. While
// something in it is open it fails with ErrOpen, naming that, and the context
// stays as it is: another goroutine may be at work in it.
func (c *Context) Close() error {
	if held := c.Held(); held != "" {
		return &Error{Op: fmt.Sprintf("close the context of device %d", c.device.Ordinal), Text: "it still holds " + held, class: ErrOpen}
	}
	err := c.stopKeeping()
	if c.closed.Swap(true) {
		return nil
	}
	modules := c.driver.leave(c)
	if c.lost.Load() != nil {
		return nil
	}
	err = errors.Join(err, c.unload(modules))
	if lost := c.Lost(); lost != nil { // meanwhile
		return lost
	}
	return errors.Join(err, c.check(cuDevicePrimaryCtxRelease, c.call(cuDevicePrimaryCtxRelease, c.ordinal), ""))
}

//go:uintptrescapes
func (c *Context) call(f symbol, args ...uintptr) code { return c.driver.library.call(f, args...) }

func (c *Context) callFast(f symbol, args ...uintptr) code {
	return c.driver.library.callFast(f, args...)
}

// usable fails if the context was closed or lost.
func (c *Context) usable() error {
	if e := c.lost.Load(); e != nil {
		return e
	}
	if c.closed.Load() {
		return closed("context")
	}
	return nil
}

// check makes the result of f an error, and marks the context as lost if that
// is what it says.
func (c *Context) check(f symbol, r code, what string) error {
	if r == success {
		return nil
	}
	return c.fail(f, r, what, classOf(r))
}

func (c *Context) fail(f symbol, r code, what string, class error) *Error {
	e := c.driver.failure(f, r, what, class)
	if r.sticky() {
		c.lost.CompareAndSwap(nil, e)
	}
	return e
}

// on does something that needs the context on the calling OS thread, from
// whichever goroutine.
func (c *Context) on(do func() error) error {
	t, err := c.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	return do()
}

// OnStream lets do work on a thread and a stream of its own. The stream's work has ended then.
func (c *Context) OnStream(do func(t *Thread, s *Stream) error) error {
	t, err := c.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	return t.OnStream(func(s *Stream) error { return do(t, s) })
}

// Closing closes something with the context current from the first call to the last. Should the
// context not become current, each call tries for itself.
func (c *Context) Closing(closing func() error) error {
	if c.Lost() != nil {
		return closing()
	}
	t, err := c.Lock()
	if err == nil {
		defer t.Unlock()
	}
	return errors.Join(err, closing())
}

// owned is the part of a handle that knows where it belongs.
type owned struct {
	context *Context
	kind    kind
	closed  atomic.Bool
}

// own notes that the context holds one more.
func (o *owned) own(c *Context, k kind) {
	o.context, o.kind = c, k
	c.open[k].Add(1)
}

// close calls release, once, unless the context is lost. That the context
// cannot be made current does not keep it from trying: mostly it is.
func (o *owned) close(release func() error) error {
	if o.closed.Swap(true) {
		return nil
	}
	defer o.context.open[o.kind].Add(-1)
	t, err := o.context.Lock()
	if err == nil {
		defer t.Unlock()
	}
	if o.context.lost.Load() == nil {
		err = errors.Join(err, release())
	}
	if o.context.lost.Load() != nil {
		return nil // whoever waits for the work of the context learns it
	}
	return err
}

// usable fails if the handle was closed or its context lost.
func (o *owned) usable(what string) error {
	if o.closed.Load() {
		return closed(what)
	}
	return o.context.usable()
}
