package expr

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file writes the text forms of values.

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
		bits := 64
		if t.Kind != column.Float64 {
			bits = 32
		}
		return func(to []byte, v *column.Vector, i int) []byte { return column.AppendFloat(to, v.Float[i], bits) }
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
