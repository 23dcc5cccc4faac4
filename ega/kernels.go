package ega

import (
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// These are the numbers of the kernels in a source of kernels.EgaShape.
// internal/kernels/ega_kernels.cuh describes each kernel.
const (
	clearKernel   = 0
	probeKernel   = 1
	collectKernel = 2
	sharedKernel  = 3
)

// Kernels holds the kernels for rows of one layout in a context. Objects that are made with them
// work on the thread that loaded them. The kernels stay in the context: there is nothing to close.
type Kernels struct {
	Layout Layout
	Thread *cuda.Thread
	shape  *kernels.EgaShape
	count  *kernels.EgaCount
	view   kernels.EgaLayout
	device cuda.Device
	// resident is how many blocks run at once on the device, of clear and probe.
	resident [probeKernel + 1]int
}

// Load chooses the kernels that suit a layout best, and loads those with which every use begins.
// The others are loaded at their first launch. Errors: those of Validate and of the driver.
func Load(t *cuda.Thread, l Layout) (*Kernels, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("layout: %w", err)
	}
	c := t.Context()
	k := &Kernels{Layout: l, Thread: t, shape: newShape(c, &l), count: kernels.NewEgaCount(c), view: l.View(), device: c.Device()}
	if err := c.Load(k.shape.Parts(clearKernel, probeKernel, sharedKernel)...); err != nil {
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

// Sources lists the kernels that combine rows into a Table and that count and collect its groups,
// in the order in which a first pass needs them. They may be loaded beforehand
// (cuda.Context.Load).
func Sources(c *cuda.Context, l *Layout) []*cuda.Source {
	return slices.Concat(
		newShape(c, l).Parts(sharedKernel, probeKernel, clearKernel, collectKernel),
		kernels.NewEgaCount(c).Parts(),
	)
}

// On returns the same kernels for use on another thread of the context.
func (k *Kernels) On(t *cuda.Thread) *Kernels {
	other := *k
	other.Thread = t
	return &other
}

// blocks is how many blocks of a kernel for rows run at once on the device.
func (k *Kernels) blocks(kernel int) (int, error) {
	f, err := k.shape.Kernel(kernel)
	if err != nil {
		return 0, err
	}
	blocks, err := f.Occupancy(kernels.EgaThreads, 0)
	return blocks * k.device.Multiprocessors, err
}

func newShape(c *cuda.Context, l *Layout) *kernels.EgaShape { return newShapes[l.Shape()](c) }

// newShapes is the kernels for each shape.
var newShapes = [...]func(*cuda.Context) *kernels.EgaShape{
	ShapePair: kernels.NewEgaPair,
	ShapeKey1: kernels.NewEgaKey1,
	ShapeKey2: kernels.NewEgaKey2,
	ShapeKey3: kernels.NewEgaKey3,
	ShapeKey4: kernels.NewEgaKey4,
	ShapeRare: kernels.NewEgaRare,
	ShapeAny:  kernels.NewEgaAny,
}

// Tags is the number of words of 32 bits that a table of so many slots has beside its rows.
func (l *Layout) Tags(slots uint32) cuda.Size {
	if l.KeyWords == 1 {
		return 1
	}
	return cuda.Size(slots)
}

// SharedTable is the shared memory that a table of so many slots takes.
func SharedTable(l *Layout, slots uint32) cuda.Size {
	return (cuda.Size(slots)+1)*l.RowBytes() + 4*l.Tags(slots)
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

// Clear empties a table in any memory of the device.
func (k *Kernels) Clear(s *cuda.Stream, t kernels.EgaTable) error {
	return k.shape.Clear(s, k.rows(clearKernel, uint64(t.Slots)+1), k.view, t)
}

// Probe combines n rows into a table, one by one. Rows without a slot go to the rest.
func (k *Kernels) Probe(s *cuda.Stream, rows cuda.Ptr, n uint64, t kernels.EgaTable, r kernels.EgaRest) error {
	return k.shape.Probe(s, k.rows(probeKernel, n), k.view, rows, n, t, r)
}

// rows is the grid of clear or probe for n rows.
func (k *Kernels) rows(kernel int, n uint64) cuda.Grid {
	return kernels.EgaRows(n, k.resident[kernel])
}
