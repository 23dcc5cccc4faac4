package ega

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Op is what becomes of a state word when two rows combine; the numbers are
// those of EgaOp in internal/kernels/ega.cuh.
type Op uint8

const (
	Add       Op = iota // modulo 2^64
	AddLow              // unsigned low word of a sum of 128 bits: mate * 2^64 + this
	AddLowInt           // the same, signed
	AddHigh             // the highest word: the mate of either, or of an AddMid
	Sum                 // double; the sum is this + mate
	SumError            // the mate of Sum or SumFine
	MinInt
	MaxInt
	MinUint
	MaxUint
	MinFloat // NaN is the greatest, -0 becomes 0, NaN becomes math.NaN()
	MaxFloat
	And
	Or
	Xor
	// AddMid is an unsigned word between the lowest and the highest of a sum of more
	// than 128 bits: the mate of the word below it, with the word above it as its own
	// mate, which stands behind it.
	AddMid
	// SumFine is Sum with twice the digits of a double: its mate, a SumError, is
	// kept small. For sums that are subtracted from each other.
	SumFine
	// Least is an int64: the least of all values. Its mate is the next one, a LeastMid, whose mate
	// stands behind it and is the one after that, or LeastLast, which ends the list.
	Least
	LeastMid
	LeastLast
	ops // how many there are
)

// Most words of each kind.
const (
	MaxKeyWords   = 8
	MaxStateWords = len(kernels.EgaLayout{}.Ops)
)

// Layout is what the words of a row are.
type Layout struct {
	// Hash: word 0 is the hash of the key, equal for equal keys. Else the device
	// computes it, by internal/key's mix over the key words.
	Hash     bool
	KeyWords int  // 1 to MaxKeyWords
	Ops      []Op // of the state words, MaxStateWords at most
	// Mates[i] is the state word that takes the carry, the error or the greater value of state word
	// i, an AddLow, AddLowInt, AddMid, Sum, SumFine, Least or LeastMid. It may be short where the
	// words behind need none.
	Mates []int
}

// Pairs is the layout of a key and a count or sum: rows of 16 bytes.
var Pairs = Layout{KeyWords: 1, Ops: []Op{Add}}

// Stride is the number of words of a row.
func (l *Layout) Stride() int { return l.before() + len(l.Ops) }

// RowBytes is the size of a row.
func (l *Layout) RowBytes() cuda.Size { return cuda.Size(8 * l.Stride()) }

// before is the number of words before the states.
func (l *Layout) before() int {
	if l.Hash {
		return l.KeyWords + 1
	}
	return l.KeyWords
}

// isPairs says whether rows are those of Pairs, which have kernels of their own.
func (l *Layout) isPairs() bool {
	return !l.Hash && l.KeyWords == 1 && len(l.Ops) == 1 && l.Ops[0] == Add
}

// isRare says whether there are operations which most kernels leave out: the code
// for them would make all others longer to load.
func (l *Layout) isRare() bool {
	return slices.ContainsFunc(l.Ops, func(op Op) bool { return op == AddMid || op == SumFine || op == Least })
}

// mate is the word that goes with state word i; i itself if none does.
func (l *Layout) mate(i int) int {
	switch l.Ops[i] {
	case AddLow, AddLowInt, AddMid, Sum, SumFine, Least, LeastMid:
		if i < len(l.Mates) {
			return l.Mates[i]
		}
		return none
	}
	return i
}

const none = -1

// mateOps is what the mate of an operation may be.
var mateOps = map[Op][]Op{
	AddLow: {AddHigh, AddMid}, AddLowInt: {AddHigh, AddMid}, AddMid: {AddHigh, AddMid},
	Sum: {SumError}, SumFine: {SumError},
	Least: {LeastMid, LeastLast}, LeastMid: {LeastMid, LeastLast},
}

// isMate says whether a word of this operation changes with another one only.
func (o Op) isMate() bool {
	switch o {
	case AddHigh, AddMid, SumError, LeastMid, LeastLast:
		return true
	}
	return false
}

// Validate reports everything that is wrong with the layout.
func (l *Layout) Validate() error {
	var errs []error
	if l.KeyWords < 1 || l.KeyWords > MaxKeyWords {
		errs = append(errs, fmt.Errorf("key words: %d is not in 1 to %d", l.KeyWords, MaxKeyWords))
	}
	if len(l.Ops) > MaxStateWords {
		errs = append(errs, fmt.Errorf("state words: %d is above %d", len(l.Ops), MaxStateWords))
	}
	taken := make([]int, len(l.Ops)) // how many words name this one as their mate
	for i, op := range l.Ops {
		want, paired := mateOps[op]
		switch m := l.mate(i); {
		case op >= ops:
			errs = append(errs, fmt.Errorf("state word %d: there is no operation %d", i, op))
		case !paired:
		// no circles
		case m < 0 || m >= len(l.Ops) || !slices.Contains(want, l.Ops[m]) || op.isMate() && m <= i:
			errs = append(errs, fmt.Errorf("state word %d: its mate is not one", i))
		default:
			taken[m]++
		}
	}
	for i, op := range l.Ops {
		if op.isMate() && taken[i] != 1 {
			errs = append(errs, fmt.Errorf("state word %d is the mate of %d words, not of one", i, taken[i]))
		}
	}
	return errors.Join(errs...)
}

// View is the layout as kernels take it.
func (l *Layout) View() kernels.EgaLayout {
	v := kernels.EgaLayout{KeyWords: uint32(l.KeyWords), StateWords: uint32(len(l.Ops))}
	if l.Hash {
		v.HashWords = 1
	}
	for i, op := range l.Ops {
		v.Ops[i], v.Mates[i] = uint8(op), uint8(l.mate(i))
	}
	return v
}
