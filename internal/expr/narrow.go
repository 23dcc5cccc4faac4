package expr

import (
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// Decimals of more than 18 digits have room for 256 bits, but the values of most columns and
// products fit 64. So + - * of decimals are computed in 64 bits first, for a whole batch. If all
// results fit, the vector is narrow: the values decide, not their types. Else the batch is
// computed once more in 256 bits.

// narrowKernels are those of sums and differences.
var narrowKernels = map[string]kernel{"+": addDecimals, "-": subDecimals}

// integers is the values of a vector that holds decimals as 64-bit integers.
func integers(v *column.Vector, n int) ([]int64, bool) {
	if !v.Narrow && v.Type.Rep() != column.RepInt64 {
		return nil, false
	}
	return v.Int[:n], true
}

// both is the arguments as 64-bit integers, if they are held as such.
func (f *frame) both() (a, b []int64, ok bool) {
	a, first := integers(f.args[0], f.n)
	b, second := integers(f.args[1], f.n)
	return a, b, first && second
}

func mulDecimals(f *frame) error {
	a, b, ok := f.both()
	if ok && multiply(f.narrow(), a, b) {
		return nil
	}
	if !ok {
		return f.each(mulWide)
	}
	out := f.widen()
	for i := range out {
		out[i] = mul64(a[i], b[i])
	}
	return nil
}

// multiply sets out to a*b and reports whether all products are sure to fit.
func multiply(out, a, b []int64) bool {
	a, b = a[:len(out)], b[:len(out)]
	p, q := uint64(0), uint64(0) // the bits of all factors, as if none were negative
	for i := range out {
		x, y := a[i], b[i]
		p |= uint64(x ^ x>>63)
		q |= uint64(y ^ y>>63)
		out[i] = x * y
	}
	return bits.Len64(p)+bits.Len64(q) <= 62 // a negative factor may be one more than its bits
}

func addDecimals(f *frame) error {
	a, b, ok := f.both()
	if !ok {
		return f.each(addWide)
	}
	out, alarm := f.narrow(), int64(0)
	for i := range out {
		r := a[i] + b[i]
		alarm |= (a[i] ^ r) & (b[i] ^ r)
		out[i] = r
	}
	if alarm >= 0 {
		return nil
	}
	return f.each(addWide)
}

func subDecimals(f *frame) error {
	a, b, ok := f.both()
	if !ok {
		return f.each(subWide)
	}
	out, alarm := f.narrow(), int64(0)
	for i := range out {
		r := a[i] - b[i]
		alarm |= (a[i] ^ b[i]) & (a[i] ^ r)
		out[i] = r
	}
	if alarm >= 0 {
		return nil
	}
	return f.each(subWide)
}

// each computes every row in 256 bits.
func (f *frame) each(op func(a, b decimal256.Num) (r decimal256.Num, overflow bool)) error {
	a, b := f.args[0], f.args[1]
	out, alarm := f.widen(), false
	for i := range out {
		r, over := op(wideAt(a, a.Type, i), wideAt(b, b.Type, i))
		out[i] = r
		alarm = alarm || over
	}
	if !alarm {
		return nil
	}
	return f.check(func(i int) bool {
		_, over := op(wideAt(a, a.Type, i), wideAt(b, b.Type, i))
		return over
	})
}

// rescaleDecimals multiplies stored integers by a power of ten that fits 64 bits. If a product
// does not fit, wide computes the batch in 256 bits.
func rescaleDecimals(power int64, wide kernel) kernel {
	most := (1<<63 - 1) / power
	return func(f *frame) error {
		in, ok := integers(f.args[0], f.n)
		if !ok {
			f.widen()
			return wide(f)
		}
		alarm := false
		for i, out := 0, f.narrow(); i < len(out); i++ {
			v := in[i]
			out[i] = v * power
			alarm = alarm || v > most || v < -most
		}
		if !alarm {
			return nil
		}
		f.widen()
		return wide(f)
	}
}

// compareDecimalsKernel compares decimals of one scale.
func compareDecimalsKernel(op compareOp) kernel {
	wide := compareFunc(op, func(a, b *column.Vector, i int) int { return wideAt(a, a.Type, i).Cmp(wideAt(b, b.Type, i)) })
	return func(f *frame) error {
		out := f.narrow()
		if a, b, ok := f.both(); ok {
			compareEach(op, out, a, b)
			return nil
		}
		return wide(f)
	}
}

// compareDecimalConst compares with a constant of the same scale. A constant beyond 64 bits is
// above or below all narrow values.
func compareDecimalConst(op compareOp, c decimal256.Num) kernel {
	small, fits := int64Of(c)
	beyond := op.holds()[1-c.Sign()]
	return func(f *frame) error {
		out := f.narrow()
		in, ok := integers(f.args[0], f.n)
		switch {
		case !ok:
			compareWideConst(op, out, f.args[0].Wide, c)
		case fits:
			compareConst(op, out, in, small)
		default:
			fill(out, beyond)
		}
		return nil
	}
}
