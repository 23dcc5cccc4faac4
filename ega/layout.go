package ega

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// MaxKeyWords is the most key words of a row; combine.MaxWords is that of state words.
const MaxKeyWords = 8

// This does not compile if the layout of the kernels has another number of operations.
var _ = [1]int{}[combine.MaxWords-len(kernels.EgaLayout{}.Ops)]

// Layout is what the words of a row are.
type Layout struct {
	// Hash: word 0 is the hash of the key, equal for equal keys. Without it the device computes
	// the hash, by internal/key's mix over the key words.
	Hash     bool
	KeyWords int          // 1 to MaxKeyWords
	Ops      []combine.Op // of the state words, combine.MaxWords at most
	// Mates[i] is the state word that takes the carry, the error or the greater value of state
	// word i, an AddLow, AddLowInt, AddMid, Sum, SumFine, Least or LeastMid, the ref of a text, or
	// what goes with a key or position. It may be shorter than Ops if the last words need none.
	Mates []int
	// Texts is where the texts lie that TextRef words refer to, in units of 8 bytes by the low half
	// of the ref: values of a chunk of package arena, of which the last words are filled with
	// zeros.
	Texts cuda.Ptr
}

// Pairs is the layout of a key and a count or sum: rows of 16 bytes.
var Pairs = Layout{KeyWords: 1, Ops: []combine.Op{combine.Add}}

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
	return !l.Hash && l.KeyWords == 1 && len(l.Ops) == 1 && l.Ops[0] == combine.Add
}

// isRare says whether there are operations that most kernels leave out: their code would make all
// kernels take longer to load.
func (l *Layout) isRare() bool {
	return slices.ContainsFunc(l.Ops, func(op combine.Op) bool {
		switch op {
		case combine.AddMid, combine.SumFine, combine.Least, combine.LeastText, combine.GreatestText, combine.First, combine.Last,
			combine.Best, combine.LeastBy, combine.GreatestBy:
			return true
		}
		return false
	})
}

// mate is the word that goes with state word i; i itself if none does.
func (l *Layout) mate(i int) int {
	switch {
	case len(l.Ops[i].Mates()) == 0:
		return i
	case i < len(l.Mates):
		return l.Mates[i]
	}
	return none
}

const none = -1

// Validate reports everything that is wrong with the layout.
func (l *Layout) Validate() error {
	var errs []error
	if l.KeyWords < 1 || l.KeyWords > MaxKeyWords {
		errs = append(errs, fmt.Errorf("key words: %d is not in 1 to %d", l.KeyWords, MaxKeyWords))
	}
	if len(l.Ops) > combine.MaxWords {
		errs = append(errs, fmt.Errorf("state words: %d is above %d", len(l.Ops), combine.MaxWords))
	}
	taken := make([]int, len(l.Ops)) // how many words name this one as their mate
	for i, op := range l.Ops {
		want := op.Mates()
		switch m := l.mate(i); {
		case !op.Valid():
			errs = append(errs, fmt.Errorf("state word %d: there is no operation %d", i, op))
		case len(want) == 0:
		// no circles
		case m < 0 || m >= len(l.Ops) || !slices.Contains(want, l.Ops[m]) || op.IsMate() && m <= i:
			errs = append(errs, fmt.Errorf("state word %d: its mate is not one", i))
		default:
			taken[m]++
		}
	}
	for i, op := range l.Ops {
		if op.IsMate() && taken[i] != 1 {
			errs = append(errs, fmt.Errorf("state word %d is the mate of %d words, not of one", i, taken[i]))
		}
	}
	return errors.Join(errs...)
}

// View is the layout as kernels take it.
func (l *Layout) View() kernels.EgaLayout {
	v := kernels.EgaLayout{Texts: l.Texts, KeyWords: uint32(l.KeyWords), StateWords: uint32(len(l.Ops))}
	if l.Hash {
		v.HashWords = 1
	}
	for i, op := range l.Ops {
		v.Ops[i], v.Mates[i] = uint8(op), uint8(l.mate(i))
	}
	return v
}
