package expr

import (
	"math"
	"math/big"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// The reference evaluator: one row at a time, straight from the parsed
// nodes, with numbers of any size. It knows nothing of kernels, dictionaries
// or moved constants.

// refKind is what a reference value is; it decides how it meets others.
type refKind uint8

const (
	refNull refKind = iota
	refInt
	refDecimal
	refFloat
	refDouble
	refBool
	refString
	refTime // rat: seconds since 1970
)

type refValue struct {
	kind refKind
	rat  *big.Rat // refInt, refDecimal, refTime
	f    float64  // refFloat, refDouble
	b    bool
	s    string
}

func refOf(v column.Value) refValue {
	switch {
	case v.Null:
		return refValue{}
	case v.Type.Kind == column.Bool:
		return refValue{kind: refBool, b: v.Int != 0}
	case v.Type.Kind == column.String:
		return refValue{kind: refString, s: v.Bytes}
	case v.Type.Kind == column.Float64:
		return refValue{kind: refDouble, f: v.Float}
	case v.Type.IsFloat():
		return refValue{kind: refFloat, f: v.Float}
	case v.Type.Kind == column.Decimal:
		return refValue{kind: refDecimal, rat: exactOf(v).rat}
	case v.Type.IsInteger():
		return refValue{kind: refInt, rat: exactOf(v).rat}
	}
	return refValue{kind: refTime, rat: exactOf(v).rat}
}

type reference struct {
	rows testRows
	row  int
}

func (r reference) eval(n Node) (refValue, error) {
	switch n := n.(type) {
	case *Column:
		i, _, _ := testLookup(n.Name)
		return refOf(r.rows.values[i][r.row]), nil
	case *Literal:
		return refOf(n.Value), nil
	case *Unary:
		x, err := r.eval(n.X)
		if err != nil || x.kind == refNull {
			return x, err
		}
		if n.Op == "not" {
			x.b = !x.b
			return x, nil
		}
		return refNegate(x)
	case *Binary:
		return r.binary(n)
	case *IsNull:
		x, err := r.eval(n.X)
		return refValue{kind: refBool, b: (x.kind == refNull) != n.Not}, err
	case *Between:
		lo := &Binary{Op: ">=", L: n.X, R: n.Lo}
		hi := &Binary{Op: "<=", L: n.X, R: n.Hi}
		x, err := r.eval(&Binary{Op: "and", L: lo, R: hi})
		return refNot(x, n.Not), err
	case *In:
		var any Node
		for _, e := range n.List {
			eq := Node(&Binary{Op: "=", L: n.X, R: e})
			if any != nil {
				eq = &Binary{Op: "or", L: any, R: eq}
			}
			any = eq
		}
		x, err := r.eval(any)
		return refNot(x, n.Not), err
	case *Call:
		return r.call(n)
	case *Case:
		branch := n.Else
		for _, w := range n.Whens {
			x, err := r.eval(w.If)
			if err != nil {
				return x, err
			}
			if x.b {
				branch = w.Then
				break
			}
		}
		x, err := r.eval(branch)
		return x.as(n), err
	}
	panic("reference: " + n.String())
}

// as gives x the kind that it has as the value of n: that of all branches
// together.
func (x refValue) as(n Node) refValue {
	e, err := Bind(n, "", testLookup)
	if err != nil || x.kind == refNull {
		return x
	}
	switch t := e.Type(); {
	case t.Kind == column.Float64:
		return refValue{kind: refDouble, f: x.double(false)}
	case t.IsFloat():
		return refValue{kind: refFloat, f: x.double(true)}
	case t.Kind == column.Decimal:
		x.kind = refDecimal
	}
	return x
}

func refNot(x refValue, not bool) refValue {
	x.b = x.kind == refBool && x.b != not
	return x
}

func refNegate(x refValue) (refValue, error) {
	switch x.kind {
	case refInt, refDecimal:
		x.rat = new(big.Rat).Neg(x.rat)
		return x, nil
	}
	x.f = -x.f
	return x, nil
}

func (r reference) binary(n *Binary) (refValue, error) {
	a, err := r.eval(n.L)
	if err != nil {
		return a, err
	}
	b, err := r.eval(n.R)
	if err != nil {
		return b, err
	}
	decisive := n.Op == "or"
	switch {
	case n.Op == "and" || n.Op == "or":
		if a.kind == refBool && a.b == decisive || b.kind == refBool && b.b == decisive {
			return refValue{kind: refBool, b: decisive}, nil
		}
		if a.kind == refNull || b.kind == refNull {
			return refValue{}, nil
		}
		return refValue{kind: refBool, b: !decisive}, nil
	case a.kind == refNull || b.kind == refNull:
		return refValue{}, nil
	}
	if op, ok := compareOps[n.Op]; ok {
		return refValue{kind: refBool, b: op.holds()[refCompare(a, b)+1] != 0}, nil
	}
	return refArithmetic(n.Op, a, b), nil
}

func (x refValue) isFloat() bool { return x.kind == refFloat || x.kind == refDouble }

// double is x as it takes part in arithmetic with floats, rounded to float32
// where both sides are that narrow.
func (x refValue) double(narrow bool) float64 {
	f := x.f
	if !x.isFloat() {
		f, _ = x.rat.Float64()
	}
	if narrow {
		f = float64(float32(f))
	}
	return f
}

func refCompare(a, b refValue) int {
	switch {
	case a.kind == refString:
		return slices.Compare([]byte(a.s), []byte(b.s))
	case a.kind == refBool:
		return int(truth(a.b)) - int(truth(b.b))
	case !a.isFloat() && !b.isFloat():
		return a.rat.Cmp(b.rat)
	case a.isFloat() && b.isFloat():
		return compareDoubles(a.f, b.f)
	case b.isFloat():
		return -refCompare(b, a)
	case b.kind == refDecimal:
		return compareDoubles(a.f, b.double(a.kind == refFloat))
	case math.IsNaN(a.f) || math.IsInf(a.f, 1):
		return 1
	case math.IsInf(a.f, -1):
		return -1
	}
	return new(big.Rat).SetFloat64(a.f).Cmp(b.rat)
}

func refArithmetic(op string, a, b refValue) refValue {
	if op == "//" && (a.kind != refInt || b.kind != refInt) {
		op = "/"
	}
	if op == "/" || a.isFloat() || b.isFloat() {
		narrow := op != "/" && a.kind != refDouble && b.kind != refDouble
		x, y := a.double(narrow), b.double(narrow)
		out := refValue{kind: refDouble}
		if narrow {
			out.kind = refFloat
		}
		switch op {
		case "+":
			out.f = x + y
		case "-":
			out.f = x - y
		case "*":
			out.f = x * y
		case "/":
			out.f = x / y
		case "%":
			out.f = math.Mod(x, y)
		}
		if y == 0 && (op == "/" || op == "%") {
			return refValue{}
		}
		if narrow {
			out.f = float64(float32(out.f))
		}
		return out
	}
	out := refValue{kind: refInt, rat: new(big.Rat)}
	if a.kind == refDecimal || b.kind == refDecimal {
		out.kind = refDecimal
	}
	switch op {
	case "+":
		out.rat.Add(a.rat, b.rat)
	case "-":
		out.rat.Sub(a.rat, b.rat)
	case "*":
		out.rat.Mul(a.rat, b.rat)
	case "%", "//":
		if b.rat.Sign() == 0 {
			return refValue{}
		}
		q := new(big.Rat).Quo(a.rat, b.rat)
		whole := new(big.Rat).SetInt(new(big.Int).Quo(q.Num(), q.Denom()))
		if op == "//" {
			out.rat = whole
			return out
		}
		out.rat.Sub(a.rat, whole.Mul(whole, b.rat))
	}
	return out
}

// inRange reports whether a reference number fits the type of an expression.
func (x refValue) inRange(t column.Type) bool {
	if x.rat == nil || t.IsFloat() {
		return true
	}
	n, _ := exact{rat: x.rat}.floor(t)
	lo, hi := valueRange(t)
	return n.Cmp(lo) >= 0 && n.Cmp(hi) <= 0
}

// same reports whether v is what the reference says.
func (x refValue) same(v column.Value) bool {
	if x.kind == refNull || v.Null {
		return x.kind == refNull && v.Null
	}
	y := refOf(v)
	if x.isFloat() && y.isFloat() {
		return compareDoubles(x.f, y.f) == 0
	}
	return x.isFloat() == y.isFloat() && refCompare(x, y) == 0
}
