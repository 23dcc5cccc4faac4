package agg

import (
	"fmt"

	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/internal/column"
)

// The device combines rows word by word, each word by one atomic operation
// (combine.Op), and a word may pass its carry or its rounding error on to a mate.
// Aggregates whose words change only together stay with the CPU.
//
// The least and the greatest text are two words, a prefix and a ref (bytes.go). A device compares
// texts of its own memory alone: rows with other refs do not go there (DEVICE-REFS in package cpu).
// There no value of a row is replaced in its place, since many rows refer to it (SHARED-KEPT in
// package arena).

// DeviceOps returns, for each of the Words() state words, from word base of a
// row on, the operation that combines it on the device and the word that is its
// mate (see ega.Layout). The result is that of Combine, of the same rows in
// some order.
//
// If the device cannot combine the rows, ops is nil and why says which
// aggregate it is and what the device lacks.
func (l *Layout) DeviceOps() (ops []combine.Op, mates []int, why string) {
	if l.Words() > combine.MaxWords {
		return nil, nil, fmt.Sprintf("all aggregates together take %d words a group, and the device combines at most %d", l.Words(), combine.MaxWords)
	}
	d := deviceWords{base: l.base, ops: make([]combine.Op, l.Words()), mates: make([]int, l.Words())}
	for _, off := range l.counts { // halves of a word too: no count passes its half
		d.set(off, combine.Add)
	}
	for _, off := range l.flags {
		d.set(off, combine.And)
	}
	for i := range l.slots {
		s := &l.slots[i]
		if lack := d.slot(s, l.sets[s.set].part); lack != "" {
			return nil, nil, l.callOf(i).name() + ": " + lack
		}
	}
	return d.ops, d.mates, ""
}

// deviceWords is the operations of a layout's state words in the making.
type deviceWords struct {
	base  int
	ops   []combine.Op
	mates []int
}

// set gives a word of the row its operation.
func (d *deviceWords) set(off int, op combine.Op) { d.ops[off-d.base] = op }

// chain makes each word the mate of the one before it.
func (d *deviceWords) chain(first, mid, last combine.Op, offs ...int) {
	for i, off := range offs {
		d.set(off, mid)
		if i > 0 {
			d.mates[offs[i-1]-d.base] = off - d.base
		}
	}
	d.set(offs[0], first)
	d.set(offs[len(offs)-1], last)
}

// sum is a compensated sum, of which the error stands behind the sum.
func (d *deviceWords) sum(op combine.Op, off int) { d.chain(op, op, combine.SumError, off, off+1) }

// slot gives the words of a slot of a part their operations, or says what the device
// lacks for it.
func (d *deviceWords) slot(s *slot, part int) (lack string) {
	if op, single := deviceOps[s.op]; single {
		d.set(s.hot, op)
		return ""
	}
	switch s.op {
	case opAddInt128, opMulInt128:
		d.chain(combine.AddLowInt, combine.AddMid, combine.AddHigh, s.hot, s.cold)
	case opMulInt192:
		d.chain(combine.AddLowInt, combine.AddMid, combine.AddHigh, s.hot, s.cold, s.cold+1)
	case opAddUint128:
		d.chain(combine.AddLow, combine.AddMid, combine.AddHigh, s.hot, s.cold)
	case opAddWide192:
		d.chain(combine.AddLow, combine.AddMid, combine.AddHigh, s.hot, s.hot+1, s.hot+2)
	case opAddWide320:
		d.chain(combine.AddLow, combine.AddMid, combine.AddHigh, s.hot, s.hot+1, s.hot+2, s.hot+3, s.hot+4)
	case opFixedSum, opFixedMul, opFixedPow3, opFixedPow4:
		offs := make([]int, s.fixed.n)
		for i := range offs {
			offs[i] = s.hot + i
		}
		d.chain(combine.AddLow, combine.AddMid, combine.AddHigh, offs...)
	case opAddFloat:
		d.sum(combine.Sum, s.hot)
	case opAddDouble, opMulFloat, opPowFloat3, opPowFloat4:
		d.sum(combine.SumFine, s.hot)
	case opMinBytes:
		d.chain(combine.LeastText, combine.LeastText, combine.TextRef, s.hot, s.hot+1)
	case opMaxBytes:
		d.chain(combine.GreatestText, combine.GreatestText, combine.TextRef, s.hot, s.hot+1)
	case opFirst, opLast, opArgMin, opArgMax:
		return d.placed(s)
	case opTop:
		d.top(s.hot, s.chain.n)
	case opChain:
		// that of another part is empty as long as devices have the rows
		if part == 0 && !s.listed() {
			return deviceLacks(s.op)
		}
		d.set(s.hot, combine.Or)
		d.set(s.hot+1, combine.Or)
		d.set(s.hot+2, combine.Add)
		for i := range s.chain.coldWords() {
			d.set(s.cold+i, combine.Or)
		}
	default:
		return deviceLacks(s.op)
	}
	return ""
}

