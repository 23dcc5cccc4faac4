package ega

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// family is the kernels of one shape; internal/kernels/ega_kernels.cuh tells what each does.
type family interface {
	Clear(s *cuda.Stream, g cuda.Grid, l kernels.EgaLayout, t kernels.EgaTable) error
	Probe(s *cuda.Stream, g cuda.Grid, l kernels.EgaLayout, rows cuda.Ptr, n uint64, t kernels.EgaTable, r kernels.EgaRest) error
	Place(s *cuda.Stream, g cuda.Grid, l kernels.EgaLayout, rows cuda.Ptr, n uint64, t kernels.EgaTable, bits cuda.Ptr) error
	Collect(s *cuda.Stream, g cuda.Grid, l kernels.EgaLayout, t kernels.EgaTable, out kernels.EgaDense, scan kernels.EgaScan) error
	Pick(s *cuda.Stream, g cuda.Grid, l kernels.EgaLayout, rows cuda.Ptr, n uint64, bits cuda.Ptr, out kernels.EgaDense, scan kernels.EgaScan) error
	Shared(s *cuda.Stream, g cuda.Grid, l kernels.EgaLayout, rows cuda.Ptr, n uint64, slots, probes, parts uint32, t kernels.EgaTable, r kernels.EgaRest) error
	Spans(s *cuda.Stream, g cuda.Grid, l kernels.EgaLayout, rows, spans cuda.Ptr, slots, probes uint32, t kernels.EgaTable, r kernels.EgaRest) error
	Buckets(s *cuda.Stream, g cuda.Grid, l kernels.EgaLayout, in kernels.EgaBuckets) error
	Functions() []*cuda.Function
	Close() error
}

// Places of kernels among a family's functions.
const (
	clearFunction   = 0
	probeFunction   = 1
	placeFunction   = 2
	sharedFunction  = 5
	spansFunction   = 6
	bucketsFunction = 7
)

// Kernels is the kernels for rows of one layout, loaded into a context. What is
// made with them works on the thread that loaded them.
type Kernels struct {
	Layout Layout
	family family
	count  *kernels.EgaCount
	view   kernels.EgaLayout
	thread *cuda.Thread
	device cuda.Device
	// resident is how many blocks run at once on the device, of clear, probe and place.
	resident [placeFunction + 1]int
}

// Load loads the kernels that suit a layout best. Errors: those of Validate and
// of the driver.
func Load(t *cuda.Thread, l Layout) (*Kernels, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("layout: %w", err)
	}
	f, err := loadFamily(t, &l)
	if err != nil {
		return nil, err
	}
	k := &Kernels{Layout: l, family: f, view: l.view(), thread: t, device: t.Context().Device()}
	if k.count, err = kernels.LoadEgaCount(t); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := k.prepare(f.Functions()); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// on is the same kernels for what another thread of the context makes. They are
// closed where they were loaded, after all that.
func (k *Kernels) on(t *cuda.Thread) *Kernels {
	other := *k
	other.thread = t
	return &other
}

// prepare allows shared memory to the functions that need it, and asks how many blocks of the others run at once.
func (k *Kernels) prepare(functions []*cuda.Function) error {
	for _, i := range []int{sharedFunction, spansFunction, bucketsFunction} {
		if err := functions[i].SetDynamicShared(uint32(k.sharedBytes())); err != nil {
			return err
		}
	}
	for i := range k.resident {
		blocks, err := functions[i].Occupancy(kernels.EgaThreads, 0)
		if err != nil {
			return err
		}
		k.resident[i] = blocks * k.device.Multiprocessors
	}
	return nil
}

func loadFamily(t *cuda.Thread, l *Layout) (family, error) {
	switch {
	case l.isPairs():
		return asFamily(kernels.LoadEgaPair(t))
	case l.isRare() && l.KeyWords == 1:
		return asFamily(kernels.LoadEgaRare(t))
	case l.isRare():
		return asFamily(kernels.LoadEgaAny(t))
	case l.KeyWords == 1:
		return asFamily(kernels.LoadEgaKey1(t))
	case l.KeyWords == 2:
		return asFamily(kernels.LoadEgaKey2(t))
	case l.KeyWords == 3:
		return asFamily(kernels.LoadEgaKey3(t))
	case l.KeyWords == 4:
		return asFamily(kernels.LoadEgaKey4(t))
	}
	return asFamily(kernels.LoadEgaAny(t))
}

// asFamily keeps a nil pointer from becoming an interface that is not nil.
func asFamily[F family](f F, err error) (family, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// sharedBytes is the dynamic shared memory a block can have.
func (k *Kernels) sharedBytes() cuda.Size { return k.device.SharedPerBlock - kernels.EgaStaticShared }

// tags is the number of words of 32 bits that a table of so many slots has
// beside its rows.
func (k *Kernels) tags(slots uint32) cuda.Size { return tagsOf(&k.Layout, slots) }

func tagsOf(l *Layout, slots uint32) cuda.Size {
	if l.KeyWords == 1 {
		return 1
	}
	return cuda.Size(slots)
}

// SharedTable is the shared memory that a table of so many slots takes.
func SharedTable(l *Layout, slots uint32) cuda.Size {
	return (cuda.Size(slots)+1)*l.RowBytes() + 4*tagsOf(l, slots)
}

// SharedSlots is how many slots fit into that much shared memory.
func SharedSlots(l *Layout, memory cuda.Size) uint32 {
	fixed, each := l.RowBytes()+4, l.RowBytes()
	if l.KeyWords > 1 {
		fixed, each = l.RowBytes(), l.RowBytes()+4
	}
	if memory < fixed {
		return 0
	}
	return uint32((memory - fixed) / each)
}

// rows is the grid of the kernel at a place among the functions, that n rows are shared among.
func (k *Kernels) rows(function int, n uint64) cuda.Grid {
	return kernels.EgaRows(n, k.resident[function])
}

// Close unloads the kernels. A second call does nothing.
func (k *Kernels) Close() error { return errors.Join(k.family.Close(), k.count.Close()) }
