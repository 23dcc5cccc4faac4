package reference

import (
	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// launcher launches the kernels of a layout: ega's, and those that only these strategies have.
type launcher struct {
	*ega.Kernels
	only   *kerneltest.EgaReference
	view   kernels.EgaLayout
	device cuda.Device
}

func newLauncher(k *ega.Kernels) launcher {
	c := k.Thread.Context()
	return launcher{Kernels: k, only: newShapes[k.Layout.Shape()](c), view: k.Layout.View(), device: c.Device()}
}

// newShapes is the kernels for each shape.
var newShapes = [...]func(*cuda.Context) *kerneltest.EgaReference{
	ega.ShapePair: kerneltest.NewEgaReferencePair,
	ega.ShapeKey1: kerneltest.NewEgaReferenceKey1,
	ega.ShapeKey2: kerneltest.NewEgaReferenceKey2,
	ega.ShapeKey3: kerneltest.NewEgaReferenceKey3,
	ega.ShapeKey4: kerneltest.NewEgaReferenceKey4,
	ega.ShapeRare: kerneltest.NewEgaReferenceRare,
	ega.ShapeAny:  kerneltest.NewEgaReferenceAny,
}

// placeKernel is the number of the kernel `place` in the order of the sources.
const placeKernel = 0

// placing is the grid of the kernel `place` for n rows.
func (k *launcher) placing(n uint64) (cuda.Grid, error) {
	f, err := k.only.Kernel(placeKernel)
	if err != nil {
		return cuda.Grid{}, err
	}
	blocks, err := f.Occupancy(kernels.EgaThreads, 0)
	return kernels.EgaRows(n, blocks*k.device.Multiprocessors), err
}

// pick makes the rows dense whose bits are set.
func (k *launcher) pick(s *cuda.Stream, g *ega.Gather, rows cuda.Span, n uint64, bits cuda.Span, out kernels.EgaDense) error {
	grid := kernels.EgaTiles(n)
	scan, err := g.Scan(s, grid)
	if err != nil {
		return err
	}
	return k.only.Pick(s, grid, k.view, rows.Ptr, n, bits.Ptr, out, scan)
}

// sharedBytes is the dynamic shared memory that a block can have.
func (k *launcher) sharedBytes() cuda.Size { return k.device.SharedPerBlock - kernels.EgaStaticShared }
