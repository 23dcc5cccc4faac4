package expr

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
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

// shortNumber reads up to 18 digits, which may follow a minus and have a point among them; false:
// it is something else.
func shortNumber(text string) (v column.Value, ok bool) {
	digits := strings.TrimPrefix(text, "-")
	n, scale, point := int64(0), 0, strings.IndexByte(digits, '.')
	if point >= 0 {
		scale = len(digits) - 1 - point
	}
	if count := len(digits) - int(truth(point >= 0)); count == scale || scale == 0 && point >= 0 || count > maxInt64Power {
		return v, false
	}
	for i, c := range []byte(digits) {
		switch {
		case isDigit(c):
			n = 10*n + int64(c-'0')
		case i != point:
			return v, false
		}
	}
	if len(digits) < len(text) {
		n = -n
	}
	return column.Value{Type: column.DecimalType(maxInt64Power, scale), Int: n}, true
}

// shortTime reads a date of the form 2006-01-02, which 15:04:05 may follow behind a space or a T;
// false: it is something else.
func shortTime(text string) (v column.Value, ok bool) {
	const form = "0000-00-00 00:00:00"
	if len(text) != 10 && len(text) != len(form) {
		return v, false
	}
	for i := range len(text) {
		if c := text[i]; c != form[i] && !(form[i] == '0' && isDigit(c)) && !(i == 10 && c == 'T') {
			return v, false
		}
	}
	two := func(at int) int64 { return int64(text[at]-'0')*10 + int64(text[at+1]-'0') }
	year, month, day := 100*two(0)+two(2), two(5), two(8)
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return v, false
	}
	sec := daysFromCivil(year, month, day) * secondsPerDay
	if len(text) == len(form) {
		hour, minute, second := two(11), two(14), two(17)
		if hour > 23 || minute > 59 || second > 59 {
			return v, false
		}
		sec += hour*3600 + minute*60 + second
	}
	return column.Value{Type: column.Type{Kind: column.Timestamp, Unit: column.Micro}, Int: sec * 1e6}, true
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

// parseAs reads text as a value that compares with values of type t. It may
// be of another type of the same family, if that holds it exactly.
func parseAs(text string, t column.Type) (column.Value, bool) {
	switch {
	case t.Kind == column.Bool:
		switch strings.ToLower(text) {
		case "true", "t", "yes", "y", "1":
			return boolValue(true), true
		case "false", "f", "no", "n", "0":
			return boolValue(false), true
		}
		return column.Value{}, false
	case t.IsFloat():
		return parseFloat(text)
	case t.IsNumeric():
		return parseSigned(text, t)
	case t.Kind == column.Date || t.Kind == column.Timestamp:
		return parseTemporal("timestamp", text)
	case t.Kind == column.Time:
		return parseTemporal("time", text)
	case t.Kind == column.UUID:
		if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
			text = text[1 : len(text)-1]
		}
		b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		return column.Value{Type: t, Bytes: string(b)}, err == nil && len(b) == 16
	case t.Rep() == column.RepBytes:
		s, ok := unescape(text)
		return column.Value{Type: t, Bytes: s}, ok
	}
	return column.Value{}, false
}

// parseFloat reads a double: a number, NaN or an infinity.
func parseFloat(text string) (column.Value, bool) {
	text, ok := withoutGroups(text)
	if !ok || strings.ContainsAny(text, "xX") {
		return column.Value{}, false
	}
	if strings.EqualFold(text, "-nan") {
		text = "nan"
	}
	f, err := strconv.ParseFloat(text, 64)
	return doubleValue(f), err == nil
}

// withoutGroups takes out the _ between digits, as in 1_000.
func withoutGroups(text string) (string, bool) {
	if !strings.Contains(text, "_") {
		return text, true
	}
	for i := range len(text) {
		if text[i] == '_' && (i == 0 || i+1 == len(text) || !isDigit(text[i-1]) || !isDigit(text[i+1])) {
			return "", false
		}
	}
	return strings.ReplaceAll(text, "_", ""), true
}

// parseRadix reads an integer that begins with 0x or 0b.
func parseRadix(text string, t column.Type) (column.Value, bool) {
	n, ok := new(big.Int).SetString(text, 0)
	if !ok || strings.Contains(text, "_") {
		return column.Value{}, false
	}
	lo, hi := valueRange(t)
	if n.Cmp(lo) < 0 || n.Cmp(hi) > 0 {
		return column.Value{}, false
	}
	return stored(n, t), true
}

// parseSigned reads a number with an optional sign; for an integer type it
// has to be whole.
func parseSigned(text string, t column.Type) (column.Value, bool) {
	text, ok := withoutGroups(text)
	if !ok {
		return column.Value{}, false
	}
	digits := strings.TrimPrefix(text, "-")
	if digits == text {
		digits = strings.TrimPrefix(text, "+")
	}
	tokens, err := lex(digits)
	if err != nil || tokens[0].kind != tokNumber || tokens[0].text != digits {
		return column.Value{}, false
	}
	v, ok := parseNumber(digits)
	if !ok {
		return v, false
	}
	if text[0] == '-' {
		v = negateLiteral(v)
	}
	return v, !t.IsInteger() || exactOf(v).rat.IsInt()
}

