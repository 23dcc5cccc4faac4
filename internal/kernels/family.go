package kernels

import (
	"sync/atomic"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Family is the kernels of one source in a context: what the types that are
// generated for the sources have in common. Kernels are loaded together, before they are
// needed (cuda.Context.Load of Parts), or each when it is first launched. They stay in the
// context, so that there is nothing to close. Any thread of the context launches them.
type Family struct {
	context   *cuda.Context
	source    *Source
	functions []atomic.Pointer[cuda.Function] // nil: not looked up yet
}

// NewFamily is the kernels of a source, none of which is loaded. Generated code calls it.
func NewFamily(c *cuda.Context, s *Source) Family {
	return Family{context: c, source: s, functions: make([]atomic.Pointer[cuda.Function], len(s.Kernels))}
}

// LoadAll loads all kernels. Generated code calls it.
func (f *Family) LoadAll() error { return f.context.Load(f.Parts()...) }

// Parts is the kernels at places in the order of the source, for
// cuda.Context.Load; without places, all of them.
func (f *Family) Parts(places ...int) []*cuda.Source {
	all := f.source.parts()
	if len(places) == 0 {
		return all
	}
	parts := make([]*cuda.Source, len(places))
	for i, place := range places {
		parts[i] = all[place]
	}
	return parts
}

// Kernel is the i-th kernel of the source, which is loaded if it is not yet.
func (f *Family) Kernel(i int) (*cuda.Function, error) {
	if k := f.functions[i].Load(); k != nil {
		return k, nil
	}
	k, err := f.context.Function(f.source.parts()[i])
	if err == nil {
		f.functions[i].Store(k)
	}
	return k, err
}

// Enqueue launches the i-th kernel (cuda.Stream.Launch). Generated code calls it.
func (f *Family) Enqueue(s *cuda.Stream, i int, g cuda.Grid, args unsafe.Pointer, size uintptr) error {
	k, err := f.Kernel(i)
	if err != nil {
		return err
	}
	return s.Launch(k, g, args, size)
}
