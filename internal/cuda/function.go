package cuda

import "unsafe"

// Function is a kernel, and valid for as long as its context. Its methods may be
// called from any goroutine.
type Function struct {
	context *Context
	name    string
	handle  uintptr
}

// FunctionAttributes is what the driver made of a kernel.
type FunctionAttributes struct {
	Registers    int  // of a thread
	StaticShared Size // of a block
	Local        Size // of a thread: spilled registers and arrays
	Constant     Size
	MaxThreads   int // of a block
}

// functionAttribute is a number of CUfunction_attribute.
type functionAttribute uintptr

const (
	functionMaxThreads    functionAttribute = 0
	functionStaticShared  functionAttribute = 1
	functionConstant      functionAttribute = 2
	functionLocal         functionAttribute = 3
	functionRegisters     functionAttribute = 4
	functionDynamicShared functionAttribute = 8
)

// Name is the name in the PTX.
func (f *Function) Name() string { return f.name }

// Attributes asks what the driver made of the kernel.
func (f *Function) Attributes() (FunctionAttributes, error) {
	var a FunctionAttributes
	err := f.context.on(func() (err error) {
		number := func(attribute functionAttribute) int {
			var n out
			if err == nil {
				r := f.context.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(&n)), uintptr(attribute), f.handle)
				err = f.context.check(cuFuncGetAttribute, r, "ask about "+f.name)
			}
			return int(n.int32())
		}
		a = FunctionAttributes{
			Registers: number(functionRegisters), StaticShared: Size(number(functionStaticShared)), Local: Size(number(functionLocal)),
			Constant: Size(number(functionConstant)), MaxThreads: number(functionMaxThreads),
		}
		return err
	})
	return a, err
}

// Occupancy is how many blocks of so many threads, and so many bytes of dynamic
// shared memory, a multiprocessor holds at once.
func (f *Function) Occupancy(threads, shared uint32) (blocks int, err error) {
	err = f.context.on(func() error {
		c := f.context
		var n out
		r := c.call(cuOccupancyMaxActiveBlocksPerMultiprocessor, uintptr(unsafe.Pointer(&n)), f.handle, uintptr(threads), uintptr(shared))
		blocks = int(n.int32())
		return c.check(cuOccupancyMaxActiveBlocksPerMultiprocessor, r, "ask about "+f.name)
	})
	return blocks, err
}

// launchable fails if a stream of context c cannot launch the function with
// size bytes of parameters.
func (f *Function) launchable(c *Context, size uintptr) error {
	switch {
	case f.context != c:
		return misuse(cuLaunchKernel, "%s belongs to another context", f.name)
	case size > maxParameters:
		return misuse(cuLaunchKernel, "%s has %d bytes of parameters, more than %d", f.name, size, maxParameters)
	}
	return nil
}
