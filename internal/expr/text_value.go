package expr

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file reads values from their text forms.

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
