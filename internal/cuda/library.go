package cuda

import (
	"errors"
	"os"
	"strings"
	"unsafe"
)

// library is an opened libcuda.
type library struct {
	name      string
	addresses [symbolCount]uintptr
}

const (
	libraryVariable = "GAGG_CUDA_LIBRARY"
	defaultLibrary  = "libcuda.so.1"
)

// errNoGPU is what opening says where the driver cannot be called: a static
// binary has no dynamic linker.
var errNoGPU = errors.New("this build of gagg is without GPU support")

// libraryName is what Open opens.
func libraryName() string {
	if name := os.Getenv(libraryVariable); name != "" {
		return name
	}
	return defaultLibrary
}

// loadLibrary opens the library and finds every function. It looks for the
// version first, so that of a driver which lacks some of them both versions can
// be told.
func loadLibrary(name string) (*library, int, error) {
	handle, err := openLibrary(name)
	if err != nil {
		return nil, 0, &Error{Op: "open " + name, Text: strings.TrimPrefix(err.Error(), name+": "), class: ErrNoDriver, cause: err}
	}
	l := &library{name: name}
	if l.addresses[cuDriverGetVersion] = findSymbol(handle, symbols[cuDriverGetVersion].name); l.addresses[cuDriverGetVersion] == 0 {
		return nil, 0, &Error{Op: "open " + name, Text: "it is no CUDA driver: it has no function cuDriverGetVersion", class: ErrNoDriver}
	}
	var version out
	if r := l.call(cuDriverGetVersion, uintptr(unsafe.Pointer(&version))); r != success {
		return nil, 0, &Error{Op: "cuDriverGetVersion", Code: int(r), Name: "unknown code", Text: "the driver does not tell its version", class: ErrNotReady}
	}
	return l, int(version.int32()), l.findAll(handle, int(version.int32()))
}

func (l *library) findAll(handle uintptr, version int) error {
	if version < minVersion {
		return &Error{Op: "open " + l.name, Text: tooOld(version), class: ErrOldDriver}
	}
	for f := range symbolCount {
		if l.addresses[f] = findSymbol(handle, symbols[f].name); l.addresses[f] == 0 {
			return &Error{Op: "open " + l.name, Text: tooOld(version) + "; it has no function " + symbols[f].name, class: ErrOldDriver}
		}
	}
	return nil
}

func tooOld(version int) string {
	return "the driver supports CUDA " + VersionText(version) + ", gagg needs " + minDriverText
}

// out is where the driver writes a result of up to 8 bytes. Its address is
// taken in the argument list of call itself, which is what makes it escape to
// the heap (invariant HEAP).
type out struct{ word uint64 }

// int32 is a result of the C type int.
func (o *out) int32() int32 { return *(*int32)(unsafe.Pointer(o)) }

// pointer is an address in host memory that is not Go's.
func (o *out) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(o)) }

// cString copies the string that ends with a NUL; nil is empty.
func cString(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
