//go:build !nogpu && linux && (amd64 || arm64)

package emu

import (
	"os"

	"github.com/ebitengine/purego"
)

// bind finds the control functions; nil when the library has none.
func bind() *Emu {
	path := os.Getenv("GAGG_CUDA_LIBRARY")
	if path == "" {
		return nil
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil
	}
	if _, err := purego.Dlsym(handle, "emu_reset"); err != nil {
		return nil
	}
	e := new(Emu)
	purego.RegisterLibFunc(&e.fault, handle, "emu_fault")
	purego.RegisterLibFunc(&e.calls, handle, "emu_calls")
	purego.RegisterLibFunc(&e.leaks, handle, "emu_leaks")
	purego.RegisterLibFunc(&e.reset, handle, "emu_reset")
	purego.RegisterLibFunc(&e.seed, handle, "emu_seed")
	purego.RegisterLibFunc(&e.slow, handle, "emu_slow")
	if _, err := purego.Dlsym(handle, "emu_built"); err == nil {
		purego.RegisterLibFunc(&e.built, handle, "emu_built")
	}
	return e
}
