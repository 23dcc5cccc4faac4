package ondevice

import (
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// movePlace is the number, in its source, of the kernel that moves rows of that many words. The
// first three kernels do not move rows; then come those for pairs of words, for even numbers and
// for odd numbers of words.
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

// ChainKernels returns the kernels of k that append rows of that many words to chains.
func ChainKernels(k *kernels.EgaScatterChain, stride int) []*cuda.Source {
	return k.Parts(0, 1, 2, movePlace(stride))
}
