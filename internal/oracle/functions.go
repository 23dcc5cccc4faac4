package oracle

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// Function is a function of one value, NULL of NULL.
type Function struct {
	text string                          // with %s in place of the column
	Of   func(column.Value) column.Value // nil: the value itself
}

// Text is the call on a column.
func (f Function) Text(column string) string {
	if f.Of == nil {
		return column
	}
	return fmt.Sprintf(f.text, column)
}

// Functions gives those that take values of type t.
func Functions(t column.Type) []Function {
	switch {
	case t.Kind == column.String:
		return []Function{
			{"length(%s)", func(v column.Value) column.Value { return wholeValue(utf8.RuneCountInString(v.Bytes)) }},
			{"left(%s, 2)", func(v column.Value) column.Value { return textValue(firstRunes(v.Bytes, 2)) }},
			{"replace(%s, '1', 'xx')", func(v column.Value) column.Value { return textValue(strings.ReplaceAll(v.Bytes, "1", "xx")) }},
			{"regexp_replace(%s, '[0-9]', '', 'g')", func(v column.Value) column.Value {
				return textValue(strings.Map(func(r rune) rune {
					if r >= '0' && r <= '9' {
						return -1
					}
					return r
				}, v.Bytes))
			}},
		}
	case t.Kind == column.Date || t.Kind == column.Timestamp:
		return []Function{
			{"extract(month from %s)", func(v column.Value) column.Value { return wholeValue(int(clock(v).Month())) }},
			{"dayofweek(%s)", func(v column.Value) column.Value { return wholeValue(int(clock(v).Weekday())) }},
			{"extract('minute' from %s)", func(v column.Value) column.Value { return wholeValue(clock(v).Minute()) }},
		}
	case t.IsFloat():
		return []Function{{"sign(%s)", func(v column.Value) column.Value {
			switch {
			case v.Float > 0:
				return wholeValue(1)
			case v.Float < 0:
				return wholeValue(-1)
			}
			return wholeValue(0)
		}}, {"floor(%s)", func(v column.Value) column.Value { v.Float = math.Floor(v.Float); return v }}}
	case t.IsNumeric():
		return []Function{{"sign(%s)", func(v column.Value) column.Value { return wholeValue(exactOf(v).Sign()) }}}
	}
	return nil
}

func wholeValue(n int) column.Value {
	return column.Value{Type: column.Type{Kind: column.Int64}, Int: int64(n)}
}

func textValue(s string) column.Value {
	return column.Value{Type: column.Type{Kind: column.String}, Bytes: s}
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// clock is the instant that v is, as package time has it.
func clock(v column.Value) time.Time {
	if v.Type.Kind == column.Date {
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(v.Int))
	}
	per := big.NewInt(v.Type.Unit.PerSecond())
	sec, rest := new(big.Int).DivMod(big.NewInt(v.Int), per, new(big.Int))
	return time.Unix(sec.Int64(), rest.Int64()*(1e9/per.Int64())).UTC()
}
