package oracle

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// ReadCell reads a field as a value of an SQL type, by the names that DuckDB
// gives types.
func ReadCell(f Field, sqlType string) (Cell, error) {
	if f.Null {
		return Cell{}, nil
	}
	if elem, ok := strings.CutSuffix(sqlType, "[]"); ok {
		return parseList(f.Text, elem)
	}
	if key, ok := mapKeyType(sqlType); ok {
		return parseMap(f.Text, key)
	}
	base, _, _ := strings.Cut(sqlType, "(")
	switch base {
	case "VARCHAR":
		return Cell{Kind: Text, Text: f.Text}, nil
	case "UUID":
		return Cell{Kind: Text, Text: strings.ToLower(f.Text)}, nil
	case "BLOB":
		return blob(f.Text)
	case "FLOAT":
		return parseFloat(f.Text, 32)
	case "DOUBLE":
		return parseFloat(f.Text, 64)
	case "BOOLEAN":
		return boolean(f.Text)
	case "DATE":
		day, rest, err := date(f.Text)
		if err == nil && rest != "" {
			err = fmt.Errorf("%q is not a date", f.Text)
		}
		return exactCell(new(big.Rat).SetInt64(day)), err
	case "TIME", "TIME_NS", "TIME WITH TIME ZONE":
		return timeOfDay(f.Text)
	case "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S":
		return timestamp(f.Text)
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL":
		return decimal(f.Text)
	}
	return Cell{}, fmt.Errorf("unknown SQL type %s", sqlType)
}

func exactCell(n *big.Rat) Cell { return Cell{Kind: Exact, Exact: n} }

func parseFloat(text string, bits int) (Cell, error) {
	// the sign of NaN means nothing
	x, err := strconv.ParseFloat(strings.Replace(text, "-nan", "nan", 1), bits)
	return float(x), err
}

func boolean(text string) (Cell, error) {
	switch text {
	case "true":
		return integer(1), nil
	case "false":
		return integer(0), nil
	}
	return Cell{}, fmt.Errorf("%q is not a boolean", text)
}

func decimal(text string) (Cell, error) {
	n, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/_xX") {
		return Cell{}, fmt.Errorf("%q is not a number", text)
	}
	return exactCell(n), nil
}

// date reads the day at the start of text, of any year, as days since
// 1970-01-01. A year before 1 is written as -0043 or, by DuckDB, with (BC)
// behind the day: "0044-03-15 (BC) 12:00:00".
func date(text string) (day int64, rest string, err error) {
	bad := fmt.Errorf("%q does not begin with a date", text)
	unsigned := strings.TrimLeft(text, "+-")
	parts := strings.SplitN(unsigned, "-", 3)
	if len(parts) != 3 || len(parts[2]) < 2 {
		return 0, "", bad
	}
	rest, bc := strings.CutPrefix(parts[2][2:], " (BC)")
	var n [3]int
	for i, p := range []string{parts[0], parts[1], parts[2][:2]} {
		if n[i], err = strconv.Atoi(p); err != nil {
			return 0, "", bad
		}
	}
	year := n[0]
	switch {
	case bc:
		year = 1 - year
	case strings.HasPrefix(text, "-"):
		year = -year
	}
	seconds := time.Date(year, time.Month(n[1]), n[2], 0, 0, 0, 0, time.UTC).Unix()
	return seconds / (24 * 60 * 60), rest, nil
}

// timestamp reads a date and, if it is there, a time, as seconds since 1970.
func timestamp(text string) (Cell, error) {
	plain := text
	for _, utc := range []string{"+00", "+00:00", "Z"} {
		plain = strings.TrimSuffix(plain, utc)
	}
	day, rest, err := date(plain)
	if err != nil {
		return Cell{}, err
	}
	total := new(big.Rat).SetInt64(day * 24 * 60 * 60)
	if rest == "" {
		return exactCell(total), nil
	}
	clock, err := timeOfDay(strings.TrimLeft(rest, " T"))
	if err != nil {
		return Cell{}, err
	}
	return exactCell(total.Add(total, clock.Exact)), nil
}

// timeOfDay reads 12:34:56.789, perhaps with +00 behind it, as seconds.
func timeOfDay(text string) (Cell, error) {
	parts := strings.Split(strings.TrimSuffix(text, "+00"), ":")
	if len(parts) != 3 {
		return Cell{}, fmt.Errorf("%q is not a time of day", text)
	}
	total := new(big.Rat)
	for i, factor := range []int64{3600, 60, 1} {
		n, ok := new(big.Rat).SetString(parts[i])
		if !ok {
			return Cell{}, fmt.Errorf("%q is not a time of day", text)
		}
		total.Add(total, n.Mul(n, new(big.Rat).SetInt64(factor)))
	}
	return exactCell(total), nil
}

// blob undoes the \xNN of binary values in text.
func blob(text string) (Cell, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		if i+4 > len(text) || text[i+1] != 'x' {
			return Cell{}, fmt.Errorf("%q: a backslash must begin \\xNN", text)
		}
		n, err := strconv.ParseUint(text[i+2:i+4], 16, 8)
		if err != nil {
			return Cell{}, fmt.Errorf("%q: %w", text, err)
		}
		b.WriteByte(byte(n))
		i += 3
	}
	return Cell{Kind: Text, Text: b.String()}, nil
}
