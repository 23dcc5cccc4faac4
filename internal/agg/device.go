package agg

import (
	"fmt"

	"github.com/gagg-dev/gagg/ega"
)

// The device combines rows word by word, each word by one atomic operation
// (ega.Op), and a word may pass its carry or its rounding error on to a mate.
// Aggregates whose words change only together stay with the CPU.

// DeviceOps tells what becomes of each of the Words() state words, from word
// base of a row on, when two rows combine on the device, and which word is its
// mate (see ega.Layout). What comes out is what Combine makes of the same rows
// in some order; the low words of float sums are not kept small there, as
// settle does, which costs them digits only where one word gets many thousand
// additions of one sign of error.
//
// If the device cannot combine the rows, ops is nil and why says which
// aggregate it is and what the device lacks.
func (l *Layout) DeviceOps() (ops []ega.Op, mates []int, why string) {
	if l.Words() > ega.MaxStateWords {
		return nil, nil, fmt.Sprintf("all aggregates together take %d words a group, and the device combines at most %d", l.Words(), ega.MaxStateWords)
	}
	d := deviceWords{base: l.base, ops: make([]ega.Op, l.Words()), mates: make([]int, l.Words())}
	for _, off := range l.counts { // halves of a word too: no count passes its half
		d.set(off, ega.Add)
	}
	for _, off := range l.flags {
		d.set(off, ega.And)
	}
	for i := range l.slots {
		if lack := d.slot(&l.slots[i]); lack != "" {
			return nil, nil, l.callOf(i).name() + ": " + lack
		}
	}
	return d.ops, d.mates, ""
}

// deviceWords is the operations of a layout's state words in the making.
type deviceWords struct {
	base  int
	ops   []ega.Op
	mates []int
}

// set gives words of the row, from off on, their operations.
func (d *deviceWords) set(off int, ops ...ega.Op) { copy(d.ops[off-d.base:], ops) }

// pair gives a word and its mate their operations.
func (d *deviceWords) pair(off int, op ega.Op, mate int, mateOp ega.Op) {
	d.set(off, op)
	d.set(mate, mateOp)
	d.mates[off-d.base] = mate - d.base
}

// slot gives the words of a slot their operations, or says what the device
// lacks for it.
func (d *deviceWords) slot(s *slot) (lack string) {
	if op, single := deviceOps[s.op]; single {
		d.set(s.hot, op)
		return ""
	}
	switch s.op {
	case opAddInt128, opMulInt128:
		d.pair(s.hot, ega.AddLowInt, s.cold, ega.AddHigh)
	case opAddUint128:
		d.pair(s.hot, ega.AddLow, s.cold, ega.AddHigh)
	case opAddFloat, opAddDouble, opMulFloat, opPowFloat3, opPowFloat4:
		d.pair(s.hot, ega.Sum, s.hot+1, ega.SumError)
	default:
		return deviceLacks(s.op)
	}
	return ""
}

// deviceOps is the operation of slots of one word.
var deviceOps = map[op]ega.Op{
	opAddInt: ega.Add, opMulInt: ega.Add,
	opMinInt: ega.MinInt, opMaxInt: ega.MaxInt, opMinFloat: ega.MinFloat, opMaxFloat: ega.MaxFloat,
	opAnd: ega.And, opOr: ega.Or, opXor: ega.Xor,
}

// deviceLacks says, for the user, why the device does not do a slot.
func deviceLacks(o op) string {
	switch o {
	case opAddWide192, opAddWide320, opMulInt192:
		return "the device adds in at most 128 bits"
	case opMinWide, opMaxWide:
		return "the device compares numbers of at most 64 bits"
	case opMinBytes, opMaxBytes:
		return "the device does not compare strings"
	case opProduct: // a fraction without its exponent means nothing
		return "the device has no product with an exponent of its own"
	case opFirst, opLast, opArgMin, opArgMax: // several words, which change together
		return "the device does not keep a value with its place"
	}
	return "the device keeps no lists of values"
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
