package expr

import (
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// bitVerbs names the operations on bits in messages.
var bitVerbs = map[string]string{"&": "take the common bits of", "|": "join the bits of", "xor": "take the differing bits of", "<<": "shift", ">>": "shift"}

// bitwise binds & | xor << >>. The result is int64, whatever the width of the integers, or uint64
// if one operand is uint64 and the other unsigned.
func bitwise(op string, l, r *bound, src Node) (*bound, error) {
	for _, x := range []*bound{l, r} {
		if !x.typ.IsInteger() && x.typ.Kind != column.Null {
			return nil, typeErrorf("cannot %s %s and %s: these are no integers", bitVerbs[op], l.typ, r.typ)
		}
	}
	t := int64Type
	if wide := column.Uint64; l.typ.Kind == wide || r.typ.Kind == wide && op != "<<" && op != ">>" {
		if t = uint64Type; !isNullConst(l) && !isNullConst(r) && (!isUnsigned(l) || !isUnsigned(r)) {
			return nil, typeErrorf("cannot %s %s and %s; cast one of them", bitVerbs[op], l.typ, r.typ)
		}
	}
	if isNullConst(l) || isNullConst(r) {
		return newNull(t), nil
	}
	switch op {
	case "<<":
		return strict(t, src, shiftLeft(t), l, r), nil
	case ">>":
		return strict(t, src, shiftRight(t), l, r), nil
	}
	return strict(t, src, bitKernels[op], l, r).onWords(wordOp{code: bitCodes[op]}), nil
}

var bitCodes = map[string]Code{"&": CodeBitAnd, "|": CodeBitOr, "xor": CodeBitXor}

var bitKernels = map[string]kernel{
	"&": func(f *frame) error {
		a, b := f.args[0].Int[:f.n], f.args[1].Int[:f.n]
		for i := range f.out.Int {
			f.out.Int[i] = a[i] & b[i]
		}
		return nil
	},
	"|": func(f *frame) error {
		a, b := f.args[0].Int[:f.n], f.args[1].Int[:f.n]
		for i := range f.out.Int {
			f.out.Int[i] = a[i] | b[i]
		}
		return nil
	},
	"xor": func(f *frame) error {
		a, b := f.args[0].Int[:f.n], f.args[1].Int[:f.n]
		for i := range f.out.Int {
			f.out.Int[i] = a[i] ^ b[i]
		}
		return nil
	},
}

// shiftLeft fails where bits are lost, and for negative numbers.
func shiftLeft(t column.Type) kernel {
	most := uint64(math.MaxInt64)
	if t == uint64Type {
		most = math.MaxUint64
	}
	lost := func(a, b int64) bool {
		if b < 0 || a < 0 && t != uint64Type {
			return true
		}
		return a != 0 && (b >= 64 || uint64(a) > most>>uint64(b))
	}
	return func(f *frame) error {
		a, b := f.args[0].Int[:f.n], f.args[1].Int[:f.n]
		alarm := false
		for i, v := range a {
			f.out.Int[i] = int64(uint64(v) << uint64(b[i]))
			alarm = alarm || lost(v, b[i])
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool { return lost(a[i], b[i]) })
	}
}

// shiftRight keeps the sign; where nothing is left, and for negative shifts, it gives 0.
func shiftRight(t column.Type) kernel {
	return func(f *frame) error {
		a, b := f.args[0].Int[:f.n], f.args[1].Int[:f.n]
		for i, v := range a {
			switch by := uint64(b[i]); {
			case by >= 64:
				f.out.Int[i] = 0
			case t == uint64Type:
				f.out.Int[i] = int64(uint64(v) >> by)
			default:
				f.out.Int[i] = v >> by
			}
		}
		return nil
	}
}

// complement binds ~x: of unsigned integers their type, of others int64.
func complement(x *bound, src Node) (*bound, error) {
	switch {
	case x.typ.Kind == column.Null:
		return newNull(int64Type), nil
	case !x.typ.IsInteger():
		return nil, typeErrorf("~ needs an integer, not %s", x.typ)
	}
	t, mask := int64Type, int64(-1)
	if x.typ.IsUnsigned() {
		t, mask = x.typ, int64(uint64(math.MaxUint64)>>(64-x.typ.Bits()))
	}
	return strict(t, src, func(f *frame) error {
		for i, v := range f.args[0].Int[:f.n] {
			f.out.Int[i] = v ^ mask
		}
		return nil
	}, x), nil
}

// bitCount binds bit_count(x), of as many bits as the type has.
func bitCount(c *call) (*bound, error) {
	mask := uint64(math.MaxUint64) >> (64 - c.args[0].typ.Bits())
	return c.strict(func(f *frame) error {
		for i, v := range f.args[0].Int[:f.n] {
			f.out.Int[i] = int64(bits.OnesCount64(uint64(v) & mask))
		}
		return nil
	}, c.args...), nil
}

// xor binds xor(a, b).
func xor(c *call) (*bound, error) { return bitwise("xor", c.args[0], c.args[1], c.n) }

// xorType is the type of xor(a, b).
func xorType(args []*bound) column.Type {
	if args[0].typ.Kind == column.Uint64 || args[1].typ.Kind == column.Uint64 {
		return uint64Type
	}
	return int64Type
}

// commonDivisor binds gcd(a, b), and lcm if multiple is set.
func commonDivisor(multiple bool) func(*call) (*bound, error) {
	of := func(a, b int64) (uint64, bool) {
		x, y := magnitude(a), magnitude(b)
		for m, n := x, y; ; m, n = n, m%n {
			if n != 0 {
				continue
			}
			if !multiple {
				return m, m <= math.MaxInt64
			}
			if m == 0 {
				return 0, true
			}
			hi, lo := bits.Mul64(x/m, y)
			return lo, hi == 0 && lo <= math.MaxInt64
		}
	}
	return func(c *call) (*bound, error) {
		return c.strict(func(f *frame) error {
			return f.failing(func(i int) error {
				v, fits := of(f.args[0].Int[i], f.args[1].Int[i])
				if !fits {
					return errOverflow
				}
				f.out.Int[i] = int64(v)
				return nil
			})
		}, c.args...), nil
	}
}
