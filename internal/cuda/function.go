package cuda

import "unsafe"

// Function is a kernel of a module, and valid for as long. Its methods may be
// called from any goroutine.
type Function struct {
	module *Module
	name   string
	handle uintptr
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

// Function finds the kernel of that name.
func (m *Module) Function(name string) (*Function, error) {
	f := &Function{module: m, name: name}
	err := f.ask(func() error {
		symbol := append([]byte(name), 0)
		var handle out
		r := m.context.call(cuModuleGetFunction, uintptr(unsafe.Pointer(&handle)), m.handle, uintptr(unsafe.Pointer(unsafe.SliceData(symbol))))
		f.handle = uintptr(handle.word)
		return m.context.check(cuModuleGetFunction, r, "find "+name+" in "+m.name)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Name is the name in the PTX.
func (f *Function) Name() string { return f.name }

// ask calls the driver about the function.
func (f *Function) ask(do func() error) error {
	if err := f.module.usable("module " + f.module.name); err != nil {
		return err
	}
	return f.module.context.on(do)
}

// Attributes asks what the driver made of the kernel.
func (f *Function) Attributes() (FunctionAttributes, error) {
	var a FunctionAttributes
	err := f.ask(func() (err error) {
		number := func(attribute functionAttribute) int {
			var n out
			if err == nil {
				r := f.module.context.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(&n)), uintptr(attribute), f.handle)
				err = f.module.context.check(cuFuncGetAttribute, r, "ask about "+f.name)
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

// SetDynamicShared allows launches with n bytes of dynamic shared memory. Up to
// 48 KiB less the static part need no leave; the most is Device.SharedPerBlock.
func (f *Function) SetDynamicShared(n uint32) error {
	return f.ask(func() error {
		c := f.module.context
		return c.check(cuFuncSetAttribute, c.call(cuFuncSetAttribute, f.handle, uintptr(functionDynamicShared), uintptr(n)), "give shared memory to "+f.name)
	})
}

// Occupancy is how many blocks of so many threads, and so many bytes of dynamic
// shared memory, a multiprocessor holds at once.
func (f *Function) Occupancy(threads, shared uint32) (blocks int, err error) {
	err = f.ask(func() error {
		c := f.module.context
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
	case f.module.closed.Load():
		return closed("module " + f.module.name)
	case f.module.context != c:
		return misuse(cuLaunchKernel, "%s belongs to another context", f.name)
	case size > maxParameters:
		return misuse(cuLaunchKernel, "%s has %d bytes of parameters, more than %d", f.name, size, maxParameters)
	}
	return nil
}
