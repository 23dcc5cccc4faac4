package expr

import (
	"bytes"
	"math"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// compareOp is a comparison.
type compareOp uint8

const (
	opEQ compareOp = iota
	opNE
	opLT
	opLE
	opGT
	opGE
)

var compareOps = map[string]compareOp{"=": opEQ, "<>": opNE, "<": opLT, "<=": opLE, ">": opGT, ">=": opGE}

// flip gives the operator for exchanged operands.
func (op compareOp) flip() compareOp {
	return [...]compareOp{opEQ: opEQ, opNE: opNE, opLT: opGT, opLE: opGE, opGT: opLT, opGE: opLE}[op]
}

// holds gives, for a three-way result of -1, 0 and 1, whether op is true.
func (op compareOp) holds() [3]int64 {
	return [...][3]int64{
		opEQ: {0, 1, 0}, opNE: {1, 0, 1}, opLT: {1, 0, 0}, opLE: {1, 1, 0}, opGT: {0, 0, 1}, opGE: {0, 1, 1},
	}[op]
}

// outcomes is the wanted outcomes of op, a bit each: below, equal, above.
func (op compareOp) outcomes() (bits uint64) {
	for i, wanted := range op.holds() {
		bits |= uint64(wanted) << i
	}
	return bits
}

// The loops below exist for each operator so that the body is one machine
// compare. T decides signedness; out holds 0 and 1.

func compareConst[T int64 | uint64 | float64](op compareOp, out []int64, a []T, c T) {
	a = a[:len(out)]
	switch op {
	case opEQ:
		for i := range out {
			out[i] = truth(a[i] == c)
		}
	case opNE:
		for i := range out {
			out[i] = truth(a[i] != c)
		}
	case opLT:
		for i := range out {
			out[i] = truth(a[i] < c)
		}
	case opLE:
		for i := range out {
			out[i] = truth(a[i] <= c)
		}
	case opGT: // written so that NaN, the greatest, is above c
		for i := range out {
			out[i] = truth(!(a[i] <= c))
		}
	case opGE:
		for i := range out {
			out[i] = truth(!(a[i] < c))
		}
	}
}

func compareEach[T int64 | uint64](op compareOp, out []int64, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	switch op {
	case opEQ:
		for i := range out {
			out[i] = truth(a[i] == b[i])
		}
	case opNE:
		for i := range out {
			out[i] = truth(a[i] != b[i])
		}
	case opLT:
		for i := range out {
			out[i] = truth(a[i] < b[i])
		}
	case opLE:
		for i := range out {
			out[i] = truth(a[i] <= b[i])
		}
	case opGT:
		for i := range out {
			out[i] = truth(a[i] > b[i])
		}
	case opGE:
		for i := range out {
			out[i] = truth(a[i] >= b[i])
		}
	}
}

// compareNaN compares with the constant NaN, which equals NaN and is above
// all else.
func compareNaN(op compareOp, out []int64, a []float64) {
	holds := op.holds()
	for i := range out {
		out[i] = holds[truth(a[i] != a[i])] // -1 or 0, moved by one
	}
}

// compareFunc compares row by row with a three-way function, for pairs of
// types without a common machine type.
func compareFunc(op compareOp, three func(a, b *column.Vector, i int) int) kernel {
	holds := op.holds()
	return func(f *frame) error {
		a, b := f.args[0], f.args[1]
		for i := range f.out.Int {
			f.out.Int[i] = holds[three(a, b, i)+1]
		}
		return nil
	}
}

// compareDoubles is the three-way comparison with NaN above all and equal to
// itself, and -0 equal to 0.
func compareDoubles(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return int(truth(a != a)) - int(truth(b != b))
}

func compareEachDouble(op compareOp, out []int64, a, b []float64) {
	holds := op.holds()
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = holds[compareDoubles(a[i], b[i])+1]
	}
}

// compareIntDouble compares exactly: the integer is not rounded.
func compareIntDouble(a int64, b float64) int {
	switch {
	case b != b || b >= 1<<63:
		return -1
	case b < -1<<63:
		return 1
	}
	whole := math.Floor(b)
	switch n := int64(whole); {
	case a < n || a == n && whole < b:
		return -1
	case a > n:
		return 1
	}
	return 0
}

func compareUintDouble(a uint64, b float64) int {
	switch {
	case b != b || b >= 1<<64:
		return -1
	case b < 0:
		return 1
	}
	whole := math.Floor(b)
	switch n := uint64(whole); {
	case a < n || a == n && whole < b:
		return -1
	case a > n:
		return 1
	}
	return 0
}

func compareIntUint(a int64, b uint64) int {
	switch {
	case a < 0 || uint64(a) < b:
		return -1
	case uint64(a) > b:
		return 1
	}
	return 0
}

// compareCoarse compares a, which counts steps of ratio, with b, which
// counts single ones; ratio > 0. Nothing can overflow.
func compareCoarse(a, b, ratio int64) int {
	q := floorDiv(b, ratio)
	switch {
	case a < q || a == q && b > q*ratio:
		return -1
	case a > q:
		return 1
	}
	return 0
}

// compareScaled compares two 128-bit products a*ma and b*mb; ma, mb > 0.
func compareScaled(a int64, ma uint64, b int64, mb uint64) int {
	if (a < 0) != (b < 0) {
		if a < 0 {
			return -1
		}
		return 1
	}
	ah, al := bits.Mul64(magnitude(a), ma)
	bh, bl := bits.Mul64(magnitude(b), mb)
	c := compareUint128(ah, al, bh, bl)
	if a < 0 {
		return -c
	}
	return c
}

func compareUint128(ah, al, bh, bl uint64) int {
	switch {
	case ah < bh || ah == bh && al < bl:
		return -1
	case ah == bh && al == bl:
		return 0
	}
	return 1
}

// magnitude is |a|, of the least integer too.
func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// uints sees stored uint64 values as what they are.
func uints(s []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// compareBytes fills out with the comparison of Bytes vectors.
func compareBytes(op compareOp, out []int64, a, b *column.Vector) {
	if op == opEQ || op == opNE {
		same := truth(op == opEQ)
		for i := range out {
			out[i] = truth(bytes.Equal(a.Bytes(i), b.Bytes(i))) ^ same ^ 1
		}
		return
	}
	holds := op.holds()
	for i := range out {
		out[i] = holds[bytes.Compare(a.Bytes(i), b.Bytes(i))+1]
	}
}

func compareBytesConst(op compareOp, out []int64, a *column.Vector, c []byte) {
	if op == opEQ || op == opNE {
		same, n := truth(op == opEQ), uint32(len(c))
		for i, s := range a.Span[:len(out)] {
			out[i] = truth(s.Len == n && bytes.Equal(a.Data[s.Off:s.Off+s.Len], c)) ^ same ^ 1
		}
		return
	}
	holds := op.holds()
	for i := range out {
		out[i] = holds[bytes.Compare(a.Bytes(i), c)+1]
	}
}

func compareWideConst(op compareOp, out []int64, a []decimal256.Num, c decimal256.Num) {
	holds := op.holds()
	for i := range out {
		out[i] = holds[a[i].Cmp(c)+1]
	}
}