// placed is a value with the position of its row, and the key of that.
func (d *deviceWords) placed(s *slot) (lack string) {
	if s.xRep == column.RepWide || s.keyWords() > 2 && s.y != none {
		return "the device keeps values of at most 64 bits, and texts, by such keys"
	}
	offs := []int{s.hot}
	switch {
	case s.op == opFirst:
		d.set(s.hot, combine.First)
	case s.op == opLast:
		d.set(s.hot, combine.Last)
	case s.yRep != column.RepBytes:
		offs = append(offs, s.hot+1)
		d.set(s.hot, combine.Best)
		d.set(s.hot+1, combine.BestPlace)
	default:
		offs = append(offs, s.hot+1, s.hot+2)
		d.set(s.hot, combine.LeastBy)
		if s.op == opArgMax {
			d.set(s.hot, combine.GreatestBy)
		}
		d.set(s.hot+1, combine.ByRef)
		d.set(s.hot+2, combine.BestPlace)
	}
	d.set(s.cold, combine.Placed)
	for i, off := range append(offs[1:], s.cold) {
		d.mates[offs[i]-d.base] = off - d.base
	}
	return ""
}

// top is the least n keys.
func (d *deviceWords) top(off, n int) {
	if n == 1 {
		d.set(off, combine.MinInt)
		return
	}
	offs := make([]int, n)
	for i := range offs {
		offs[i] = off + i
	}
	d.chain(combine.Least, combine.LeastMid, combine.LeastLast, offs...)
}

// deviceOps is the operation of slots of one word.
var deviceOps = map[op]combine.Op{
	opAddInt: combine.Add, opMulInt: combine.Add,
	opMinInt: combine.MinInt, opMaxInt: combine.MaxInt, opMinFloat: combine.MinFloat, opMaxFloat: combine.MaxFloat,
	opAnd: combine.And, opOr: combine.Or, opXor: combine.Xor,
}

// deviceLacks says, for the user, why the device does not do a slot.
func deviceLacks(o op) string {
	switch o {
	case opMinWide, opMaxWide:
		return "the device compares numbers of at most 64 bits"
	case opProduct: // a fraction without its exponent means nothing
		return "the device has no product with an exponent of its own"
	}
	return "of lists, the device keeps those of all values alone, and of at most 64 bits"
}

// callOf is the first call that uses a slot.
func (l *Layout) callOf(slot int) *call {
	for i := range l.calls {
		for _, s := range l.calls[i].slots {
			if s == slot {
				return &l.calls[i]
			}
		}
	}
	panic("agg: a slot that no call uses")
}

// name is the call for the user, with the types of its arguments.
func (c *call) name() string {
	name := signatures[c.fn].name
	for i, t := range c.types {
		sep := ", "
		if i == 0 {
			sep = "("
		}
		name += sep + t.String()
	}
	return name + ")"
}
