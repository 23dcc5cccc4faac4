package expr

import (
	"math"
	"math/big"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// explicitCast binds cast(x as t). Conversions other than those of castTo and fastCast go
// value by value.
func explicitCast(x *bound, t column.Type, src Node) (*bound, error) {
	switch {
	case x.typ == t:
		return x, nil
	case x.typ.Kind == column.Null:
		return newNull(t), nil
	case !convertible(x.typ, t):
		return nil, typeErrorf("cannot cast %s to %s", x.typ, t)
	case t.IsFloat() && familyOf(x.typ) == familyNumber:
		n := strict(t, src, withinFloat(x.typ, t), x)
		if !x.typ.IsFloat() || t.Kind == column.Float64 { // else an infinity may be an error
			n.castsToFloat(x.typ, t)
		}
		return n, nil
	}
	if t == stringType {
		text := textAppender(x.typ)
		return strict(t, src, func(f *frame) error {
			return f.eachBytes(func(i int, to []byte) []byte { return text(to, f.args[0], i) })
		}, x), nil
	}
	fast := fastCast(x.typ, t)
	if fast == nil {
		return strict(t, src, func(f *frame) error { return castRows(f, t) }, x), nil
	}
	n := narrow(t, src, func(f *frame) error {
		if fast(f) || f.harmless() && fast(f) {
			return nil
		}
		if t.Rep() == column.RepWide {
			f.widen()
		} else {
			f.narrow()
		}
		return castRows(f, t)
	}, x)
	switch c, ok := castOfIntegers(x.typ, t); {
	case ok && IsWord(x.typ) && IsWord(t):
		if ops := c.words(); ops != nil {
			n.onWords(ops...)
		}
	case x.typ.IsFloat() && t.IsInteger() && !t.IsUnsigned():
		_, most := integersOf(t)
		n.onWords(roundEven.doubleWords(0), wordOp{code: CodeToInteger}, wordOp{code: CodeWithin, constant: uint64(most)})
	}
	return n, nil
}

// castRows casts value by value.
func castRows(f *frame, t column.Type) error {
	for i := range f.n {
		if f.out.IsNull(i) {
			f.clearRow(i)
			continue
		}
		v := f.args[0].At(i)
		to, ok := convert(v, t)
		if !ok {
			return &ValueError{Value: textOf(v), Type: t.String()}
		}
		if err := f.set(i, to); err != nil {
			return err
		}
	}
	return nil
}

// castOrNull is explicitCast, but what cannot be cast becomes NULL.
func castOrNull(x *bound, t column.Type, src Node) (*bound, error) {
	if _, err := explicitCast(x, t, src); err != nil || x.typ == t {
		return x, err
	}
	return strict(t, src, func(f *frame) error {
		for i := range f.n {
			to, ok := column.Value{}, false
			if !f.out.IsNull(i) {
				if to, ok = convert(f.args[0].At(i), t); !ok {
					f.setNull(i)
				}
			}
			if !ok {
				f.clearRow(i)
			} else if err := f.set(i, to); err != nil {
				return err
			}
		}
		return nil
	}, x), nil
}

// withinFloat is toFloat, but an infinity that from has not is an error.
func withinFloat(from, t column.Type) kernel {
	k := toFloat(from, t)
	if t.Kind == column.Float64 || !from.IsFloat() && from.Rep() != column.RepWide {
		return k
	}
	return func(f *frame) error {
		err := k(f)
		for i, v := range f.out.Float {
			if math.IsInf(v, 0) && !f.out.IsNull(i) && (!from.IsFloat() || !math.IsInf(f.args[0].Float[i], 0)) {
				return &ValueError{Value: textOf(f.args[0].At(i)), Type: t.String()}
			}
		}
		return err
	}
}

// convertible reports whether any value of from can be cast to t.
func convertible(from, t column.Type) bool {
	a, b := familyOf(from), familyOf(t)
	return a != familyNone && (a == b || from.Kind == column.Timestamp && b == familyClock || t.Kind == column.String || from.Kind == column.String)
}

// set stores v in row i. Bytes are appended, so rows come in order.
func (f *frame) set(i int, v column.Value) error {
	switch f.out.Type.Rep() {
	case column.RepInt64:
		f.out.Int[i] = v.Int
	case column.RepFloat64:
		f.out.Float[i] = v.Float
	case column.RepWide:
		f.out.Wide[i] = v.Wide
	case column.RepBytes:
		start := len(f.out.Data)
		f.out.Data = append(f.out.Data, v.Bytes...)
		return f.closeSpan(i, start)
	}
	return nil
}

// clearRow makes row i, which is NULL, harmless.
func (f *frame) clearRow(i int) {
	if f.out.Type.Rep() == column.RepBytes {
		f.out.Span[i] = column.Span{}
		f.pad()
	}
}

// closeSpan makes the bytes appended since start the value of row i.
func (f *frame) closeSpan(i, start int) error {
	if len(f.out.Data) > maxData {
		return errOverflow
	}
	f.out.Span[i] = column.Span{Off: uint32(start), Len: uint32(len(f.out.Data) - start)}
	f.pad()
	return nil
}

// pad gives the bytes so far what a reader of any span may read past its end.
func (f *frame) pad() {
	if spare := cap(f.out.Data) - len(f.out.Data); spare < column.SpanPadding {
		f.out.Data = append(f.out.Data, make([]byte, column.SpanPadding)...)[:len(f.out.Data)]
	}
}

// convert casts v, which is not NULL, to a type that is convertible.
func convert(v column.Value, t column.Type) (column.Value, bool) {
	switch {
	case v.Type.Kind == column.String && t.Rep() != column.RepBytes:
		text := strings.TrimSpace(v.Bytes)
		if t.IsNumeric() && !t.IsFloat() {
			if w, ok := shortNumber(text); ok {
				return convert(w, t)
			}
			if text == "" || strings.IndexByte("+-.0123456789", text[0]) < 0 {
				return column.Value{}, false
			}
		}
		if t.IsInteger() && len(text) > 2 && text[0] == '0' && strings.ContainsAny(text[1:2], "xXbB") {
			return parseRadix(text, t)
		}
		if t.Kind == column.Date || t.Kind == column.Timestamp {
			if w, ok := shortTime(text); ok {
				w.Type.UTC = t.UTC
				return convert(w, t)
			}
		}
		w, ok := parseAs(text, withoutFraction(t))
		if !ok || w.Type == t {
			return w, ok
		}
		return convert(w, t)
	case t.Kind == column.String:
		return stringValue(textOf(v)), true
	case t.Rep() == column.RepBytes:
		return convertBytes(v, t)
	case t.Kind == column.Time && v.Type.Kind == column.Timestamp:
		perDay := stepsPerDay(v.Type)
		v.Int -= floorDiv(v.Int, perDay) * perDay
		v.Type = column.Type{Kind: column.Time, Unit: v.Type.Unit}
	case t.Kind == column.Bool:
		return boolValue(v.Int != 0 || v.Float != 0 || v.Type.Rep() == column.RepWide && v.Wide.Sign() != 0), true
	}
	if v.Type.Rep() == column.RepInt64 && t.Rep() == column.RepInt64 {
		if c, ok := castOfIntegers(v.Type, t); ok {
			if to, ok := c.one(v.Int); ok {
				return column.Value{Type: t, Int: to}, true
			}
		}
	}
	return convertNumber(v, t)
}

// convertNumber casts v, a number or a date or time, to a type of the same family.
func convertNumber(v column.Value, t column.Type) (column.Value, bool) {
	e := exactOf(v)
	if t.IsFloat() {
		f, _ := e.toDouble()
		if v.Type.IsFloat() {
			f = v.Float
		}
		if t.Kind != column.Float64 {
			f = float64(float32(f))
		}
		return column.Value{Type: t, Float: f}, !math.IsInf(f, 0) || e.inf != 0
	}
	if e.inf != 0 {
		return column.Value{}, false
	}
	if v.Type.IsFloat() && t.Kind == column.Decimal {
		// As DuckDB does it: 1.45 is a bit less than that, and still 1.5
		// with one digit.
		if e = exactOf(doubleValue(math.Round(v.Float * math.Pow10(int(t.Scale))))); e.inf != 0 {
			return column.Value{}, false
		}
		e.rat.Mul(e.rat, grid(t))
	}
	n := e.round(t, v.Type.IsFloat())
	lo, hi := valueRange(t)
	if n.Cmp(lo) < 0 || n.Cmp(hi) > 0 {
		return column.Value{}, false
	}
	return stored(n, t), true
}

// convertBytes casts text or bytes to bytes; text holds \xNN for what it
// cannot hold itself.
func convertBytes(v column.Value, t column.Type) (column.Value, bool) {
	if v.Type.Kind == column.String {
		return parseAs(v.Bytes, t)
	}
	return column.Value{Type: t, Bytes: v.Bytes}, t.Kind != column.UUID || len(v.Bytes) == 16
}

// withoutFraction is the type that text is read as on its way to t: for an
// integer any number, which is rounded then.
func withoutFraction(t column.Type) column.Type {
	if t.IsInteger() {
		return column.DecimalType(maxDigits, 0)
	}
	return t
}

// round gives the stored integer of t for c: temporal values are cut,
// numbers rounded, halves away from zero or, for floats, to even.
func (c exact) round(t column.Type, halfEven bool) *big.Int {
	n, same := c.floor(t)
	if same || familyOf(t) != familyNumber {
		return n
	}
	rest := new(big.Rat).Sub(new(big.Rat).Quo(c.rat, grid(t)), new(big.Rat).SetInt(n))
	up := rest.Cmp(big.NewRat(1, 2))
	if up > 0 || up == 0 && (halfEven && n.Bit(0) == 1 || !halfEven && c.rat.Sign() > 0) {
		n.Add(n, big.NewInt(1))
	}
	return n
}

// valueRange is what values of t may be, as stored integers.
func valueRange(t column.Type) (lo, hi *big.Int) {
	switch {
	case t.Kind == column.Decimal:
		hi = pow10(int(t.Precision))
		hi.Sub(hi, big.NewInt(1))
		return new(big.Int).Neg(hi), hi
	case t.IsSigned() || t.Kind == column.Date:
		hi = new(big.Int).Lsh(big.NewInt(1), uint(t.Bits()-1))
		return new(big.Int).Neg(hi), new(big.Int).Sub(hi, big.NewInt(1))
	case t.IsUnsigned():
		hi = new(big.Int).Lsh(big.NewInt(1), uint(t.Bits()))
		return new(big.Int), hi.Sub(hi, big.NewInt(1))
	}
	return storedRange(t)
}
