package cuda

import (
	"errors"
	"runtime"
	"sync"
)

// primary is the driver's context of a device. All Contexts of the device share
// it, and with it the modules, which stay as long as one of them is open.
type primary struct {
	contexts int // that are open; Driver.mu guards it

	mu      sync.Mutex
	modules map[*Source]*module

	spares spares
}

// enter notes that one more Context has the primary context of that handle.
func (d *Driver) enter(handle uintptr) *primary {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.primaries[handle]
	if p == nil {
		p = &primary{modules: map[*Source]*module{}}
		if d.primaries == nil {
			d.primaries = map[uintptr]*primary{}
		}
		d.primaries[handle] = p
	}
	p.contexts++
	return p
}

// leave notes that a Context is closing. It returns the modules if that was the
// last one: nobody else has them then.
func (d *Driver) leave(c *Context) map[*Source]*module {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.primary.contexts--; c.primary.contexts > 0 {
		return nil
	}
	delete(d.primaries, c.handle)
	return c.primary.modules
}

// module is where the module of a source is.
func (p *primary) module(s *Source) *module {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.modules[s]
	if m == nil {
		m = new(module)
		p.modules[s] = m
	}
	return m
}

// unload gives modules back if the context is not lost. The context is closed by then, so no
// Thread of it can be had: unload makes it current itself, and tries twice.
func (c *Context) unload(modules map[*Source]*module) error {
	if len(modules) == 0 {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := &Thread{context: c}
	err := t.enter()
	if err != nil && c.lost.Load() == nil {
		if again := t.set(c.handle); again != nil {
			return err
		}
	}
	for s, m := range modules {
		if m.function.Load() != 0 && c.lost.Load() == nil {
			err = errors.Join(err, c.check(cuModuleUnload, c.call(cuModuleUnload, m.handle), "unload "+s.Kernel))
		}
	}
	t.leave()
	return err
}
