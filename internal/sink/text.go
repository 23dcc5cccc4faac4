package sink

import (
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// textForm tells what a text format has to do around the text of a value.
type textForm uint8

const (
	number  textForm = iota // a JSON number, and never in need of quotes
	float                   // the same, unless it is NaN or infinite
	boolean                 // a JSON literal
	// a JSON string, but made of characters that need no escape: dates, UUIDs
	plain
	freeText // any characters
	nested   // a list or map: any characters, a JSON array or object
)

// appender appends the text of row i of v. It is not called for NULL.
type appender func(dst []byte, v *column.Vector, i int) []byte

// formOf returns how the values of t are written.
func formOf(t column.Type) (textForm, appender) {
	if t.IsNested() {
		return nested, nestedAppender(t)
	}
	switch t.Kind {
	case column.Bool:
		return boolean, appendBool
	case column.Uint64:
		return number, func(dst []byte, v *column.Vector, i int) []byte { return strconv.AppendUint(dst, uint64(v.Int[i]), 10) }
	case column.Float16, column.Float32:
		return float, func(dst []byte, v *column.Vector, i int) []byte { return column.AppendFloat(dst, v.Float[i], 32) }
	case column.Float64:
		return float, func(dst []byte, v *column.Vector, i int) []byte { return column.AppendFloat(dst, v.Float[i], 64) }
	case column.Decimal:
		return number, decimalAppender(t)
	case column.Date:
		return plain, func(dst []byte, v *column.Vector, i int) []byte { return appendDate(dst, v.Int[i]) }
	case column.Time:
		return plain, func(dst []byte, v *column.Vector, i int) []byte { return appendTime(dst, v.Int[i], t.Unit) }
	case column.Timestamp:
		return plain, func(dst []byte, v *column.Vector, i int) []byte { return appendTimestamp(dst, v.Int[i], t) }
	case column.Interval:
		return plain, func(dst []byte, v *column.Vector, i int) []byte { return appendInterval(dst, v.Wide[i]) }
	case column.UUID:
		return plain, func(dst []byte, v *column.Vector, i int) []byte { return appendUUID(dst, v.Bytes(i)) }
	case column.Binary, column.FixedBinary:
		return freeText, func(dst []byte, v *column.Vector, i int) []byte { return appendBinary(dst, v.Bytes(i)) }
	case column.String:
		return freeText, func(dst []byte, v *column.Vector, i int) []byte { return appendUTF8(dst, v.Bytes(i)) }
	}
	return number, func(dst []byte, v *column.Vector, i int) []byte { return appendInt(dst, v.Int[i]) }
}

func appendInt(dst []byte, x int64) []byte { return strconv.AppendInt(dst, x, 10) }

func appendBool(dst []byte, v *column.Vector, i int) []byte {
	return strconv.AppendBool(dst, v.Int[i] != 0)
}

func decimalAppender(t column.Type) appender {
	scale := int(t.Scale)
	if t.Rep() == column.RepInt64 {
		return func(dst []byte, v *column.Vector, i int) []byte {
			x := v.Int[i]
			if x >= 0 {
				return appendScaled(dst, uint64(x), scale)
			}
			return appendScaled(append(dst, '-'), -uint64(x), scale)
		}
	}
	return func(dst []byte, v *column.Vector, i int) []byte { return appendWide(dst, v.Wide[i], scale) }
}

// appendScaled writes x with its point scale digits from the right.
func appendScaled(dst []byte, x uint64, scale int) []byte {
	var digits [20]byte
	return appendPoint(dst, strconv.AppendUint(digits[:0], x, 10), scale)
}

func appendPoint(dst, digits []byte, scale int) []byte {
	if scale == 0 {
		return append(dst, digits...)
	}
	whole := len(digits) - scale
	if whole > 0 {
		dst = append(dst, digits[:whole]...)
		dst = append(dst, '.')
		return append(dst, digits[whole:]...)
	}
	dst = append(dst, "0."...)
	for range -whole {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

func appendWide(dst []byte, x decimal256.Num, scale int) []byte {
	if x.Sign() < 0 {
		dst, x = append(dst, '-'), x.Negate()
	}
	w := x.Array()
	if w[1]|w[2]|w[3] == 0 {
		return appendScaled(dst, w[0], scale)
	}
	var digits [80]byte
	return appendPoint(dst, digits[wideDigits(&digits, w):], scale)
}

// appendUUID writes the canonical form, 8-4-4-4-12 hexadecimal digits.
func appendUUID(dst, b []byte) []byte {
	for i, end := 0, 4; i < 16; i, end = end, min(end+2, 16) {
		if end == 12 {
			end = 16
		}
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, b[i:end])
	}
	return dst
}

const hexDigits = "0123456789ABCDEF"

// appendBinary writes \xNN for what is not printable ASCII, and for the
// backslash and both quotes, as DuckDB does: a cast to BLOB reads it back.
func appendBinary(dst, b []byte) []byte {
	for _, c := range b {
		if c < ' ' || c > '~' || c == '\\' || c == '"' || c == '\'' {
			dst = append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendUTF8 writes text as it is. Bytes that are not UTF-8, which no text
// format can hold, become \xNN.
func appendUTF8(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, '\\', 'x', hexDigits[b[0]>>4], hexDigits[b[0]&15])
		} else {
			dst = append(dst, b[:size]...)
		}
		b = b[size:]
	}
	return dst
}
