package cuda

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// Thread is a goroutine that is bound to its operating system thread, with a
// context current there (invariant THREAD).
type Thread struct {
	context  *Context
	previous uintptr // the context that was current before, of others
	system   int     // number of the OS thread
	locked   bool
	transfer *Stream // of Write and Read; made by the first of them

	result, second out
}

var lockedThreads atomic.Int64

// LockedThreads is how many threads of the process are locked now. Tests end
// with none.
func LockedThreads() int { return int(lockedThreads.Load()) }

// Lock binds the calling goroutine to its OS thread and makes the context
// current there. Locks nest, of several contexts too, and are undone in
// reverse order.
func (c *Context) Lock() (*Thread, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	t := &Thread{context: c, system: systemThread(), locked: true}
	if err := t.enter(); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	lockedThreads.Add(1)
	c.open[kindThread].Add(1)
	return t, nil
}

// enter makes the context current.
func (t *Thread) enter() error {
	c := t.context
	if err := c.check(cuCtxGetCurrent, c.call(cuCtxGetCurrent, uintptr(unsafe.Pointer(&t.result))), ""); err != nil {
		return err
	}
	if t.previous = uintptr(t.result.word); t.previous == c.handle {
		return nil
	}
	return t.set(c.handle)
}

// leave makes the context current that was before.
func (t *Thread) leave() {
	if t.previous != t.context.handle && t.context.lost.Load() == nil {
		// should it fail, a thread of the pool keeps a context that the next Lock replaces
		_ = t.set(t.previous)
	}
}

func (t *Thread) set(context uintptr) error {
	return t.context.check(cuCtxSetCurrent, t.context.call(cuCtxSetCurrent, context), "")
}

// Unlock makes the context current that was before, and frees the goroutine
// from its OS thread. It is called on the goroutine that locked; a second call
// does nothing. Streams that the thread made must not be used afterwards, only
// closed.
func (t *Thread) Unlock() {
	if !t.locked {
		return
	}
	t.checkThread()
	if t.transfer != nil {
		_ = t.transfer.Close() // its work was waited for by Write and Read
	}
	t.locked = false
	t.leave()
	t.context.open[kindThread].Add(-1)
	lockedThreads.Add(-1)
	runtime.UnlockOSThread()
}

// Context is the context that is current on the thread.
func (t *Thread) Context() *Context { return t.context }

func (t *Thread) checkThread() {
	if invariant.Enabled {
		invariant.Check(systemThread() == t.system, "THREAD: a cuda.Thread or one of its streams is used on another goroutine than the one that locked it")
	}
}

// ready fails if the thread was unlocked or its context lost.
func (t *Thread) ready() error {
	if !t.locked {
		return closed("thread")
	}
	t.checkThread()
	return t.context.usable()
}

// MemoryInfo is how much device memory is free, for all processes or as spares
// of this one, and how much there is. What is free may be gone at the next call.
func (t *Thread) MemoryInfo() (free, total Size, err error) {
	if err := t.ready(); err != nil {
		return 0, 0, err
	}
	r := t.context.call(cuMemGetInfo, uintptr(unsafe.Pointer(&t.result)), uintptr(unsafe.Pointer(&t.second)))
	free = Size(t.result.word) + t.context.primary.spares.idleMemory()
	return free, Size(t.second.word), t.context.check(cuMemGetInfo, r, "")
}

// Synchronize waits for all work of the context, of other threads too.
func (t *Thread) Synchronize() error {
	if err := t.ready(); err != nil {
		return err
	}
	return t.context.check(cuCtxSynchronize, t.context.call(cuCtxSynchronize), "")
}
