package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// maxDigits is the largest precision of a decimal.
const maxDigits = 76

var (
	boolType   = column.Type{Kind: column.Bool}
	int64Type  = column.Type{Kind: column.Int64}
	uint64Type = column.Type{Kind: column.Uint64}
	floatType  = column.Type{Kind: column.Float32}
	doubleType = column.Type{Kind: column.Float64}
	stringType = column.Type{Kind: column.String}
	binaryType = column.Type{Kind: column.Binary}
	dateType   = column.Type{Kind: column.Date}
	nullType   = column.Type{Kind: column.Null}

	nullValue = column.Value{Type: nullType, Null: true}
)

func stringValue(s string) column.Value { return column.Value{Type: stringType, Bytes: s} }
func intValue(i int64) column.Value     { return column.Value{Type: int64Type, Int: i} }
func doubleValue(f float64) column.Value {
	return column.Value{Type: doubleType, Float: f}
}

func boolValue(b bool) column.Value {
	return column.Value{Type: boolType, Int: truth(b)}
}

// parseNumber reads an unsigned number: an integer is int64 if it fits and
// decimal(n,0) if not; with a point it is a decimal with the digits written;
// with an exponent, or with more digits than a decimal holds, a double.
func parseNumber(text string) (column.Value, bool) {
	whole, fraction, point := strings.Cut(text, ".")
	if strings.ContainsAny(text, "eE") {
		return parseDouble(text)
	}
	if !point {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return intValue(i), true
		}
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	precision := max(len(digits), len(fraction), 1)
	if precision > maxDigits {
		return parseDouble(text)
	}
	unscaled := new(big.Int)
	if digits != "" {
		if _, ok := unscaled.SetString(digits, 10); !ok {
			return column.Value{}, false
		}
	}
	return decimalValue(unscaled, precision, len(fraction)), true
}

func parseDouble(text string) (column.Value, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return doubleValue(f), err == nil
}

// decimalValue makes a decimal of an unscaled value that has at most
// precision digits.
func decimalValue(unscaled *big.Int, precision, scale int) column.Value {
	v := column.Value{Type: column.DecimalType(precision, scale)}
	if v.Type.Rep() == column.RepInt64 {
		v.Int = unscaled.Int64()
	} else {
		v.Wide = decimal256.FromBigInt(unscaled)
	}
	return v
}

// unscaled is the integer of a decimal value before its point is set.
func unscaled(v column.Value) *big.Int {
	if v.Type.Rep() == column.RepWide {
		return v.Wide.BigInt()
	}
	return big.NewInt(v.Int)
}

// negateLiteral gives -v. The one integer whose negation changes its type is
// 9223372036854775808, a decimal: its negation is an int64.
func negateLiteral(v column.Value) column.Value {
	switch {
	case v.Type.IsFloat():
		v.Float = -v.Float
		return v
	case v.Type.Kind == column.Decimal:
		n := unscaled(v)
		n.Neg(n)
		if v.Type.Scale == 0 && n.IsInt64() && n.Int64() == math.MinInt64 {
			return intValue(math.MinInt64)
		}
		return decimalValue(n, int(v.Type.Precision), int(v.Type.Scale))
	case v.Int == math.MinInt64:
		n := big.NewInt(math.MinInt64)
		return decimalValue(n.Neg(n), 19, 0)
	}
	v.Int = -v.Int
	return v
}

// isNegative reports whether v is printed with a minus sign.
func isNegative(v column.Value) bool {
	switch {
	case v.Null:
		return false
	case v.Type.IsFloat():
		return math.Signbit(v.Float)
	case v.Type.Kind == column.Decimal:
		return unscaled(v).Sign() < 0
	case v.Type.IsSigned():
		return v.Int < 0
	}
	return false
}

// formatLiteral writes v so that reading it gives v again.
func formatLiteral(v column.Value) string {
	if v.Null {
		return "null"
	}
	switch k := v.Type.Kind; {
	case k == column.Bool || v.Type.IsInteger():
		return textOf(v)
	case v.Type.IsFloat():
		return strconv.FormatFloat(v.Float, 'e', -1, 64)
	case k == column.Decimal:
		return formatDecimal(v)
	case k == column.Date:
		return "date '" + textOf(v) + "'"
	case k == column.Timestamp && v.Type.UTC:
		return "timestamptz '" + textOf(v) + "'"
	case k == column.Timestamp:
		return "timestamp '" + textOf(v) + "'"
	case k == column.Time:
		return "time '" + textOf(v) + "'"
	}
	text := "'" + strings.ReplaceAll(v.Bytes, "'", "''") + "'"
	if v.Type.Kind == column.Binary {
		return "blob " + text
	}
	return text
}

// formatDecimal writes all digits of a decimal, with a point even at scale 0,
// which tells it from an integer.
func formatDecimal(v column.Value) string {
	n := unscaled(v)
	scale := int(v.Type.Scale)
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	text := digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	if n.Sign() < 0 {
		return "-" + text
	}
	return text
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
