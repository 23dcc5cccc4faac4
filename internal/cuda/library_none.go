//go:build nogpu || !linux || !(amd64 || arm64)

package cuda

import "errors"

// errNoGPU is what opening says where the driver cannot be called: a static
// binary has no dynamic linker.
var errNoGPU = errors.New("this build of gagg is without GPU support")

func openLibrary(string) (uintptr, error) { return 0, errNoGPU }

func findSymbol(uintptr, string) uintptr { return 0 }

// call is never reached: nothing was opened.
func (l *library) call(symbol, ...uintptr) code { return unknown }

func systemThread() int { return 0 }
