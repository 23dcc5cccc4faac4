package query

import (
	"fmt"
	"math/bits"
)

// Part is a share of the row groups of the input: number Number of Of, from 1 on.
//
// PART-ONCE: each row group is in one of the parts, that in which its middle row lies where all
// rows are cut into as many stretches of one length. So parts are stretches of the input, in file
// order, and no two differ by more rows than two row groups have.
type Part struct {
	Number, Of int // zeros: all of the input
}

// Takes reports whether the row group of so many rows, from number first on, is in the part, if
// there are total rows.
func (p Part) Takes(first, rows, total int64) bool {
	middle := uint64(first + rows/2)
	hi, lo := bits.Mul64(middle, uint64(p.Of))
	n, _ := bits.Div64(hi, lo, uint64(max(total, 1)))
	return int(min(n, uint64(p.Of-1))) == p.Number-1
}

// mostParts is more than there are machines.
const mostParts = 1 << 20

func (p Part) validate() error {
	if p == (Part{}) || 1 <= p.Number && p.Number <= p.Of && p.Of <= mostParts {
		return nil
	}
	return usagef("part %s: want i/N with i from 1 to N, and N at most %d", p, mostParts)
}

// String is the part as it is written.
func (p Part) String() string { return fmt.Sprintf("%d/%d", p.Number, p.Of) }