// unescape resolves \xNN, the text form of bytes.
func unescape(text string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		if i+4 > len(text) || text[i+1] != 'x' {
			return "", false
		}
		n, err := strconv.ParseUint(text[i+2:i+4], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 3
	}
	return b.String(), true
}

// textOf is the text form of v, which is not NULL.
func textOf(v column.Value) string {
	if v.Type == stringType {
		return v.Bytes
	}
	one := column.Vector{Type: v.Type}
	one.Append(v)
	return string(textAppender(v.Type)(nil, &one, 0))
}

// textAppender gives the function that appends the text form of element i of a flat vector of a
// type, which is not NULL.
func textAppender(t column.Type) func(to []byte, v *column.Vector, i int) []byte {
	switch {
	case t.Kind == column.Bool:
		return func(to []byte, v *column.Vector, i int) []byte { return strconv.AppendBool(to, v.Int[i] != 0) }
	case t.Kind == column.Uint64:
		return func(to []byte, v *column.Vector, i int) []byte { return strconv.AppendUint(to, uint64(v.Int[i]), 10) }
	case t.IsInteger():
		return func(to []byte, v *column.Vector, i int) []byte { return strconv.AppendInt(to, v.Int[i], 10) }
	case t.Kind == column.Decimal && t.Rep() == column.RepInt64:
		scale := int(t.Scale)
		return func(to []byte, v *column.Vector, i int) []byte { return appendDecimal(to, v.Int[i], scale) }
	case t.Kind == column.Decimal:
		return func(to []byte, v *column.Vector, i int) []byte {
			return append(to, strings.TrimSuffix(formatDecimal(v.At(i)), ".")...)
		}
	case t.IsFloat():
		return func(to []byte, v *column.Vector, i int) []byte { return appendFloat(to, v.Float[i], t) }
	case t.Kind == column.Date:
		return func(to []byte, v *column.Vector, i int) []byte { return appendDate(to, v.Int[i]) }
	case t.Kind == column.Timestamp:
		return func(to []byte, v *column.Vector, i int) []byte { return appendTimestamp(to, v.Int[i], t) }
	case t.Kind == column.Time:
		return func(to []byte, v *column.Vector, i int) []byte { return appendTime(to, v.Int[i], t.Unit) }
	case t == intervalType:
		return func(to []byte, v *column.Vector, i int) []byte { return append(to, spanOf(v.At(i)).String()...) }
	case t.Kind == column.String:
		return func(to []byte, v *column.Vector, i int) []byte { return append(to, v.Bytes(i)...) }
	case t.Rep() == column.RepBytes:
		return func(to []byte, v *column.Vector, i int) []byte {
			if b := v.Bytes(i); t.Kind == column.UUID && len(b) == 16 {
				return appendUUID(to, b)
			}
			return append(to, escape(string(v.Bytes(i)))...)
		}
	}
	return func(to []byte, v *column.Vector, i int) []byte { return append(to, formatLiteral(v.At(i))...) }
}

// appendDecimal writes v / 10^scale.
func appendDecimal(to []byte, v int64, scale int) []byte {
	size := uint64(v)
	if v < 0 {
		to, size = append(to, '-'), -size
	}
	if scale == 0 {
		return strconv.AppendUint(to, size, 10)
	}
	by := uint64(powers[scale])
	to = append(strconv.AppendUint(to, size/by, 10), '.')
	return appendPadded(to, int64(size%by), scale)
}

// appendUUID writes 16 bytes in five groups of hexadecimal digits.
func appendUUID(to, b []byte) []byte {
	for i, from := range [...]int{0, 4, 6, 8, 10} {
		if i > 0 {
			to = append(to, '-')
		}
		to = hex.AppendEncode(to, b[from:[...]int{4, 6, 8, 10, 16}[i]])
	}
	return to
}

// escape is the text form of bytes, which unescape reads: \xNN for what is
// not printable ASCII, for the backslash and for both quotes.
func escape(b string) string {
	var to strings.Builder
	for _, c := range []byte(b) {
		if c < ' ' || c > '~' || strings.IndexByte(`\'"`, c) >= 0 {
			fmt.Fprintf(&to, `\x%02X`, c)
		} else {
			to.WriteByte(c)
		}
	}
	return to.String()
}

// formatFloat gives the shortest digits that read back as v, in the form that
// results have: with a point, or with an exponent from 1e16 on and below 1e-4.
func formatFloat(v column.Value) string { return string(appendFloat(nil, v.Float, v.Type)) }

func appendFloat(to []byte, v float64, t column.Type) []byte {
	bits := 64
	if t.Kind != column.Float64 {
		bits = 32
	}
	switch abs := math.Abs(v); {
	case math.IsInf(v, 1):
		return append(to, "Infinity"...)
	case math.IsInf(v, -1):
		return append(to, "-Infinity"...)
	case abs != 0 && (abs < 1e-4 || abs >= 1e16):
		return strconv.AppendFloat(to, v, 'e', -1, bits)
	case v == math.Trunc(v):
		return append(strconv.AppendFloat(to, v, 'f', -1, bits), ".0"...)
	}
	return strconv.AppendFloat(to, v, 'f', -1, bits)
}
