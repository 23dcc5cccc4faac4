package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unsafe"
)

// Module is PTX that the driver has compiled for the device. Any thread of its
// context may launch its functions.
type Module struct {
	owned
	name   string
	handle uintptr
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

// LoadModule compiles PTX, which the driver keeps in a cache of its own; a module
// of 100 kB takes some 50 ms the first time. name is for messages. Where the
// device or the driver does not know such PTX the error is ErrUnsupported, names
// both versions, and holds the log of the compiler.
func (t *Thread) LoadModule(name string, ptx []byte) (*Module, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	j := &jit{options: [4]uint32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize}}
	j.values = [4]uintptr{uintptr(unsafe.Pointer(&j.info)), uintptr(len(j.info)), uintptr(unsafe.Pointer(&j.log)), uintptr(len(j.log))}
	j.image = append(bytes.Clone(ptx), 0) // the driver reads up to a NUL
	r := t.context.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&t.result)), uintptr(unsafe.Pointer(unsafe.SliceData(j.image))),
		uintptr(len(j.options)), uintptr(unsafe.Pointer(&j.options)), uintptr(unsafe.Pointer(&j.values)))
	if r != success {
		return nil, t.loadError(r, name, ptx, j)
	}
	m := &Module{name: name, handle: uintptr(t.result.word)}
	m.own(t.context, kindModule)
	return m, nil
}

func (t *Thread) loadError(r code, name string, ptx []byte, j *jit) error {
	e := t.context.fail(cuModuleLoadDataEx, r, "load "+name, classOf(r))
	e.Log = strings.TrimSpace(cString(unsafe.Pointer(&j.log)) + "\n" + cString(unsafe.Pointer(&j.info)))
	if !errors.Is(e, ErrUnsupported) {
		return e
	}
	d := t.context.device
	e.Text += fmt.Sprintf(" (it is %s; the driver supports CUDA %s, the device compute capability %d.%d)",
		ptxVersions(ptx), VersionText(t.context.driver.version), d.Major, d.Minor)
	if line := firstLine(e.Log); line != "" {
		e.Text += ": " + line
	}
	return e
}

var (
	ptxVersion = regexp.MustCompile(`(?m)^\s*\.version\s+([\d.]+)`)
	ptxTarget  = regexp.MustCompile(`(?m)^\s*\.target\s+(\w+)`)
)

// ptxVersions tells what the head of PTX asks for: "PTX 6.0 for sm_70".
func ptxVersions(ptx []byte) string {
	version, target := ptxVersion.FindSubmatch(ptx), ptxTarget.FindSubmatch(ptx)
	if version == nil || target == nil {
		return "not PTX"
	}
	return fmt.Sprintf("PTX %s for %s", version[1], target[1])
}

// Close unloads the module and with it its functions, whose work must have
// ended.
func (m *Module) Close() error {
	return m.close(func() error {
		return m.context.check(cuModuleUnload, m.context.call(cuModuleUnload, m.handle), "unload "+m.name)
	})
}
