//go:build !nogpu && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"runtime"
	"syscall"

	"github.com/ebitengine/purego"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// openLibrary stays on one OS thread: purego asks for the reason of a failure
// by a call of its own, and libc keeps it for each thread.
func openLibrary(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// findSymbol is the address of a function; 0: the library has none.
func findSymbol(handle uintptr, name string) uintptr {
	address, err := purego.Dlsym(handle, name)
	if err != nil {
		return 0
	}
	return address
}

// call calls f. All its parameters are integers or pointers, never floats.
// Whatever a pointer converted in the argument list points to is on the heap
// and alive until call returns. Neither purego nor this allocates.
//
//go:uintptrescapes
func (l *library) call(f symbol, args ...uintptr) code {
	if invariant.Enabled {
		invariant.Check(len(args) == symbols[f].args, fmt.Sprintf("%s takes %d arguments, not %d", symbols[f].name, symbols[f].args, len(args)))
	}
	r, _, _ := purego.SyscallN(l.addresses[f], args...)
	return code(int32(r))
}

// systemThread is the number of the operating system thread.
func systemThread() int { return syscall.Gettid() }
