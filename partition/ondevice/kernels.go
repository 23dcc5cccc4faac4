package ondevice

import (
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// movePlace is the place, in the order of their source, of the kernel that moves rows of so many
// words: behind three that do not move rows are those for pairs of words, for an even number and
// for an odd one.
func movePlace(stride int) int {
	switch {
	case stride == 2:
		return 3
	case stride%2 == 0:
		return 4
	default:
		return 5
	}
}

// ChainKernels is those of k that append rows of so many words to chains.
func ChainKernels(k *kernels.EgaScatterChain, stride int) []*cuda.Source {
	return k.Parts(0, 1, 2, movePlace(stride))
}
