package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// ofDoubles binds a function of doubles; other numbers become doubles first.
// outside may be nil: the function is defined everywhere.
func ofDoubles(of func(float64) float64, outside func(x float64) string) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		return c.strict(func(f *frame) error {
			in, out := f.args[0].Float[:f.n], f.out.Float
			for i, x := range in {
				out[i] = of(x)
			}
			if outside == nil {
				return nil
			}
			for i, x := range in {
				if why := outside(x); why != "" && !f.out.IsNull(i) {
					return &DomainError{Why: why, Value: x}
				}
			}
			return nil
		}, castTo(c.args[0], doubleType, c.n)), nil
	}
}

func negative(x float64) string {
	if x < 0 {
		return "there is no square root of"
	}
	return ""
}

func notPositive(x float64) string {
	if x <= 0 {
		return "there is no logarithm of"
	}
	return ""
}

const (
	leastNormal = 0x1p-1022
	toNormal    = 64 // as a power of 2 that makes a number below it a normal one
)

// ln is math.Log, which on amd64 is wrong below the least normal number.
func ln(x float64) float64 {
	if x < leastNormal {
		return math.Log(math.Ldexp(x, toNormal)) - toNormal*math.Ln2
	}
	return math.Log(x)
}

// log10 is math.Log10, but right below the least normal number and for the powers of ten.
func log10(x float64) float64 {
	if x < leastNormal {
		return ln(x) / math.Ln10
	}
	l := math.Log10(x)
	if n := math.Round(l); math.Abs(n-l) < 1e-9 && math.Pow10(int(n)) == x {
		return n
	}
	return l
}

// logarithm binds log(x), to base 10, and log(base, x).
func logarithm(c *call) (*bound, error) {
	if len(c.args) == 1 {
		return ofDoubles(log10, notPositive)(c)
	}
	return c.strict(func(f *frame) error {
		for i, base := range f.args[0].Float[:f.n] {
			x := f.args[1].Float[i]
			f.out.Float[i] = math.Log2(x) / math.Log2(base)
			if f.out.IsNull(i) {
				continue
			}
			for _, v := range []float64{base, x} {
				if why := notPositive(v); why != "" {
					return &DomainError{Why: why, Value: v}
				}
			}
			if base == 1 {
				return &DomainError{Why: "there is no logarithm to base", Value: 1}
			}
		}
		return nil
	}, castTo(c.args[0], doubleType, c.n), castTo(c.args[1], doubleType, c.n)), nil
}

// ofTwoDoubles binds a function of two numbers.
func ofTwoDoubles(of func(x, y float64) float64) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		return c.strict(func(f *frame) error {
			for i, x := range f.args[0].Float[:f.n] {
				f.out.Float[i] = of(x, f.args[1].Float[i])
			}
			return nil
		}, castTo(c.args[0], doubleType, c.n), castTo(c.args[1], doubleType, c.n)), nil
	}
}

// sign binds sign(x): -1, 0 or 1; of NaN 0.
func sign(c *call) (*bound, error) {
	x := c.args[0]
	if x.typ.Kind == column.Uint64 {
		return c.strict(func(f *frame) error {
			for i, v := range f.args[0].Int[:f.n] {
				f.out.Int[i] = truth(v != 0)
			}
			return nil
		}, x), nil
	}
	switch x.typ.Rep() {
	case column.RepFloat64:
		return c.strict(func(f *frame) error {
			for i, v := range f.args[0].Float[:f.n] {
				f.out.Int[i] = truth(v > 0) - truth(v < 0)
			}
			return nil
		}, x), nil
	case column.RepWide:
		return c.strict(func(f *frame) error {
			for i, v := range f.args[0].Wide[:f.n] {
				f.out.Int[i] = int64(v.Sign())
			}
			return nil
		}, x), nil
	}
	return c.strict(func(f *frame) error {
		for i, v := range f.args[0].Int[:f.n] {
			f.out.Int[i] = truth(v > 0) - truth(v < 0)
		}
		return nil
	}, x), nil
}
