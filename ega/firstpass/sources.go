package firstpass

import (
	"slices"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Sources lists the kernels that a Pass of a layout needs while all groups are on the device, in
// the order of their first use. They may be loaded (cuda.Context.Load) before the Pass is made.
func Sources(c *cuda.Context, l *ega.Layout, lists bool) []*cuda.Source {
	all := slices.Concat(
		kernels.NewFacts(c).Parts(), // of its pipeline
		ega.Sources(c, l),
		kernels.NewEgaOrder(c).Parts(),
	)
	if lists {
		all = append(all, kernels.NewEgaLists(c).Parts()...)
	}
	return all
}
