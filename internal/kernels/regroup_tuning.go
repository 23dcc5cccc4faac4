package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// What a field of a key holds that is regrouped: EgaRegroupKey.Form.
const (
	EgaRegroupBits = iota
	EgaRegroupNumber
	EgaRegroupText
	EgaRegroupRaw
	EgaRegroupWide
)

// How the word of a distinct value is made: EgaRegroupPlan.Kind.
const (
	EgaRegroupUnsigned = iota
	EgaRegroupSigned
	EgaRegroupFloat
)

// regroupThreads is EGA_REGROUP_THREADS: rows of 41 words, the most, fit into shared memory then.
const regroupThreads = 128

// EgaRegroupGrid is the grid of ega_regroup_rows for so many slots and rows of so many words. The
// bound is that of kernels that make rows.
func EgaRegroupGrid(slots uint64, words int) cuda.Grid {
	blocks := (slots + regroupThreads - 1) / regroupThreads
	return cuda.Grid{
		Blocks: uint32(min(max(blocks, 1), 2*parquetBlocks)), Threads: regroupThreads,
		Shared: uint32(regroupThreads * (words | 1) * 8),
	}
}
