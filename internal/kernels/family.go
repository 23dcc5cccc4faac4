package kernels

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Family is the kernels of one source, loaded into a context: what the types that
// are generated for the sources have in common. It is loaded and closed on one
// goroutine; in between any thread of the context launches its kernels.
type Family struct {
	module    *cuda.Module
	functions []*cuda.Function
}

// Load loads the PTX of a source and looks up its kernels, in the order of
// the source. Generated code calls it.
func (f *Family) Load(t *cuda.Thread, source string, ptx []byte, names ...string) error {
	module, err := t.LoadModule(source, ptx)
	if err != nil {
		return err
	}
	f.module = module
	for _, name := range names {
		function, err := module.Function(name)
		if err != nil {
			_ = f.Close() // the first error is the one to tell
			return fmt.Errorf("%s: %w", source, err)
		}
		f.functions = append(f.functions, function)
	}
	return nil
}

// Kernel is the i-th kernel of the source. Generated code calls it.
func (f *Family) Kernel(i int) *cuda.Function { return f.functions[i] }

// Functions is the kernels in the order of the source.
func (f *Family) Functions() []*cuda.Function { return f.functions }

// Close unloads the kernels; no launch of them may be under way, and none may
// follow. A second call does nothing.
func (f *Family) Close() error {
	if f.module == nil {
		return nil
	}
	module := f.module
	f.module, f.functions = nil, nil
	return module.Close()
}
