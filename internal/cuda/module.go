package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Source is one kernel, as PTX, which the driver compiles to a module, and for some devices as
// machine code, which it only loads. A module stays with the device's context: whoever asks for
// the kernel again, also by another Context, gets it at once, until the last of them is closed.
// Sources are told apart by their address. A kernel with dynamic shared memory may have all that
// the device has for a block.
type Source struct {
	Kernel string
	PTX    []byte

	// Code returns the kernel's machine code for devices of a compute capability, an ELF file;
	// nil: there is none. A nil Code has none for any device. Any thread calls it.
	Code func(major, minor int) []byte
}

// module is what the driver has made of a source.
type module struct {
	mu       sync.Mutex // held while it is loaded, by the one that does; others wait
	handle   uintptr
	function atomic.Uintptr // 0: it is not loaded, or could not be
}

// Options of cuModuleLoadDataEx: CU_JIT_…
const (
	jitInfoLog      uint32 = 3
	jitInfoLogSize  uint32 = 4
	jitErrorLog     uint32 = 5
	jitErrorLogSize uint32 = 6
)

// jit is the options of a compilation, and where its logs go. The architecture
// is that of the context, which is the default.
type jit struct {
	options   [4]uint32
	values    [4]uintptr
	info, log [16 << 10]byte
	image     []byte
}

// Function is the kernel of a source, which is loaded if it is not yet. Machine code that there
// is for the device takes 1 ms. Without, or where the driver refuses it, since it is older than
// the code or since CUDA_FORCE_PTX_JIT says so, the driver compiles the PTX: 1000 lines in some
// 100 ms. It keeps the result in a cache of its own, from which it takes 1 ms. Where the device
// or the driver does not know such PTX the error is ErrUnsupported, names both versions, and
// holds the log of the compiler.
func (c *Context) Function(s *Source) (*Function, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	m := c.primary.module(s)
	if m.function.Load() == 0 {
		if err := c.load(s, m); err != nil {
			return nil, err
		}
	}
	return &Function{context: c, name: s.Kernel, handle: m.function.Load()}, nil
}

// Load loads the kernels of sources that are not loaded yet, as many at the same time as
// Go runs threads, each on an OS thread of its own, and waits for them. Its error is the
// first; the kernels behind that one need not be loaded then.
func (c *Context) Load(sources ...*Source) error {
	if err := c.usable(); err != nil {
		return err
	}
	sources = slices.DeleteFunc(slices.Clone(sources), func(s *Source) bool { return c.primary.module(s).function.Load() != 0 })
	var group sync.WaitGroup
	var next atomic.Int64
	var first atomic.Pointer[error]
	for range min(len(sources), runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for first.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(sources) {
					return
				}
				if _, err := c.Function(sources[i]); err != nil {
					first.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

// load has the driver compile a source, unless another thread already does. After an error
// nothing of the source is loaded.
func (c *Context) load(s *Source, m *module) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.function.Load() != 0 {
		return nil
	}
	t, err := c.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	handle, err := t.module(s)
	if err != nil {
		return err
	}
	function, err := t.find(handle, s)
	if err == nil && bytes.Contains(s.PTX, []byte(".extern .shared")) {
		err = t.allowShared(function, s)
	}
	if err != nil {
		if c.lost.Load() == nil {
			// the first error is the one to tell
			_ = c.check(cuModuleUnload, c.call(cuModuleUnload, handle), "")
		}
		return err
	}
	m.handle = handle
	m.function.Store(function)
	return nil
}

// module makes a module of a source: of its machine code if there is any that the driver takes.
func (t *Thread) module(s *Source) (handle uintptr, err error) {
	if s.Code != nil {
		d := t.context.device
		if code := s.Code(d.Major, d.Minor); len(code) > 0 {
			handle, err := t.loadImage(s, code)
			if !errors.Is(err, ErrUnsupported) {
				return handle, err
			}
		}
	}
	return t.loadImage(s, append(bytes.Clone(s.PTX), 0)) // the driver reads text up to a NUL
}

func (t *Thread) loadImage(s *Source, image []byte) (handle uintptr, err error) {
	j := &jit{options: [4]uint32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize}, image: image}
	j.values = [4]uintptr{uintptr(unsafe.Pointer(&j.info)), uintptr(len(j.info)), uintptr(unsafe.Pointer(&j.log)), uintptr(len(j.log))}
	r := t.context.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&t.result)), uintptr(unsafe.Pointer(unsafe.SliceData(j.image))),
		uintptr(len(j.options)), uintptr(unsafe.Pointer(&j.options)), uintptr(unsafe.Pointer(&j.values)))
	if r != success {
		return 0, t.loadError(r, s, j)
	}
	return uintptr(t.result.word), nil
}

func (t *Thread) find(module uintptr, s *Source) (function uintptr, err error) {
	symbol := append([]byte(s.Kernel), 0)
	r := t.context.call(cuModuleGetFunction, uintptr(unsafe.Pointer(&t.result)), module, uintptr(unsafe.Pointer(unsafe.SliceData(symbol))))
	return uintptr(t.result.word), t.context.check(cuModuleGetFunction, r, "find "+s.Kernel+" in its module")
}

// allowShared lets launches of a function have more dynamic shared memory than the 48 KiB, less the
// static part, that need no leave.
func (t *Thread) allowShared(function uintptr, s *Source) error {
	c, what := t.context, "give shared memory to "+s.Kernel
	r := c.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(&t.result)), uintptr(functionStaticShared), function)
	if err := c.check(cuFuncGetAttribute, r, what); err != nil {
		return err
	}
	most := c.device.SharedPerBlock - Size(t.result.int32())
	return c.check(cuFuncSetAttribute, c.call(cuFuncSetAttribute, function, uintptr(functionDynamicShared), uintptr(most)), what)
}

func (t *Thread) loadError(r code, s *Source, j *jit) error {
	e := t.context.fail(cuModuleLoadDataEx, r, "load "+s.Kernel, classOf(r))
	e.Log = strings.TrimSpace(cString(unsafe.Pointer(&j.log)) + "\n" + cString(unsafe.Pointer(&j.info)))
	if !errors.Is(e, ErrUnsupported) {
		return e
	}
	d := t.context.device
	e.Text += fmt.Sprintf(" (it is %s; the driver supports CUDA %s, the device compute capability %d.%d)",
		ptxVersions(s.PTX), VersionText(t.context.driver.version), d.Major, d.Minor)
	if line := firstLine(e.Log); line != "" {
		e.Text += ": " + line
	}
	return e
}

var (
	ptxVersion = compiledLater(`(?m)^\s*\.version\s+([\d.]+)`)
	ptxTarget  = compiledLater(`(?m)^\s*\.target\s+(\w+)`)
)

// ptxVersions tells what the head of PTX asks for: "PTX 6.0 for sm_70".
func ptxVersions(ptx []byte) string {
	version, target := ptxVersion().FindSubmatch(ptx), ptxTarget().FindSubmatch(ptx)
	if version == nil || target == nil {
		return "not PTX"
	}
	return fmt.Sprintf("PTX %s for %s", version[1], target[1])
}
