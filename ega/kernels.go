package ega

import (
	"fmt"
	"slices"

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
	Kernel(place int) (*cuda.Function, error)
	Parts(places ...int) []*cuda.Source
}

// Places of kernels in the order of a family's source.
const (
	clearKernel   = 0
	probeKernel   = 1
	placeKernel   = 2
	collectKernel = 3
	sharedKernel  = 5
)

// Kernels is the kernels for rows of one layout in a context. What is made with them works on the thread that loaded
// them. They stay in the context: there is nothing to close.
type Kernels struct {
	Layout Layout
	family family
	count  *kernels.EgaCount
	view   kernels.EgaLayout
	thread *cuda.Thread
	device cuda.Device
	// resident is how many blocks run at once on the device, of clear and probe.
	resident [probeKernel + 1]int
}

// Load loads those of the kernels that suit a layout best that any use begins with. The others are loaded when
// they are first launched. Errors: those of Validate and of the driver.
func Load(t *cuda.Thread, l Layout) (*Kernels, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("layout: %w", err)
	}
	c := t.Context()
	k := &Kernels{Layout: l, family: newFamily(c, &l), count: kernels.NewEgaCount(c), view: l.view(), thread: t, device: c.Device()}
	if err := c.Load(k.family.Parts(clearKernel, probeKernel, sharedKernel)...); err != nil {
		return nil, err
	}
	for i := range k.resident {
		blocks, err := k.blocks(i)
		if err != nil {
			return nil, err
		}
		k.resident[i] = blocks
	}
	return k, nil
}

// PassKernels is the kernels that a MultiPass of a layout needs while all groups are on the device, in the order in which it does: they
// may be loaded (cuda.Context.Load) before it is made.
func PassKernels(c *cuda.Context, l *Layout, lists bool) []*cuda.Source {
	all := slices.Concat(
		kernels.NewFacts(c).Parts(), // of its pipeline
		newFamily(c, l).Parts(sharedKernel, probeKernel, clearKernel, collectKernel),
		kernels.NewEgaCount(c).Parts(),
		kernels.NewEgaOrder(c).Parts(),
	)
	if lists {
		all = append(all, kernels.NewEgaLists(c).Parts()...)
	}
	return all
}

// on is the same kernels for what another thread of the context makes.
func (k *Kernels) on(t *cuda.Thread) *Kernels {
	other := *k
	other.thread = t
	return &other
}

// blocks is how many blocks of a kernel for rows run at once on the device.
func (k *Kernels) blocks(kernel int) (int, error) {
	f, err := k.family.Kernel(kernel)
	if err != nil {
		return 0, err
	}
	blocks, err := f.Occupancy(kernels.EgaThreads, 0)
	return blocks * k.device.Multiprocessors, err
}

func newFamily(c *cuda.Context, l *Layout) family {
	switch {
	case l.isPairs():
		return kernels.NewEgaPair(c)
	case l.isRare() && l.KeyWords == 1:
		return kernels.NewEgaRare(c)
	case l.isRare():
		return kernels.NewEgaAny(c)
	case l.KeyWords == 1:
		return kernels.NewEgaKey1(c)
	case l.KeyWords == 2:
		return kernels.NewEgaKey2(c)
	case l.KeyWords == 3:
		return kernels.NewEgaKey3(c)
	case l.KeyWords == 4:
		return kernels.NewEgaKey4(c)
	}
	return kernels.NewEgaAny(c)
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

// rows is the grid of clear or probe, that n rows are shared among.
func (k *Kernels) rows(kernel int, n uint64) cuda.Grid {
	return kernels.EgaRows(n, k.resident[kernel])
}
