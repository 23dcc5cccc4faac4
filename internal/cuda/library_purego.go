//go:build !nogpu && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"runtime"
	"sync"
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
// and alive until call returns; that costs an allocation.
//
//go:uintptrescapes
func (l *library) call(f symbol, args ...uintptr) code {
	checkArguments(f, len(args))
	r, _, _ := purego.SyscallN(l.addresses[f], args...)
	return code(int32(r))
}

// callFast is call without an allocation. Pointers among the arguments are to
// memory of the driver, or to memory on the heap that the caller keeps alive.
func (l *library) callFast(f symbol, args ...uintptr) code {
	checkArguments(f, len(args))
	list := argumentLists.Get().(*[maxArguments]uintptr)
	defer argumentLists.Put(list)
	r, _, _ := purego.SyscallN(l.addresses[f], list[:copy(list[:], args)]...)
	return code(int32(r))
}

// argumentLists are there because purego lets the list of arguments escape, so
// that one on the stack of the caller would be allocated for each call.
var argumentLists = sync.Pool{New: func() any { return new([maxArguments]uintptr) }}

const maxArguments = 11 // of cuLaunchKernel

func checkArguments(f symbol, n int) {
	if invariant.Enabled {
		invariant.Check(n == symbols[f].args, fmt.Sprintf("%s takes %d arguments, not %d", symbols[f].name, symbols[f].args, n))
	}
}

// systemThread is the number of the operating system thread.
func systemThread() int { return syscall.Gettid() }
