package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// EgaSelectRanges is EGA_SELECT_RANGES.
const EgaSelectRanges = 2048

// Numbers of the words that the program of a selection stores.
const (
	EgaRankWord = iota // EGA_RANK_WORD: groups are ranked by it
	EgaSureWord        // it only has to be computed without a failure
)

// EgaRankKind is how the word that a program stores becomes a rank: EgaWanted.Rank.
type EgaRankKind uint8

// As EgaRank has them.
const (
	EgaRankSigned EgaRankKind = iota
	EgaRankUnsigned
	EgaRankDouble
)

// How a value follows from words of a group's row: EgaValue.Kind.
const (
	EgaValueBits = iota
	EgaValueSigned
	EgaValueRows
	EgaValueSum
	EgaValueWide
	EgaValuePositive
	EgaValueDouble
	EgaValueDoubles
)

// EgaSelectGrid is the grid of ega_select_range and ega_select_keep, whose threads take slots in
// turns, with a program of so many registers. Of 128 threads with 40 registers 1584 blocks are
// resident on an H200. The bound is some rounds of these, so that few are idle in the last one.
func EgaSelectGrid(slots uint64, registers int) cuda.Grid {
	const most = 1 << 14
	grid := EgaSelectHistogramGrid(slots, registers)
	grid.Blocks = uint32(min(max((slots+parquetComputeThreads-1)/parquetComputeThreads, 1), most))
	return grid
}

// EgaSelectHistogramGrid is the grid of ega_select_histogram, whose blocks each have counts to
// clear and to add up. The bound is that of programs over rows.
func EgaSelectHistogramGrid(slots uint64, registers int) cuda.Grid {
	return ParquetComputeGrid(int(slots), registers)
}
